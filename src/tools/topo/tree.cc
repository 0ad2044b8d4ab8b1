#include "topo/tree.h"

#include <algorithm>
#include <map>

namespace gdr::topo {
namespace {

// A bus has a number of 8 bits, so no real path is longer.
constexpr std::size_t kLongestPath = 257;

using Kind = TreeNode::Kind;

class Builder {
 public:
  Builder(const host::PciTree& pci, const std::vector<Device>& devices)
      : pci_(pci), devices_(devices) {
    for (std::size_t i = 0; i < devices.size(); ++i) by_address_[devices[i].address] = i;
  }

  void add(const host::PciFunction& function) {
    const auto& path = function.path;
    if (path.empty() || path.size() > kLongestPath) return;
    TreeNode* at = child(roots_, path.front(), Kind::kHostBridge);
    if (at->numa_node < 0) at->numa_node = function.numa_node;
    for (std::size_t i = 1; i < path.size(); ++i) {
      const Kind kind = kind_of(path, i, at->kind);
      at = child(at->children, path[i], kind);
    }
  }

  std::vector<TreeNode> take() { return std::move(roots_); }

 private:
  // In order of their addresses, which are compared as text: domains of other lengths come last.
  TreeNode* child(std::vector<TreeNode>& nodes, const std::string& address, Kind kind) {
    const auto before = [](const TreeNode& node, const std::string& wanted) {
      return std::pair(node.address.size(), std::string_view(node.address)) <
             std::pair(wanted.size(), std::string_view(wanted));
    };
    auto place = std::lower_bound(nodes.begin(), nodes.end(), address, before);
    if (place == nodes.end() || place->address != address) {
      place = nodes.insert(place, make_node(address, kind));
    }
    return &*place;
  }

  TreeNode make_node(const std::string& address, Kind kind) const {
    TreeNode node;
    node.kind = kind;
    node.address = address;
    if (const auto known = by_address_.find(address); known != by_address_.end()) {
      node.device = known->second;
      const host::PciLink* link = link_of(devices_[known->second]);
      if (link != nullptr) node.link = text_of(*link);
      return node;
    }
    const host::PciFunction* function = pci_.find(address);
    if (function == nullptr) return node;
    if (kind == Kind::kSwitch || kind == Kind::kDevice) node.name = name_of(*function);
    if (!function->remark.empty()) node.name += ", " + function->remark;
    // The link above a downstream port is inside of its switch.
    if (!function->links.empty() && kind != Kind::kDownstreamPort && kind != Kind::kRootPort) {
      node.link = text_of(function->links.front());
    }
    return node;
  }

  // By what the port says of itself; where that is not known by counting from above, each switch
  // being two bridges in a row.
  Kind kind_of(const std::vector<std::string>& path, std::size_t at, Kind above) const {
    const host::PciFunction* function = pci_.find(path[at]);
    const host::PciKind said = function ? function->kind : host::PciKind::kUnknown;
    switch (said) {
      case host::PciKind::kRootPort:
        return Kind::kRootPort;
      case host::PciKind::kUpstream:
        return Kind::kSwitch;
      case host::PciKind::kDownstream:
        return Kind::kDownstreamPort;
      case host::PciKind::kBridge:
        return Kind::kBridge;
      case host::PciKind::kEndpoint:
        return Kind::kDevice;
      case host::PciKind::kUnknown:
        break;
    }
    const bool is_bridge = at + 1 < path.size() || (function && function->is_bridge());
    if (!is_bridge) return Kind::kDevice;
    if (above == Kind::kHostBridge) return Kind::kRootPort;
    return above == Kind::kSwitch ? Kind::kDownstreamPort : Kind::kSwitch;
  }

  const host::PciTree& pci_;
  const std::vector<Device>& devices_;
  std::map<std::string, std::size_t> by_address_;
  std::vector<TreeNode> roots_;
};

}  // namespace

std::vector<TreeNode> make_tree(const host::PciTree& pci, const std::vector<Device>& devices,
                                bool all) {
  Builder builder(pci, devices);
  for (const Device& device : devices) {
    if (device.pci) builder.add(*device.pci);
  }
  for (const auto& [address, function] : pci.functions()) {
    if (all || !function.remark.empty()) builder.add(function);
  }
  return builder.take();
}

std::string short_address(const std::string& address) {
  return address.rfind("0000:", 0) == 0 ? address.substr(5) : address;
}

const char* name_of(TreeNode::Kind kind) {
  constexpr const char* kNames[] = {"host bridge",     "root port", "switch",
                                    "downstream port", "bridge",    "device"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace gdr::topo
