// DmaBufClient: dma-buf descriptors whose memory the CPU can map: udmabuf, system heaps, GPU
// drivers that allow it, and sealed memfds, which udmabuf is made of. The mapping lies in this
// process, so that copies, also those of other processes, go by the CPU; it keeps the memory alive
// after its owner closed the descriptor, as a registration does on hardware.
#pragma once

#include "memory/cpu_client.h"

namespace gdr::memory {

class DmaBufClient : public CpuClient {
 public:
  const char* name() const override { return "dma-buf"; }

  // EINVAL for a range beyond the buffer, EOPNOTSUPP for a descriptor that cannot be mapped.
  Result<std::unique_ptr<Context>> acquire_dmabuf(DmaBuf buffer, std::uint64_t length,
                                                  std::uint64_t iova) override;
  Result<void> get_pages(Context& context, bool writable) override;
  void put_pages(Context& context) override;
  Result<std::uint64_t> dma_map(Context& context) override;
};

}  // namespace gdr::memory
