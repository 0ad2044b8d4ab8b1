// DMA handles (IBVERBS_1.15): hints to a PCI device about the processor that will read what it
// writes. The software NIC writes with a processor itself, so they are checked, counted, and change
// nothing.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>

namespace gdr::verbs {

struct DmaHandle {
  ibv_context* context = nullptr;  // first: all that ibv_dmah has
  std::uint64_t serial = 0;
  std::atomic<int> regions{0};
};

}  // namespace gdr::verbs
