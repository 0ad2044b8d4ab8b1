// CudaFacts: what the CUDA driver says about its GPUs, and whether it exports their memory. Asked
// in a process of its own (process/apart.h).
//
//   Result<CudaFacts> facts =
//       apart<CudaFacts>("the CUDA driver", 20 * kSecond, [] { return ask_cuda("libcuda.so.1"); });
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "process/codec.h"

namespace gdr::doctor {

struct CudaGpu {
  std::int32_t ordinal = 0;
  std::string name, pci_address;
  // Attributes 116, 124, 117 and 118 of cuDeviceGetAttribute; -1: the driver does not know them.
  std::int32_t gpu_direct = -1, dma_buf = -1, flush_options = -1, writes_ordering = -1;
  std::uint64_t memory = 0;  // bytes
  GDR_FIELDS(ordinal, name, pci_address, gpu_direct, dma_buf, flush_options, writes_ordering,
             memory)
};
struct CudaFacts {
  std::string library;       // where it was found
  bool stand_in = false;     // gdrkit's own: says nothing about hardware
  std::string problem;       // why there is nothing more; empty: all well
  std::int32_t result = 0;   // the CUresult that `problem` is about
  std::int32_t version = 0;  // cuDriverGetVersion: 12040
  std::vector<CudaGpu> gpus;
  GDR_FIELDS(library, stand_in, problem, result, version, gpus)
};
CudaFacts ask_cuda(const std::string& library);

// Memory of a GPU, exported as a dma-buf: that the driver says it can is not that it does.
struct ExportTrial {
  std::int32_t ordinal = 0;
  std::string pci_address;
  bool allocated = false, exported = false;
  std::uint64_t size = 0;
  std::string problem;
  GDR_FIELDS(ordinal, pci_address, allocated, exported, size, problem)
};
struct ExportTrials {
  std::vector<ExportTrial> gpus;
  GDR_FIELDS(gpus)
};
// 2 MiB of each of the driver's GPUs.
ExportTrials try_exports(const std::string& library);

// A library that is one of gdrkit's stand-ins, by its path.
bool is_stand_in(const std::string& path);

}  // namespace gdr::doctor
