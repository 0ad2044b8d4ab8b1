#include "host/special_layout.h"

#include "host/pci/vendors.h"

namespace gdr::host {
namespace {

struct Mark {
  std::uint16_t vendor, device;
  const char* layout;
};

// The distinctions of rdma_topo (rdma-core 65).
constexpr Mark kMarks[] = {{vendor::kMellanox, 0x2100, "ConnectX-8 data direct"},
                           {vendor::kMellanox, 0x1979, "a ConnectX switch"},
                           {vendor::kMellanox, 0x197c, "a ConnectX switch"},
                           {vendor::kNvidia, 0x22b1, "Grace"},
                           {vendor::kNvidia, 0x22b2, "Grace"},
                           {vendor::kNvidia, 0x22b8, "Grace"},
                           {vendor::kNvidia, 0x2f95, "Vera"},
                           {vendor::kNvidia, 0x2f96, "Vera"}};

}  // namespace

std::string special_layout(const PciTree& tree) {
  for (const Mark& mark : kMarks) {
    for (const auto& [address, function] : tree.functions()) {
      if (function.vendor == mark.vendor && function.device == mark.device) return mark.layout;
    }
  }
  return {};
}

}  // namespace gdr::host
