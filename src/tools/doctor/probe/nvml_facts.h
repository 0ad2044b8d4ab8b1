// NvmlFacts: what NVIDIA's management library says of each GPU. Asked in a process of its own
// (process/apart.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/tri.h"
#include "process/codec.h"

namespace gdr::doctor {

struct NvmlGpu {
  std::string name, pci_address;
  std::uint64_t bar1_total = 0, bar1_free = 0;  // bytes; total 0: not told
  Tri persistence = Tri::kUnknown, mig = Tri::kUnknown, vgpu = Tri::kUnknown;
  GDR_FIELDS(name, pci_address, bar1_total, bar1_free, persistence, mig, vgpu)
};
struct NvmlFacts {
  std::string problem;  // why there is nothing more; empty: all well
  std::string driver_version;
  std::vector<NvmlGpu> gpus;
  GDR_FIELDS(problem, driver_version, gpus)
};
NvmlFacts ask_nvml(const char* library = "libnvidia-ml.so.1");

}  // namespace gdr::doctor
