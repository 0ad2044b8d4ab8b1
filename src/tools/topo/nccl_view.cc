#include "topo/nccl_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "text/command.h"

namespace gdr::topo {
namespace {

using host::NcclPath;
using host::PciPath;

// NCCL does not know that a NIC is for management: it takes whatever is active.
std::vector<std::string> management_advice(const host::Inventory& inventory) {
  if (inventory.gpus.empty()) return {};
  if (const std::string names = management_names(inventory); !names.empty()) {
    return {
        fmt::format("{}: management NICs, but NCCL uses them for data unless you exclude them: {}",
                    names, text::Command("export NCCL_IB_HCA=^={}", names).text())};
  }
  std::string addresses;
  for (const host::Nic& nic : inventory.nics) {
    if (!nic.management.empty()) addresses += (addresses.empty() ? "" : ",") + nic.pci_address;
  }
  if (addresses.empty()) return {};
  return {
      fmt::format("{}: management NICs, but NCCL uses them for data unless NCCL_IB_HCA excludes "
                  "their RDMA names, which this source does not show",
                  addresses)};
}

std::string why_of(PciPath ours, NcclPath theirs) {
  if (theirs == NcclPath::kLoc) return "it treats the functions of one card as one device";
  if (ours == PciPath::kNode && theirs == NcclPath::kPhb) return "it does not use NODE";
  if (ours == PciPath::kPxb && theirs == NcclPath::kPix) {
    return "it counts a cascade inside one switch chip as one switch";
  }
  return "it counts switches and NUMA nodes differently";
}

}  // namespace

std::string management_names(const host::Inventory& inventory) {
  std::string names;
  for (const host::Nic& nic : inventory.nics) {
    if (nic.management.empty()) continue;
    if (!host::has_rdma_name(nic)) return {};
    names += (names.empty() ? "" : ",") + nic.name;
    for (const std::string& more : nic.more_names) names += "," + more;
  }
  return names;
}

std::optional<NcclPath> nccl_path(const host::Inventory& inventory, const Device& a,
                                  const Device& b) {
  if (!a.pci || !b.pci) return std::nullopt;
  return host::nccl_path_between(inventory.pci, *a.pci, *b.pci);
}

std::vector<NcclDifference> nccl_differences(const host::Inventory& inventory,
                                             const std::vector<Device>& devices,
                                             const Matrix& matrix) {
  std::map<std::pair<PciPath, NcclPath>, NcclDifference> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind != Device::Kind::kGpu) continue;
    for (std::size_t j = 0; j < devices.size(); ++j) {
      if (devices[j].kind != Device::Kind::kNic) continue;
      const auto ours = matrix.at(i, j).path;
      const auto theirs = nccl_path(inventory, devices[i], devices[j]);
      if (!ours || !theirs || std::string_view(host::name_of(*ours)) == host::name_of(*theirs)) {
        continue;
      }
      NcclDifference& one = found[{*ours, *theirs}];
      if (one.pairs.empty()) {
        one = {*ours, *theirs, why_of(*ours, *theirs), {}};
      }
      one.pairs.emplace_back(i, j);
    }
  }
  std::vector<NcclDifference> differences;
  for (auto& [grades, one] : found) differences.push_back(std::move(one));
  return differences;
}

std::vector<std::string> nccl_advice(const host::Inventory& inventory,
                                     const std::vector<Device>& devices,
                                     const std::vector<Choice>& choices) {
  if (inventory.flat) {
    std::vector<std::string> lines = management_advice(inventory);
    lines.push_back(
        "NCCL sees the same invented tree, unless NCCL_TOPO_FILE names the provider's topology "
        "file");
    return lines;
  }
  std::map<NcclPath, std::string> gpus;
  for (const Choice& choice : choices) {
    if (!choice.nic) continue;
    const auto path = nccl_path(inventory, devices[choice.gpu], devices[*choice.nic]);
    if (!path || host::nccl_uses_gdr(*path)) continue;
    std::string& list = gpus[*path];
    list += (list.empty() ? "" : ", ") + devices[choice.gpu].label;
  }
  std::vector<std::string> lines = management_advice(inventory);
  for (const auto& [path, list] : gpus) {
    const char* name = host::name_of(path);
    lines.push_back(
        fmt::format("{}: {} to the best NIC, so NCCL does not use GPUDirect RDMA unless you set "
                    "NCCL_NET_GDR_LEVEL={}",
                    list, name, name));
  }
  return lines;
}

}  // namespace gdr::topo
