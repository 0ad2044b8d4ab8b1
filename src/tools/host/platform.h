// What a machine says of itself, and whether it is a guest: the processor's flag, the names in DMI
// and the device tree, and PCI functions that hypervisors emulate.
//
//   Platform platform{.product = "Standard PC (Q35 + ICH9, 2009)", .vendor = "QEMU"};
//   if (guest_by_platform(platform).answer == Guest::kYes) puts("a virtual machine");
#pragma once

#include <cstdint>
#include <string>

#include "host/pci/tree.h"

namespace gdr::host {

enum class Guest : std::uint8_t { kUnknown, kYes, kNo };

struct GuestSign {
  Guest answer = Guest::kUnknown;
  std::string sign;  // "DMI product HVM domU", "PCI functions of QEMU"
};

// Empty: the source does not show it.
struct Platform {
  std::string product = {}, vendor = {}, bios_vendor = {};  // DMI
  std::string firmware = {};                                // of Power: "PowerNV", "pSeries"
  std::string model = {};                                   // of the device tree: "8335-GTW"
  // The processor's flag, /sys/hypervisor: only a machine itself shows these.
  GuestSign kernel = {};
};

// What the kernel, the names of product and maker, and the firmware say. A machine whose product is
// named and is no hypervisor's is none's guest.
GuestSign guest_by_platform(const Platform& platform);

// kYes: functions that nothing but a hypervisor has.
GuestSign guest_by_functions(const PciTree& tree);
// kYes: functions that most guests have, and few other machines: virtio devices, which cards
// emulate too, and chip sets that are older than any GPU.
GuestSign guest_by_likely_functions(const PciTree& tree);

}  // namespace gdr::host
