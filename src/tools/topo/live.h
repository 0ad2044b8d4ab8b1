// What sysfs does not tell of this machine's GPUs, asked of the driver: NVLinks and model names.
#pragma once

#include <chrono>
#include <string>

#include "cuda/nvml.h"
#include "host/inventory.h"

namespace gdr::topo {

// Fills in `nvlinks`, and models that the driver knows. Only for this machine as it is. Where the
// NVIDIA driver is loaded and does not answer within `patience`, or has no NVML, that is said in
// `unseen`.
void ask_driver(host::Inventory& inventory,
                std::chrono::milliseconds patience = std::chrono::seconds(10),
                const char* library = "libnvidia-ml.so.1");

// The links of GPUs to each other: straight ones, and those that meet in switches, which join every
// GPU with every other.
struct GpuLinks {
  std::string pci_address;
  std::string name;
  std::vector<cuda::NvLinkEnd> ends;
};
std::vector<host::NvLinks> join_links(const std::vector<GpuLinks>& gpus);

}  // namespace gdr::topo
