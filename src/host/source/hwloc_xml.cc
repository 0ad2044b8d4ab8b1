#include "host/source/hwloc_xml.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>

#include "host/source/draft.h"
#include "host/source/xml.h"

namespace gdr::host {
namespace {

constexpr std::string_view kOpenFabrics = "3";  // osdev_type
constexpr std::size_t kMostNumaNodes = 256;

// "0x00000002" -> 1; -1 where a set has no or several nodes.
int only_member(std::string_view set) {
  const std::string members = processors_of_mask(set);
  int node = -1;
  const auto [end, error] = std::from_chars(members.data(), members.data() + members.size(), node);
  return error == std::errc() && end == members.data() + members.size() ? node : -1;
}

// The value of <info name="PCIDevice" value="..."/> below an element.
std::string_view info(const XmlElement& element, std::string_view name) {
  for (const XmlElement& child : element.children) {
    if (child.name == "info" && child.attribute("name") == name) return child.attribute("value");
  }
  return {};
}

// "0302 [10de:20b0] [10de:134f] a1"
void take_numbers(std::string_view type, PciFunction& function) {
  const auto hex = [&](std::size_t at) {
    return at + 4 <= type.size() ? static_cast<std::uint16_t>(to_number(type.substr(at, 4), 16))
                                 : std::uint16_t{0};
  };
  function.class_code = std::uint32_t{hex(0)} << 8;
  function.vendor = hex(6);
  function.device = hex(11);
  function.subsystem_vendor = hex(18);
  function.subsystem_device = hex(23);
}

class Reader {
 public:
  Result<Inventory> read(const XmlElement& topology) {
    if (topology.name != "topology") {
      return Error{EINVAL,
                   "no XML of hwloc, which begins with <topology>; found <" + topology.name + ">"};
    }
    for (const XmlElement& child : topology.children) {
      if (child.name == "distances2") read_distances(child);
      if (child.name != "object") continue;
      draft_.machine.product = info(child, "DMIProductName");
      if (Result<void> done = read_object(child, {}, -1); !done) return done.error();
    }
    if (draft_.machine.pci.empty()) {
      return Error{EINVAL, "no PCI devices in it; write it by 'lstopo --whole-io machine.xml'"};
    }
    for (NumaNode& node : draft_.machine.numa_nodes) node.distances = distances_[node.number];
    draft_.machine.unseen = {
        "Configuration space (kinds of switch ports, access control, settings): hwloc does not "
        "keep it.",
        "Drivers, IOMMU groups, and links' speed and width: hwloc keeps a link's bandwidth only."};
    return finish(std::move(draft_));
  }

 private:
  static Error error(const XmlElement& element, const std::string& what) {
    return {EINVAL, "line " + std::to_string(element.line) + ": " + what};
  }

  Result<void> read_object(const XmlElement& object, std::vector<std::string> path, int node) {
    const std::string_view type = object.attribute("type");
    if (const std::string_view set = object.attribute("nodeset"); !set.empty()) {
      node = only_member(set);
    }
    if (type == "NUMANode") add_numa_node(object);
    const bool host_bridge = type == "Bridge" && object.attribute("bridge_type").starts_with("0-");
    if (host_bridge) {
      path = {host_bridge_name(object)};
    } else if (type == "Bridge" || type == "PCIDev") {
      if (Result<void> done = add_function(object, path, node); !done) return done;
    } else if (type == "OSDev" && !path.empty()) {
      name_device(object, path.back());
    }
    for (const XmlElement& child : object.children) {
      if (child.name != "object") continue;
      if (Result<void> done = read_object(child, path, node); !done) return done;
    }
    return {};
  }

  // bridge_pci="0000:[44-54]": the buses below it. Without it the path stays unknown.
  static std::string host_bridge_name(const XmlElement& object) {
    const std::string_view buses = object.attribute("bridge_pci");
    const std::size_t bracket = buses.find(":[");
    if (bracket == std::string_view::npos || buses.size() < bracket + 4) return "host bridge";
    const std::string name = "pci" + std::string(buses.substr(0, bracket + 1)) +
                             std::string(buses.substr(bracket + 2, 2));
    return is_host_bridge(name) ? name : "host bridge";
  }

  Result<void> add_function(const XmlElement& object, std::vector<std::string>& path, int node) {
    PciFunction function;
    function.address = full_address(object.attribute("pci_busid"));
    if (function.address.empty()) return error(object, "a PCI object without an address");
    if (draft_.machine.pci.find(function.address) != nullptr) {
      return error(object, function.address + " is described twice");
    }
    if (path.size() >= kDeepestPath || draft_.machine.pci.functions().size() >= kMostFunctions) {
      return error(object, "more PCI functions than a machine can have");
    }
    take_numbers(object.attribute("pci_type"), function);
    function.name = info(object, "PCIDevice");
    function.numa_node = node;
    path.push_back(function.address);
    function.path = path;
    draft_.machine.pci.add(std::move(function));
    return {};
  }

  // What the operating system calls a function's device: an RDMA name, a GPU's model.
  void name_device(const XmlElement& object, const std::string& address) {
    const bool is_rdma =
        object.attribute("osdev_type") == kOpenFabrics || !info(object, "NodeGUID").empty();
    const std::string_view name = object.attribute("name"), model = info(object, "GPUModel");
    if (is_rdma && !name.empty()) draft_.rdma_names.emplace(address, name);
    if (!model.empty()) draft_.models.emplace(address, model);
  }

  void add_numa_node(const XmlElement& object) {
    const int number = only_member(object.attribute("nodeset"));
    if (number < 0 || draft_.machine.numa_nodes.size() >= kMostNumaNodes) return;
    draft_.machine.numa_nodes.push_back(
        {number, processors_of_mask(object.attribute("cpuset")), {}});
  }

  // <indexes> are the nodes, <u64values> a square of their distances.
  void read_distances(const XmlElement& element) {
    if (element.attribute("type") != "NUMANode" || !distances_.empty()) return;
    std::vector<int> nodes, values;
    for (const XmlElement& child : element.children) {
      std::vector<int>* into = child.name == "indexes"     ? &nodes
                               : child.name == "u64values" ? &values
                                                           : nullptr;
      for (const char* at = child.text.c_str(); into != nullptr && *at != '\0';) {
        char* end = nullptr;
        const long value = strtol(at, &end, 10);
        if (end == at || into->size() > kMostNumaNodes * kMostNumaNodes) break;
        into->push_back(static_cast<int>(std::clamp(value, 0l, 10'000l)));
        at = end;
      }
    }
    if (nodes.empty() || values.size() != nodes.size() * nodes.size()) return;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * nodes.size());
      distances_[nodes[i]].assign(row, row + static_cast<std::ptrdiff_t>(nodes.size()));
    }
  }

  Draft draft_;
  std::map<int, std::vector<int>> distances_;
};

}  // namespace

Result<Inventory> read_hwloc_xml(std::string_view document) {
  const Result<XmlElement> root = read_xml(document);
  if (!root) return root.error();
  return Reader().read(*root);
}

}  // namespace gdr::host
