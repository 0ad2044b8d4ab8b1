#include "host/classify.h"

#include <algorithm>
#include <string_view>

#include "host/pci/vendors.h"

namespace gdr::host {
namespace {

bool has(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

bool is_efa(const PciFunction& function) {
  return function.device >> 4 == 0xefa || has(function.name, "EFA");
}

// NVIDIA's NVSwitches and their management endpoints. NVIDIA's driver lists those of A100's and
// H100's boards (open-gpu-kernel-modules, src/common/nvswitch/kernel/nvswitch.c) and none of
// V100's, where pci.ids has no GPU from 1ac0 to 1acf.
bool is_nvswitch(std::uint16_t device) {
  const auto is_between = [&](unsigned first, unsigned last) {
    return device >= first && device <= last;
  };
  return is_between(0x1ac0, 0x1acf) || device == 0x1ae8 || is_between(0x1af0, 0x1aff) ||
         is_between(0x22a0, 0x22af);
}

}  // namespace

bool sits_on_root_bus(const std::optional<PciFunction>& function) {
  return function && function->path.size() == 2 && is_host_bridge(function->path[0]);
}

bool is_gpu(const PciFunction& function) {
  return function.vendor == vendor::kNvidia && function.class_code >> 16 == 0x03;
}

bool is_likely_rdma_nic(const PciFunction& function) {
  const std::uint32_t kind = function.class_code >> 8;
  if (kind == 0x0207) return true;  // InfiniBand
  if (kind != 0x0200) return false;
  return function.vendor == vendor::kMellanox ||
         (function.vendor == vendor::kAmazon && is_efa(function));
}

bool has_no_verbs(const PciFunction& function) {
  if (function.vendor == vendor::kCray || function.vendor == vendor::kVirtio ||
      function.vendor == vendor::kGoogle) {
    return true;
  }
  const bool known = function.device != 0 || !function.name.empty();
  return function.vendor == vendor::kAmazon && known && !is_efa(function);
}

std::uint32_t class_by_name(const PciFunction& function) {
  const std::string& name = function.name;
  if (function.vendor == vendor::kNvidia) {
    if (is_nvswitch(function.device)) return 0x068000;
    for (const char* other :
         {"Audio", "USB", "UCSI", "NVSwitch", "Bridge", "nForce", "Tegra", "Crypto"}) {
      if (has(name, other)) return 0;
    }
    return 0x030000;
  }
  if (function.vendor == vendor::kMellanox) {
    const bool other = has(name, "Bridge") || has(name, "Management") || has(name, "Recovery");
    if (other) return 0;
    return has(name, "ConnectX") || has(name, "BlueField") ? 0x020000 : 0;
  }
  if (function.vendor == vendor::kAmazon && is_efa(function)) return 0x020000;
  return 0;
}

}  // namespace gdr::host
