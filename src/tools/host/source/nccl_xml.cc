#include "host/source/nccl_xml.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>

#include "host/pci/vendors.h"
#include "host/source/draft.h"
#include "host/source/pasted_text.h"
#include "host/source/xml.h"

namespace gdr::host {
namespace {

constexpr std::uint32_t kNvSwitchClass = 0x068000;
constexpr int kMostNumaNodes = 256;

class Reader {
 public:
  Result<Inventory> read(const XmlElement& system) {
    if (system.name != "system") {
      return Error{EINVAL, "not a topology of NCCL, which begins with <system>; found <" +
                               system.name + ">"};
    }
    for (const XmlElement& cpu : system.children) {
      if (cpu.name != "cpu") continue;
      if (const Result<void> done = read_cpu(cpu); !done) return done.error();
    }
    if (draft_.machine.pci.empty()) return Error{EINVAL, "a topology of NCCL without any <pci>"};
    join_nvlinks();
    draft_.machine.host_bridges_merged = true;
    draft_.machine.unseen = {
        "Host bridges: NCCL's files have one per NUMA node, so PHB here may be NODE.",
        "Switch ports and their access control, drivers, current link speeds: NCCL's files lack "
        "them."};
    if (!has_links_) {
      draft_.machine.unseen.push_back(
          "NVLink between the GPUs: this file has no <nvlink>; there may be none.");
    }
    draft_.shown.ports = false;
    return finish(std::move(draft_));
  }

 private:
  static Error error(const XmlElement& element, const std::string& what) {
    return {EINVAL, "line " + std::to_string(element.line) + ": " + what};
  }

  Result<void> read_cpu(const XmlElement& cpu) {
    const std::string number(cpu.attribute("numaid"));
    char* end = nullptr;
    const long node = strtol(number.c_str(), &end, 10);
    if (number.empty() || *end != '\0' || node < -1 || node >= kMostNumaNodes) {
      return error(cpu, "<cpu> without a possible NUMA node");
    }
    if (node >= 0) {
      draft_.machine.numa_nodes.push_back(
          {static_cast<int>(node), processors_of_mask(cpu.attribute("affinity")), {}});
    }
    char bridge[16];
    std::snprintf(bridge, sizeof(bridge), "pcinode:%02x", static_cast<unsigned>(node) & 0xff);
    note_nics_without_function(cpu);
    return read_children(cpu, {bridge}, static_cast<int>(node));
  }

  // Sockets, software NICs, or NICs for which NCCL found no path.
  void note_nics_without_function(const XmlElement& cpu) {
    std::string names;
    for (const XmlElement& nic : cpu.children) {
      for (const XmlElement& net : nic.children) {
        if (nic.name != "nic" || net.name != "net" || names.size() > 1000) continue;
        names += (names.empty() ? "" : ", ") + std::string(net.attribute("name"));
      }
    }
    if (names.empty()) return;
    draft_.machine.notes.push_back("NICs of NUMA node " + std::string(cpu.attribute("numaid")) +
                                   " without a PCI function, left out of the matrix: " + names);
  }

  Result<void> read_children(const XmlElement& parent, const std::vector<std::string>& path,
                             int node) {
    for (const XmlElement& child : parent.children) {
      if (child.name != "pci") continue;
      if (Result<void> done = read_pci(child, path, node); !done) return done;
    }
    return {};
  }

  Result<void> read_pci(const XmlElement& pci, std::vector<std::string> path, int node) {
    PciFunction function;
    function.address = full_address(pci.attribute("busid"));
    if (function.address.empty()) return error(pci, "<pci> without a PCI address in busid");
    if (draft_.machine.pci.find(function.address) != nullptr) {
      return error(pci, function.address + " is described twice");
    }
    if (path.size() >= kDeepestPath || draft_.machine.pci.functions().size() >= kMostFunctions) {
      return error(pci, "more PCI functions than a machine can have");
    }
    const auto hex = [&](const char* name) { return to_number(pci.attribute(name), 16); };
    function.vendor = static_cast<std::uint16_t>(hex("vendor"));
    function.device = static_cast<std::uint16_t>(hex("device"));
    function.subsystem_vendor = static_cast<std::uint16_t>(hex("subsystem_vendor"));
    function.subsystem_device = static_cast<std::uint16_t>(hex("subsystem_device"));
    function.class_code = hex("class");
    function.numa_node = node;
    fill_gaps(pci, function);
    if (function.is_bridge()) function.kind = PciKind::kUpstream;
    PortSpeed speed;
    speed.set_most_speed(strtod(std::string(pci.attribute("link_speed")).c_str(), nullptr));
    speed.set_most_width(static_cast<long>(to_number(pci.attribute("link_width"), 10)));
    if (path.size() > 1 || speed.most_speed > 0 || speed.most_width > 0) {
      function.links.push_back(link_between(path.back(), {}, function.address, speed));
    }
    path.push_back(function.address);
    function.path = path;
    read_device(pci, function);
    draft_.machine.pci.add(std::move(function));
    return read_children(pci, path, node);
  }

