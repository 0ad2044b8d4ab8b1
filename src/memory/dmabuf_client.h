// DmaBufClient: dma-buf descriptors whose memory the CPU can map: udmabuf, system heaps, GPU
// drivers that allow it, and sealed memfds, which udmabuf is made of. The mapping lies in this
// process, so that copies, also those of other processes, go by the CPU; it keeps the memory alive
// after its owner closed the descriptor, as a registration does on hardware.
#pragma once

#include "memory/peer_memory_client.h"

namespace gdr::memory {

class DmaBufClient : public PeerMemoryClient {
 public:
  const char* name() const override { return "dma-buf"; }

  Result<std::unique_ptr<Context>> acquire(std::uint64_t address, std::uint64_t length) override;
  // EINVAL for a range beyond the buffer, EOPNOTSUPP for a descriptor that cannot be mapped.
  Result<std::unique_ptr<Context>> acquire_dmabuf(DmaBuf buffer, std::uint64_t length,
                                                  std::uint64_t iova) override;
  void release(Context&) override {}

  Result<void> get_pages(Context& context, bool writable) override;
  void put_pages(Context& context) override;
  std::uint64_t get_page_size(const Context&) const override;

  Result<std::uint64_t> dma_map(Context& context) override;
  void dma_unmap(Context&) override {}

  bool cpu_reachable() const override { return true; }
  bool still_valid(const Context&) override { return true; }

  Result<Ticket> start_copy(std::uint64_t to, std::uint64_t from, std::uint64_t length) override;
  Result<bool> finished(Ticket) override { return true; }
};

}  // namespace gdr::memory
