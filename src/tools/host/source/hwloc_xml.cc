#include "host/source/hwloc_xml.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "host/source/draft.h"
#include "host/source/hwloc_nvlink.h"
#include "host/source/pasted_text.h"
#include "host/source/xml.h"

namespace gdr::host {
namespace {

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

// osdev_type is a number up to hwloc 2, from 3 on a set of bits.
struct DeviceTypes {
  bool bits = false;
  bool is_rdma(std::string_view type) const {
    return bits ? (to_number(type, 10) & 0x20) != 0 : type == "3";
  }
  bool is_network(std::string_view type) const {
    return bits ? (to_number(type, 10) & 0x30) == 0x10 : type == "2";
  }
};

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
      return Error{EINVAL, "not an XML file of hwloc, which begins with <topology>; found <" +
                               topology.name + ">"};
    }
    types_.bits = to_number(topology.attribute("version").substr(0, 1), 10) >= 3;
    for (const XmlElement& child : topology.children) {
      if (child.name == "distances2") read_distances(child);
      if (child.name != "object") continue;
      read_platform(topology, child);
      if (Result<void> done = read_object(child, {}, -1); !done) return done.error();
    }
    if (draft_.machine.pci.empty()) {
      return Error{EINVAL, "it has no PCI devices; write it with 'lstopo --whole-io machine.xml'"};
    }
    name_interfaces();
    for (NumaNode& node : draft_.machine.numa_nodes) node.distances = distances_[node.number];
    draft_.machine.unseen = {
        "Configuration space (kinds of switch ports, access control, settings): hwloc does not "
        "record it.",
        "Drivers, IOMMU groups, speed and width of links: hwloc records only the bandwidth of "
        "links."};
    draft_.shown.bridges = false;
    draft_.shown.all_nodes = true;
    Result<std::vector<NvLinks>> links = read_hwloc_nvlinks(topology, draft_.machine.pci);
    if (!links) {
      draft_.machine.unseen.push_back("NVLink between the GPUs: " + links.error().message + ".");
    } else {
      draft_.machine.nvlinks = *std::move(links);
    }
    return finish(std::move(draft_));
  }

 private:
  static Error error(const XmlElement& element, const std::string& what) {
    return {EINVAL, "line " + std::to_string(element.line) + ": " + what};
  }

  void read_platform(const XmlElement& topology, const XmlElement& machine) {
    const auto value = [&](const char* name) {
      const std::string_view found = info(machine, name);
      return std::string(found.empty() ? info(topology, name) : found);
    };
    Platform& platform = draft_.machine.platform;
    platform = {value("DMIProductName"), value("DMISysVendor"),  value("DMIBIOSVendor"),
                value("PlatformName"),   value("PlatformModel"), {}};
    draft_.machine.product = platform.product.empty() ? platform.model : platform.product;
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
    if (function.class_code == 0) function.class_code = class_by_name(function);
    draft_.speeds[function.address].set_bandwidth(
        strtod(std::string(object.attribute("pci_link_speed")).c_str(), nullptr));
    path.push_back(function.address);
    function.path = path;
    draft_.machine.pci.add(std::move(function));
    return {};
  }

  // What the operating system calls a function's device: RDMA names with their ports, an interface,
  // a GPU's model.
  void name_device(const XmlElement& object, const std::string& address) {
    const std::string_view type = object.attribute("osdev_type");
    const std::string_view name = object.attribute("name"), model = info(object, "GPUModel");
    if (!model.empty()) draft_.models.emplace(address, model);
    if (name.empty()) return;
    if (types_.is_rdma(type) || !info(object, "NodeGUID").empty()) {
      DraftNic& nic = draft_.nics[address];
      add_name(nic, name);
      read_ports(object, nic);
    } else if (types_.is_network(type) && !info(object, "Address").empty()) {
      networks_[address].emplace_back(name, info(object, "Address"));
    }
  }

  // <info name="Port1State" value="4"/>
  static void read_ports(const XmlElement& device, DraftNic& nic) {
    constexpr const char* kStates[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
    constexpr unsigned kMostPorts = 8;
    for (unsigned number = 1; number <= kMostPorts && nic.ports.size() < 256; ++number) {
      const std::string_view state = info(device, "Port" + std::to_string(number) + "State");
      const std::uint32_t value = to_number(state, 10);
      if (state.empty() || value >= std::size(kStates)) continue;
      Port port;
      port.number = number;
      port.rdma_name = device.attribute("name");
      port.state = std::to_string(value) + ": " + kStates[value];
      nic.ports.push_back(std::move(port));
    }
  }

  // Which interface is which port's is known where there is one of each.
  void name_interfaces() {
    for (auto& [address, nic] : draft_.nics) {
      const auto found = networks_.find(address);
      if (found == networks_.end() || found->second.size() != 1 || nic.ports.size() > 1) continue;
      if (nic.names.size() > 1) continue;
      if (nic.ports.empty()) nic.ports.emplace_back();
      std::tie(nic.ports.front().netdev, nic.ports.front().mac) = found->second.front();
    }
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
  DeviceTypes types_;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> networks_;
  std::map<int, std::vector<int>> distances_;
};

}  // namespace

Result<Inventory> read_hwloc_xml(std::string_view document) {
  const PastedXml pasted = unwrap_xml(without_windows(std::string(document)));
  const Result<XmlElement> root = read_xml(pasted.document);
  if (!root) return root.error();
  Result<Inventory> machine = Reader().read(*root);
  const std::string note = skipped_note(pasted.skipped, "XML", pasted.example);
  if (machine && !note.empty()) machine->notes.push_back(note);
  return machine;
}

}  // namespace gdr::host