  // Providers leave out makers and classes; what stands below tells.
  static void fill_gaps(const XmlElement& pci, PciFunction& function) {
    const auto has = [&](const XmlElement& element, std::string_view name) {
      return std::ranges::any_of(element.children,
                                 [&](const XmlElement& child) { return child.name == name; });
    };
    if (function.class_code == 0) {
      if (has(pci, "gpu"))
        function.class_code = 0x030200;
      else if (has(pci, "nic") || has(pci, "net"))
        function.class_code = 0x020000;
      else if (has(pci, "pci"))
        function.class_code = 0x060400;
    }
    for (const XmlElement& gpu : pci.children) {
      // RCCL's files look the same: AMD's GPUs have a "gcn" and links of XGMI.
      if (gpu.name != "gpu" || function.vendor != 0) continue;
      if (has(gpu, "xgmi") || !gpu.attribute("gcn").empty()) function.vendor = vendor::kAmdGraphics;
    }
    const bool display = function.class_code >> 16 == 0x03 && function.class_code >> 8 != 0x0380;
    if (display && function.vendor == 0) function.vendor = vendor::kNvidia;
  }

  void read_device(const XmlElement& pci, PciFunction& function) {
    if (function.class_code >> 16 == 0x02) draft_.nics[function.address];
    for (const XmlElement& child : pci.children) {
      if (child.name == "gpu") read_nvlinks(child, function.address);
      if (child.name == "net") read_net(child, function.address);
      if (child.name != "nic") continue;
      for (const XmlElement& net : child.children) {
        if (net.name == "net") read_net(net, function.address);
      }
    }
  }

  // Each is a port of an RDMA device. NCCL puts the functions of one card into one <pci>, so there
  // may be several devices, and several ports of each.
  void read_net(const XmlElement& net, const std::string& address) {
    constexpr std::size_t kMostPorts = 256;
    const std::string name(net.attribute("name"));
    DraftNic& nic = draft_.nics[address];
    if (name.empty() || nic.ports.size() >= kMostPorts) return;
    add_name(nic, name);
    Port port;
    port.rdma_name = name;
    port.number = to_number(net.attribute("port"), 10);
    // Mb/s
    if (const std::uint32_t speed = to_number(net.attribute("speed"), 10); speed > 0) {
      char rate[32];
      std::snprintf(rate, sizeof rate, "%g Gb/sec", speed / 1000.0);
      port.rate = rate;
    }
    const std::string device(net.attribute("dev"));
    const bool repeated = !nets_.insert({address, name, port.number, device}).second;
    if (!repeated) nic.ports.push_back(std::move(port));
  }

  void read_nvlinks(const XmlElement& gpu, const std::string& address) {
    for (const XmlElement& link : gpu.children) {
      if (link.name != "nvlink") continue;
      has_links_ = true;
      const unsigned count = to_number(link.attribute("count"), 10);
      if (to_number(link.attribute("tclass"), 16) == kNvSwitchClass) {
        to_switches_[address] += count;
      } else if (const auto target = full_address(link.attribute("target")); !target.empty()) {
        const auto pair = std::minmax(address, target);
        unsigned& both = joined_[{pair.first, pair.second}];
        both = std::max(both, count);  // each of the two has it
      }
    }
  }

  void join_nvlinks() {
    // Over switches each GPU reaches each other one with all of its links.
    for (auto a = to_switches_.begin(); a != to_switches_.end(); ++a) {
      for (auto b = std::next(a); b != to_switches_.end() && joined_.size() < kMostFunctions; ++b) {
        joined_[{a->first, b->first}] = std::min(a->second, b->second);
      }
    }
    for (const auto& [pair, count] : joined_) {
      const bool known =
          draft_.machine.pci.find(pair.first) && draft_.machine.pci.find(pair.second);
      if (known && count > 0 && pair.first != pair.second) {
        draft_.machine.nvlinks.push_back({pair.first, pair.second, count});
      }
    }
  }

  Draft draft_;
  bool has_links_ = false;
  std::set<std::tuple<std::string, std::string, unsigned, std::string>> nets_;
  std::map<std::pair<std::string, std::string>, unsigned> joined_;
  std::map<std::string, unsigned> to_switches_;
};

}  // namespace

Result<Inventory> read_nccl_xml(std::string_view document) {
  const PastedXml pasted = unwrap_xml(without_windows(std::string(document)));
  const Result<XmlElement> root = read_xml(pasted.document);
  if (!root) return root.error();
  Result<Inventory> machine = Reader().read(*root);
  const std::string note = skipped_note(pasted.skipped, "XML", pasted.example);
  if (machine && !note.empty()) machine->notes.push_back(note);
  return machine;
}

}  // namespace gdr::host
