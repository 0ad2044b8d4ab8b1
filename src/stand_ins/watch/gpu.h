// Whether an address is GPU memory, as the CUDA driver says, if this process has one.
//
//   const GpuPlace place = gpu_place(address, bytes);
//   if (place.is_gpu) ...
#pragma once

#include <cstdint>

#include "ledger/ledger.h"

namespace gdr::watch {

struct GpuPlace {
  bool is_gpu = false;
  bool is_managed = false;               // moved between host and GPU by the driver
  char bus[ledger::kAddressBytes] = {};  // "0000:17:00.0"; empty: not known
};

// Loads and initialises nothing. Cold.
GpuPlace gpu_place(std::uint64_t address, std::uint64_t bytes);
// The memory that a dma-buf was exported from; `iova` is the address of many programs' choice.
GpuPlace gpu_place_of_dma_buf(std::uint64_t iova, std::uint64_t bytes);

}  // namespace gdr::watch
