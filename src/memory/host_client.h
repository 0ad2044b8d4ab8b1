// HostClient: ordinary memory of this process. Takes every address that no other client wants, so
// it is asked last; what is no memory is found out by get_pages.
#pragma once

#include "memory/peer_memory_client.h"

namespace gdr::memory {

class HostClient : public PeerMemoryClient {
 public:
  const char* name() const override { return "host"; }

  Result<std::unique_ptr<Context>> acquire(std::uint64_t address, std::uint64_t length) override;
  Result<std::unique_ptr<Context>> acquire_dmabuf(DmaBuf buffer, std::uint64_t length,
                                                  std::uint64_t iova) override;
  void release(Context&) override {}

  Result<void> get_pages(Context& context, bool writable) override;
  void put_pages(Context&) override {}
  std::uint64_t get_page_size(const Context&) const override;

  Result<std::uint64_t> dma_map(Context& context) override;
  void dma_unmap(Context&) override {}

  bool cpu_reachable() const override { return true; }
  // The kernel refuses process_vm_* on memory that is gone, so its identity needs no watching.
  bool still_valid(const Context&) override { return true; }

  Result<Ticket> start_copy(std::uint64_t to, std::uint64_t from, std::uint64_t length) override;
  Result<bool> finished(Ticket) override { return true; }
};

}  // namespace gdr::memory
