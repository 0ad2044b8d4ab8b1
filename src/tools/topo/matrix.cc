#include "topo/matrix.h"

namespace gdr::topo {
namespace {

unsigned nvlinks_between(const host::Inventory& inventory, const Device& a, const Device& b) {
  if (a.kind != Device::Kind::kGpu || b.kind != Device::Kind::kGpu) return 0;
  for (const host::NvLinks& links : inventory.nvlinks) {
    if ((links.a == a.address && links.b == b.address) ||
        (links.a == b.address && links.b == a.address)) {
      return links.count;
    }
  }
  return 0;
}

}  // namespace

std::string Cell::text() const {
  if (self) return "X";
  if (nvlinks > 0) return "NV" + std::to_string(nvlinks);
  return path ? host::name_of(*path) : "N/A";
}

Matrix make_matrix(const host::Inventory& inventory, const std::vector<Device>& devices) {
  Matrix matrix(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    matrix.at(i, i).self = true;
    for (std::size_t j = i + 1; j < devices.size(); ++j) {
      Cell cell;
      const auto &a = devices[i].pci, &b = devices[j].pci;
      if (a && b) cell.path = host::path_between(inventory.pci, *a, *b);
      cell.nvlinks = nvlinks_between(inventory, devices[i], devices[j]);
      matrix.at(i, j) = matrix.at(j, i) = cell;
    }
  }
  return matrix;
}

Affinity affinity_of(const host::Inventory& inventory, const Device& device) {
  Affinity affinity{"N/A", "N/A"};
  const auto& nodes = inventory.numa_nodes;
  // A machine of one node need not say of each device that it is there: so does nvidia-smi.
  const int number =
      device.numa_node < 0 && nodes.size() == 1 ? nodes.front().number : device.numa_node;
  if (number < 0) return affinity;
  affinity.node = std::to_string(number);
  for (const host::NumaNode& node : nodes) {
    if (node.number == number && !node.processors.empty()) affinity.processors = node.processors;
  }
  return affinity;
}

}  // namespace gdr::topo
