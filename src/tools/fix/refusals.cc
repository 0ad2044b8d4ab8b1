#include "fix/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "host/special_layout.h"

namespace gdr::fix {
namespace {

// vfio-pci and its variants of single vendors (mlx5_vfio_pci), Xen's pciback, pci-stub.
bool gives_away(const std::string& driver) {
  return driver.find("vfio") != std::string::npos || driver.find("pciback") != std::string::npos ||
         driver == "pci-stub";
}

bool share_the_way_up(const host::PciFunction& function, const host::PciFunction& port) {
  // All that is below the bridge above the port: its switch; for a root port, its host bridge.
  const std::size_t common = port.path.size() - 1;
  return function.path.size() >= common &&
         std::equal(port.path.begin(), port.path.begin() + static_cast<std::ptrdiff_t>(common),
                    function.path.begin());
}

std::string group_of(const Machine& machine, const std::string& address) {
  return machine.files.link_name("sys/bus/pci/devices/" + address + "/iommu_group");
}

}  // namespace

std::string refused_in_guest(const Situation& situation) {
  if (!situation.inventory.virtual_machine || situation.wishes.emulated) return {};
  return "this is a virtual machine, so these registers belong to the hypervisor; set them on the "
         "host (in a guest, use ATS with direct translated P2P), or add --emulated if the PCI tree "
         "is emulated";
}

std::string refused_by_lockdown(const Machine& machine) {
  const std::string modes = machine.files.line("sys/kernel/security/lockdown");
  const auto begin = modes.find('['), end = modes.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  const std::string mode = modes.substr(begin + 1, end - begin - 1);
  if (mode == "none") return {};
  return fmt::format(
      "the kernel is locked down ({}) and refuses writes to the PCI configuration space; use "
      "--persist, which sets the registers at boot",
      mode);
}

std::string refused_by_platform(const host::PciTree& tree) {
  const std::string layout = host::special_layout(tree);
  if (layout.empty()) return {};
  return fmt::format(
      "this machine has {}, whose ACS rules differ from port to port; do not clear redirects "
      "there, use rdma_topo of rdma-core",
      layout);
}

std::string refused_by_assignment(const Machine& machine, const host::PciTree& tree,
                                  const host::PciFunction& port) {
  std::set<std::string> near = {port.address}, groups;
  for (const auto& [address, function] : tree.functions()) {
    if (share_the_way_up(function, port)) near.insert(address);
  }
  for (const std::string& address : near) {
    if (std::string group = group_of(machine, address); !group.empty()) groups.insert(group);
  }
  for (const std::string& group : groups) {
    for (const std::string& address :
         machine.files.entries("sys/kernel/iommu_groups/" + group + "/devices")) {
      near.insert(address);
    }
  }
  for (const std::string& address : near) {
    const std::string driver =
        machine.files.link_name("sys/bus/pci/devices/" + address + "/driver");
    if (!gives_away(driver)) continue;
    return fmt::format(
        "{} belongs to {}: without ACS other devices could reach it without passing the IOMMU; "
        "unbind it first, or leave ACS as it is",
        address, driver);
  }
  return {};
}

}  // namespace gdr::fix
