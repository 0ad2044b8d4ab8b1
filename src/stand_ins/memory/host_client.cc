#include "memory/host_client.h"

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

Result<void> HostClient::get_pages(Context& context, bool writable) {
  const auto& host = static_cast<const HostContext&>(context);
  return fault_in(host.address, host.length, writable);
}

Result<std::uint64_t> HostClient::dma_map(Context& context) {
  return static_cast<const HostContext&>(context).address;
}

}  // namespace gdr::memory
