#include "memory/cpu_client.h"

#include <cstring>

#include "memory/host_pages.h"

namespace gdr::memory {

Result<std::unique_ptr<PeerMemoryClient::Context>> CpuClient::acquire(std::uint64_t,
                                                                      std::uint64_t) {
  return std::unique_ptr<Context>();
}

Result<std::unique_ptr<PeerMemoryClient::Context>> CpuClient::acquire_dmabuf(DmaBuf, std::uint64_t,
                                                                             std::uint64_t) {
  return std::unique_ptr<Context>();
}

std::uint64_t CpuClient::get_page_size(const Context&) const { return kPage; }

Result<PeerMemoryClient::Ticket> CpuClient::start_copy(Side to, Side from, std::uint64_t length,
                                                       Turn) {
  std::memmove(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to.address)),
               reinterpret_cast<const void*>(static_cast<std::uintptr_t>(from.address)), length);
  return Ticket{0};
}

}  // namespace gdr::memory
