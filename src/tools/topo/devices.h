// The devices that a topology is about, numbered as nvidia-smi does: GPU0… in order of their PCI
// addresses, NIC0… in the inventory's order, and what was asked for besides as DEV0….
//
//   Result<std::vector<Device>> devices = list_devices(inventory, {"0000:82:00.0"});
//   if (!devices) return devices.error();
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/inventory.h"
#include "host/pci/link.h"

namespace gdr::topo {

struct Device {
  enum class Kind : std::uint8_t { kGpu, kNic, kOther };
  Kind kind = Kind::kOther;
  std::string label;    // "GPU0"
  std::string name;     // "NVIDIA H200", "mlx5_0", "NVMe SSD Controller PM174X"
  std::string address;  // PCI
  int numa_node = -1;
  std::optional<host::PciFunction> pci;
  std::size_t index = 0;  // among the inventory's GPUs or NICs
};

// NICs without a PCI function (rxe, siw) are not among them: they are nowhere. ENOENT: one of
// `others`, PCI addresses, is not in the machine; EINVAL: it is no address, or given twice;
// E2BIG: more devices than a machine has.
Result<std::vector<Device>> list_devices(const host::Inventory& inventory,
                                         const std::vector<std::string>& others);

const char* name_of(Device::Kind kind);  // "gpu", "nic", "device"

// The device's name; of a NIC that only has its address, what its PCI function is called; and what
// is said of it: "mlx5_8, management, not for data".
std::string shown_name(const Device& device);

// What a reader may call a PCI function: its name, else its vendor's and device's numbers; empty
// where those are not known either.
std::string name_of(const host::PciFunction& function);

// What card a NIC is: its product data's name, else that of pci.ids, and the part number where it
// is known: "NVIDIA ConnectX-7 VPI adapter card, 400Gb/s (MCX75310AAS-NEAT)". Empty: not known.
std::string card_name(const host::Nic& nic);

// The device's own link; null if it has none.
const host::PciLink* link_of(const Device& device);

}  // namespace gdr::topo
