#include "host/gpu_or_nic.h"

#include <algorithm>
#include <iterator>

#include "host/pci/vendors.h"

namespace gdr::host {
namespace {

// Intel's e1000 and e1000e as QEMU, VirtualBox and VMware emulate them.
constexpr std::uint16_t kEmulatedEthernet[] = {0x100e, 0x100f, 0x10d3};

template <typename List>
bool is_in(const List& list, std::uint16_t value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

bool is_gpu_or_nic(const PciFunction& function) {
  // A description without numbers may hold anything.
  if (function.class_code == 0 && function.vendor == 0) return true;
  if (is_in(vendor::kMadeUp, function.vendor)) return false;
  if (function.vendor == vendor::kIntel && is_in(kEmulatedEthernet, function.device)) return false;
  constexpr std::uint32_t kNetwork = 0x02, kDisplay = 0x03, kAccelerator = 0x12;
  constexpr std::uint32_t kInfinibandBus = 0x0c06;
  const std::uint32_t base = function.class_code >> 16;
  return base == kNetwork || base == kDisplay || base == kAccelerator ||
         function.class_code >> 8 == kInfinibandBus;
}

}  // namespace

bool shows_gpu_or_nic(const Inventory& machine) {
  if (!machine.gpus.empty() || !machine.nics.empty()) return true;
  return std::any_of(machine.pci.functions().begin(), machine.pci.functions().end(),
                     [](const auto& known) { return is_gpu_or_nic(known.second); });
}

}  // namespace gdr::host
