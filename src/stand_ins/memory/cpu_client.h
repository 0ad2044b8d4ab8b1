// CpuClient: what the clients have in common whose memory lies in host pages of this process: the
// CPU copies, and is done when start_copy returns.
#pragma once

#include "memory/peer_memory_client.h"

namespace gdr::memory {

class CpuClient : public PeerMemoryClient {
 public:
  // Another's, unless the client knows better.
  Result<std::unique_ptr<Context>> acquire(std::uint64_t address, std::uint64_t length) override;
  Result<std::unique_ptr<Context>> acquire_dmabuf(DmaBuf buffer, std::uint64_t length,
                                                  std::uint64_t iova) override;
  void release(Context&) override {}

  std::uint64_t get_page_size(const Context&) const override;
  void dma_unmap(Context&) override {}

  bool cpu_reachable() const override { return true; }
  // The kernel refuses process_vm_* on memory that is gone, so its identity needs no watching.
  bool still_valid(const Context&) override { return true; }

  using PeerMemoryClient::start_copy;
  Result<Ticket> start_copy(Side to, Side from, std::uint64_t length, Turn) override;
  Result<bool> finished(Ticket) override { return true; }
};

}  // namespace gdr::memory
