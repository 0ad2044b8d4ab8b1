#include "memory/host_client.h"

#include <cstring>

#include "memory/host_pages.h"

namespace gdr::memory {
namespace {

struct HostContext : PeerMemoryClient::Context {
  HostContext(std::uint64_t begin, std::uint64_t bytes) : address(begin), length(bytes) {}
  std::uint64_t address, length;
};

}  // namespace

Result<std::unique_ptr<PeerMemoryClient::Context>> HostClient::acquire(std::uint64_t address,
                                                                       std::uint64_t length) {
  return std::unique_ptr<Context>(std::make_unique<HostContext>(address, length));
}

Result<std::unique_ptr<PeerMemoryClient::Context>> HostClient::acquire_dmabuf(DmaBuf, std::uint64_t,
                                                                              std::uint64_t) {
  return std::unique_ptr<Context>();
}

Result<void> HostClient::get_pages(Context& context, bool writable) {
  const auto& host = static_cast<const HostContext&>(context);
  return fault_in(host.address, host.length, writable);
}

std::uint64_t HostClient::get_page_size(const Context&) const { return kPage; }

Result<std::uint64_t> HostClient::dma_map(Context& context) {
  return static_cast<const HostContext&>(context).address;
}

Result<PeerMemoryClient::Ticket> HostClient::start_copy(std::uint64_t to, std::uint64_t from,
                                                        std::uint64_t length) {
  std::memmove(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)),
               reinterpret_cast<const void*>(static_cast<std::uintptr_t>(from)), length);
  return Ticket{0};
}

}  // namespace gdr::memory
