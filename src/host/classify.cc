#include "host/classify.h"

#include <algorithm>

namespace gdr::host {
namespace {

bool sits_on_root_bus(const std::optional<PciFunction>& function) {
  return function && function->path.size() == 2 && is_host_bridge(function->path[0]);
}

}  // namespace

bool is_gpu(const PciFunction& function) {
  return function.vendor == kVendorNvidia && function.class_code >> 16 == 0x03;
}

bool is_likely_rdma_nic(const PciFunction& function) {
  const std::uint32_t kind = function.class_code >> 8;
  if (kind == 0x0207) return true;  // InfiniBand
  if (kind != 0x0200) return false;
  return function.vendor == kVendorMellanox ||
         (function.vendor == kVendorAmazon &&
          (function.device >> 4 == 0xefa || function.name.find("EFA") != std::string::npos));
}

bool is_flat(const Inventory& machine) {
  return std::any_of(machine.gpus.begin(), machine.gpus.end(),
                     [](const Gpu& gpu) { return sits_on_root_bus(gpu.pci); }) ||
         std::any_of(machine.nics.begin(), machine.nics.end(),
                     [](const Nic& nic) { return sits_on_root_bus(nic.pci); });
}

}  // namespace gdr::host
