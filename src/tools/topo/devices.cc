#include "topo/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/management.h"
#include "host/pci/address.h"

namespace gdr::topo {
namespace {

// A machine may have some hundreds of devices with all virtual functions of its NICs. Each is
// compared with every other, so a capture needs a limit.
constexpr std::size_t kMostDevices = 1024;

Device gpu_device(const host::Inventory& inventory, std::size_t index) {
  const host::Gpu& gpu = inventory.gpus[index];
  Device device;
  device.kind = Device::Kind::kGpu;
  device.name = gpu.model;
  device.address = gpu.pci_address;
  device.numa_node = gpu.numa_node;
  device.pci = gpu.pci;
  device.index = index;
  return device;
}

Device nic_device(const host::Inventory& inventory, std::size_t index) {
  const host::Nic& nic = inventory.nics[index];
  Device device;
  device.kind = Device::Kind::kNic;
  device.name = nic.name.empty() ? nic.pci_address : host::names_of(nic);
  device.address = nic.pci_address;
  device.numa_node = nic.numa_node;
  device.pci = nic.pci;
  device.index = index;
  return device;
}

Result<Device> other_device(const host::Inventory& inventory, const std::string& given) {
  const std::string address = host::full_address(given);
  if (address.empty()) {
    return Error{EINVAL, fmt::format("'{}' is not a PCI address such as 0000:3b:00.0", given)};
  }
  const host::PciFunction* function = inventory.pci.find(address);
  if (function == nullptr) {
    return Error{ENOENT,
                 fmt::format("this machine has no PCI function {}; lspci -D lists them", address)};
  }
  Device device;
  device.name = name_of(*function);
  if (device.name.empty()) device.name = address;
  device.address = address;
  device.numa_node = function->numa_node;
  device.pci = *function;
  return device;
}

// Functions of one card share its link, of which some sources tell at one function alone.
void share_link(const host::Inventory& inventory, Device& device) {
  const host::PciLink* link = device.pci ? card_link(inventory.pci, *device.pci) : nullptr;
  if (link == nullptr) return;
  const host::PciLink shared = *link;
  if (device.pci->links.empty()) device.pci->links.emplace_back();
  device.pci->links.front() = shared;
  device.pci->links.front().below = device.address;
}

}  // namespace

const char* name_of(Device::Kind kind) {
  constexpr const char* kNames[] = {"gpu", "nic", "device"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string name_of(const host::PciFunction& function) {
  if (!function.name.empty()) return function.name;
  // All bits set is what a bus reads where nothing answers; NCCL's files have it for switches.
  if (function.vendor == 0 || function.vendor == 0xffff) return {};
  return fmt::format("{:04x}:{:04x}", function.vendor, function.device);
}

std::string shown_name(const Device& device) {
  const std::string name = device.pci ? name_of(*device.pci) : std::string();
  const std::string shown = device.name == device.address && !name.empty() ? name : device.name;
  return device.pci && !device.pci->remark.empty() ? shown + ", " + device.pci->remark : shown;
}

std::string card_name(const host::Nic& nic) {
  if (!nic.pci) return {};
  const host::ProductData& product = nic.pci->product;
  const std::string remark = host::management_remark(nic);
  std::string name = product.name.empty() ? name_of(*nic.pci) : product.name;
  if (!product.part_number.empty()) {
    name += name.empty() ? product.part_number : " (" + product.part_number + ")";
  }
  if (!nic.management.empty()) name += (name.empty() ? "" : ", ") + remark;
  return name;
}

const host::PciLink* link_of(const Device& device) {
  return device.pci && !device.pci->links.empty() ? &device.pci->links.front() : nullptr;
}

Result<std::vector<Device>> list_devices(const host::Inventory& inventory,
                                         const std::vector<std::string>& others) {
  const std::size_t count = inventory.gpus.size() + inventory.nics.size() + others.size();
  if (count > kMostDevices) {
    return Error{E2BIG, fmt::format("too many devices for a matrix: {} GPUs and NICs, at most {}",
                                    count, kMostDevices)};
  }
  std::vector<Device> devices;
  for (std::size_t i = 0; i < inventory.gpus.size(); ++i) {
    devices.push_back(gpu_device(inventory, i));
  }
  // Addresses in text order are in PCI order while domains have equally many digits.
  std::stable_sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
    return std::pair(a.address.size(), a.address) < std::pair(b.address.size(), b.address);
  });
  for (std::size_t i = 0; i < inventory.nics.size(); ++i) {
    if (inventory.nics[i].pci) devices.push_back(nic_device(inventory, i));
  }
  for (const std::string& given : others) {
    Result<Device> device = other_device(inventory, given);
    if (!device) return device.error();
    for (const Device& known : devices) {
      if (known.address != device->address) continue;
      return Error{
          EINVAL, fmt::format("{} is already in the matrix{}", device->address,
                              known.kind == Device::Kind::kOther
                                  ? ": it is given twice"
                                  : fmt::format(", as a {}",
                                                known.kind == Device::Kind::kGpu ? "GPU" : "NIC"))};
    }
    devices.push_back(*std::move(device));
  }
  std::size_t next[3] = {};
  for (Device& device : devices) {
    share_link(inventory, device);
    constexpr const char* kPrefixes[] = {"GPU", "NIC", "DEV"};
    const auto kind = static_cast<std::size_t>(device.kind);
    device.label = kPrefixes[kind] + std::to_string(next[kind]++);
  }
  return devices;
}

}  // namespace gdr::topo
