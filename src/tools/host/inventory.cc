#include "host/inventory.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "host/classify.h"
#include "host/conclusions.h"
#include "host/files.h"
#include "host/hardware.h"
#include "host/management.h"
#include "host/pci/link.h"
#include "host/pci/names.h"

namespace gdr::host {
namespace {

constexpr unsigned kLargestGidTable = 256;

// Where peer-memory modules are visible: the kernel's registry (MLNX_OFED, Ubuntu), then the
// modules.
constexpr const char* kPeerMemoryPlaces[] = {
    "sys/kernel/mm/memory_peers/nv_mem/version", "sys/kernel/mm/memory_peers/nv_mem_nc/version",
    "sys/module/nvidia_peermem/version", "sys/module/nv_peer_mem/version"};

bool empty_gid(const std::string& text) {
  return text.find_first_not_of("0:") == std::string::npos ||
         text == "fe80:0000:0000:0000:0000:0000:0000:0000";
}

int node_of(const Files& files, const std::string& device) {
  return static_cast<int>(files.number(device + "/numa_node").value_or(-1));
}

std::vector<Gid> read_gids(const Files& files, const std::string& port) {
  std::vector<Gid> gids;
  for (unsigned i = 0; i < kLargestGidTable; ++i) {
    const std::string number = std::to_string(i);
    const std::string text = files.line(port + "/gids/" + number);
    if (text.empty()) break;
    if (empty_gid(text)) continue;
    gids.push_back({i, text, files.line(port + "/gid_attrs/types/" + number),
                    files.line(port + "/gid_attrs/ndevs/" + number)});
  }
  return gids;
}

// The netdev of a port: what its GIDs say, else the PCI function's own, told apart by dev_port.
std::string netdev_of(const Files& files, const std::string& nic, const Port& port) {
  for (const Gid& gid : port.gids) {
    if (!gid.netdev.empty()) return gid.netdev;
  }
  const std::string folder = nic + "/device/net";
  const auto names = files.entries(folder);
  for (const std::string& name : names) {
    if (files.number(folder + "/" + name + "/dev_port").value_or(-1) == long{port.number} - 1)
      return name;
  }
  if (names.size() == 1) return names.front();
  return files.line(nic + "/parent");  // rxe and siw name the netdev they sit on
}

Port read_port(const Files& files, const std::string& nic, unsigned number) {
  const std::string path = nic + "/ports/" + std::to_string(number);
  Port port;
  port.number = number;
  port.state = files.line(path + "/state");
  port.link_layer = files.line(path + "/link_layer");
  port.rate = files.line(path + "/rate");
  port.gids = read_gids(files, path);
  port.netdev = netdev_of(files, nic, port);
  if (!port.netdev.empty()) port.mac = files.line("sys/class/net/" + port.netdev + "/address");
  return port;
}

// A function as the tree has it, else by its link alone: a captured machine may lack the rest.
std::optional<PciFunction> function_of(const Files& files, const PciTree& tree,
                                       const std::string& link) {
  const std::vector<std::string> path = files.real_path(link);
  const PciFunction* known = path.empty() ? nullptr : tree.find(path.back());
  return known != nullptr ? std::optional(*known) : read_pci_function(files, link);
}

Nic read_nic(const Files& files, const PciTree& tree, const std::string& name) {
  const std::string path = "sys/class/infiniband/" + name;
  Nic nic;
  nic.name = name;
  nic.pci_address = files.link_name(path + "/device");
  nic.driver = files.link_name(path + "/device/driver");
  nic.firmware = files.line(path + "/fw_ver");
  nic.board_id = files.line(path + "/board_id");
  nic.numa_node = node_of(files, path + "/device");
  nic.pci = function_of(files, tree, path + "/device");
  if (nic.pci && may_manage(*nic.pci)) {
    nic.pci->product = read_product_data(files, nic.pci->address);
  }
  for (const std::string& entry : files.entries(path + "/ports")) {
    unsigned number = 0;
    std::from_chars(entry.data(), entry.data() + entry.size(), number);
    if (number > 0) nic.ports.push_back(read_port(files, path, number));
  }
  return nic;
}

// "Model: \t\t NVIDIA H200" in /proc/driver/nvidia/gpus/<address>/information.
std::string driver_model_of(const Files& files, const std::string& address) {
  const std::string text = files.text("proc/driver/nvidia/gpus/" + address + "/information");
  const auto label = text.find("Model:");
  if (label == std::string::npos) return {};
  const auto begin = text.find_first_not_of(" \t", label + 6);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find('\n', begin) - begin);
}

// "NVIDIA GH100 [H100 SXM5 80GB]" where the driver does not say it better.
std::string model_of(const Files& files, const std::string& address, const PciFunction* function,
                     PciNames& names) {
  if (std::string model = driver_model_of(files, address); !model.empty()) return model;
  const std::string name =
      function != nullptr ? names.device(function->vendor, function->device) : std::string();
  if (!name.empty()) return "NVIDIA " + name;
  return "NVIDIA device " + files.line("sys/bus/pci/devices/" + address + "/device");
}

std::vector<Gpu> read_gpus(const Files& files, const PciTree& tree,
                           const std::vector<std::string>& addresses) {
  std::vector<Gpu> gpus;
  PciNames names;
  for (const std::string& address : addresses) {
    const std::string path = "sys/bus/pci/devices/" + address;
    const PciFunction* known = tree.find(address);
    if (known == nullptr && files.line(path + "/vendor") != "0x10de") continue;
    if (known == nullptr && files.line(path + "/class").rfind("0x03", 0) != 0) continue;
    if (known != nullptr && !is_gpu(*known)) continue;
    gpus.push_back({address, model_of(files, address, known, names),
                    files.link_name(path + "/driver"), node_of(files, path),
                    known ? std::optional(*known) : std::nullopt});
  }
  return gpus;
}

PciTree read_tree(const Files& files, const std::vector<std::string>& addresses) {
  PciTree tree;
  PortSpeeds speeds(files);
  PciNames names;
  for (const std::string& address : addresses) {
    auto function = read_pci_function(files, "sys/bus/pci/devices/" + address, speeds);
    if (!function) continue;
    if (function->class_code == 0 && function->vendor != 0) {  // a capture of parts
      function->name = names.device(function->vendor, function->device);
      function->class_code = class_by_name(*function);
    }
    tree.add(*std::move(function));
  }
  return tree;
}

// "platform\t: PowerNV" in /proc/cpuinfo.
std::string processor_field(const std::string& text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const std::size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string_view::npos) continue;
    if (line.find_first_not_of(" \t", name.size()) != colon) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string_view::npos ? std::string() : std::string(line.substr(begin));
  }
  return {};
}

// Xen's first domain has the hardware, although it runs on Xen as its guests do. As
// systemd-detect-virt tells it (src/basic/virt.c, detect_vm_xen_dom0).
std::string sign_of_first_domain(const Files& files) {
  constexpr unsigned kDom0 = 1u << 11;  // XENFEAT_dom0 of xen/include/public/features.h
  const std::string features = files.line("sys/hypervisor/properties/features");
  if (strtoul(features.c_str(), nullptr, 16) & kDom0) return "/sys/hypervisor/properties/features";
  if (files.line("proc/xen/capabilities").find("control_d") != std::string::npos) {
    return "/proc/xen/capabilities control_d";
  }
  return {};
}

// Arm's and Power's processors have no such flag.
GuestSign read_kernel_sign(const Files& files, const std::string& processors) {
  if (const std::string sign = sign_of_first_domain(files); !sign.empty()) {
    return {Guest::kNo, "Xen's first domain, " + sign};
  }
  const std::string type = files.line("sys/hypervisor/type");
  if (files.exists("sys/hypervisor/type")) return {Guest::kYes, "/sys/hypervisor/type " + type};
  const std::string flags = processor_field(processors, "flags");
  if ((" " + flags + " ").find(" hypervisor ") != std::string::npos) {
    return {Guest::kYes, "the CPU's hypervisor flag"};
  }
  const bool has_flags =
      processors.starts_with("flags") || processors.find("\nflags") != processors.npos;
  return has_flags ? GuestSign{Guest::kNo, "no hypervisor flag"} : GuestSign();
}

Platform read_platform(const Files& files) {
  const std::string processors = files.text("proc/cpuinfo");
  Platform platform;
  platform.product = files.line("sys/class/dmi/id/product_name");
  platform.vendor = files.line("sys/class/dmi/id/sys_vendor");
  platform.firmware = processor_field(processors, "platform");
  platform.model = files.line("sys/firmware/devicetree/base/model");
  platform.model.erase(std::min(platform.model.find('\0'), platform.model.size()));
  platform.kernel = read_kernel_sign(files, processors);
  return platform;
}

std::vector<NumaNode> read_numa_nodes(const Files& files) {
  const std::string folder = "sys/devices/system/node";
  std::vector<NumaNode> nodes;
  for (const std::string& name : files.entries(folder)) {
    NumaNode node;
    const char* end = name.data() + name.size();
    if (!name.starts_with("node")) continue;
    const auto result = std::from_chars(name.data() + 4, end, node.number);
    if (result.ec != std::errc() || result.ptr != end || node.number < 0) continue;
    node.processors = files.line(folder + "/" + name + "/cpulist");
    std::istringstream distances(files.line(folder + "/" + name + "/distance"));
    for (int distance = 0; distances >> distance;) node.distances.push_back(distance);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<std::string> unseen(const Files& files, const Inventory& inventory) {
  std::vector<std::string> sentences;
  if (inventory.pci.empty()) {
    sentences.push_back("PCI functions: " + files.root() + (files.is_live() ? "" : "/") +
                        "sys/bus/pci/devices is empty.");
  }
  // Settings matter only for functions on the paths.
  const auto matters = [](const PciFunction& function) {
    return function.is_bridge() || function.class_code >> 16 == 0x02 ||
           function.class_code >> 16 == 0x03;
  };
  const auto& functions = inventory.pci.functions();
  const bool hidden = std::any_of(functions.begin(), functions.end(), [&](const auto& entry) {
    return matters(entry.second) && !entry.second.configuration_read;
  });
  if (hidden) {
    sentences.push_back(
        "Configuration space beyond its first 64 bytes (access control, settings): run as root.");
  }
  if (inventory.gpus.size() > 1) {
    sentences.push_back("NVLink between the GPUs: sysfs does not show it.");
  }
  return sentences;
}

// "Max locked memory         8388608              8388608              bytes": the first is in
// force.
std::optional<std::uint64_t> read_locked_memory_limit(const Files& files) {
  const std::string text = files.text("proc/self/limits");
  constexpr std::string_view kLabel = "Max locked memory";
  const auto label = text.find(kLabel);
  if (label == std::string::npos) return std::nullopt;
  const auto begin = text.find_first_not_of(' ', label + kLabel.size());
  if (begin == std::string::npos) return std::nullopt;
  std::uint64_t limit = 0;
  const auto result = std::from_chars(text.data() + begin, text.data() + text.size(), limit);
  if (result.ec != std::errc()) return std::nullopt;
  return limit;
}

}  // namespace

bool is_virtual_machine(const Files& files) {
  return guest_by_platform(read_platform(files)).answer == Guest::kYes;
}

bool is_active(const Port& port) {
  return port.state.find("ACTIVE") != std::string::npos &&
         port.state.find("DEFER") == std::string::npos;
}

double rate_of(const Port& port) {
  const double rate = strtod(port.rate.c_str(), nullptr);
  return rate > 0 && rate < 1e6 ? rate : 0;
}

std::string names_of(const Nic& nic) {
  std::string names = nic.name;
  for (const std::string& more : nic.more_names) names += ", " + more;
  return names;
}

std::string rdma_name_of(const Nic& nic, const Port& port) {
  const std::string& name = port.rdma_name.empty() ? nic.name : port.rdma_name;
  return name == nic.pci_address ? std::string() : name;
}

bool has_active_port(const Nic& nic) { return std::ranges::any_of(nic.ports, is_active); }

Inventory take_inventory(const Files& files) {
  Inventory inventory;
  std::vector<std::string> addresses = files.entries("sys/bus/pci/devices");
  if (addresses.size() > kMostFunctions) addresses.resize(kMostFunctions);
  inventory.pci = read_tree(files, addresses);
  for (const std::string& name : files.entries("sys/class/infiniband")) {
    if (is_software_nic(files, name)) continue;
    inventory.nics.push_back(read_nic(files, inventory.pci, name));
  }
  inventory.gpus = read_gpus(files, inventory.pci, addresses);
  inventory.numa_nodes = read_numa_nodes(files);
  inventory.platform = read_platform(files);
  inventory.product = inventory.platform.product;
  for (const char* place : kPeerMemoryPlaces) {
    if (files.exists(place)) inventory.peer_memory.push_back(std::string("/") + place);
  }
  inventory.gpu_driver_version = files.line("sys/module/nvidia/version");
  inventory.gpu_driver_open =
      files.text("proc/driver/nvidia/version").find("Open Kernel Module") != std::string::npos;
  inventory.locked_memory_limit = read_locked_memory_limit(files);
  inventory.unseen = unseen(files, inventory);
  // A kernel without NUMA has no such folder.
  const bool all_nodes = files.exists("sys/devices/system/node") || files.is_live();
  draw_conclusions(inventory, {.all_nodes = all_nodes});
  return inventory;
}

namespace {

// Functions of one card are one product, which some sources tell at one of them alone.
void share_product_data(Inventory& inventory) {
  std::map<std::string, ProductData> cards;
  for (const Nic& nic : inventory.nics) {
    if (nic.pci && !nic.pci->product.name.empty()) {
      cards.emplace(card_of(nic.pci->address), nic.pci->product);
    }
  }
  for (Nic& nic : inventory.nics) {
    if (!nic.pci || !nic.pci->product.empty()) continue;
    const auto card = cards.find(card_of(nic.pci->address));
    if (card == cards.end()) continue;
    nic.pci->product.name = card->second.name;
    nic.pci->product.part_number = card->second.part_number;
  }
}

}  // namespace

void name_functions(Inventory& inventory) {
  share_product_data(inventory);
  PciNames names;
  const auto name = [&](PciFunction& function) {
    if (function.name.empty()) function.name = names.device(function.vendor, function.device);
  };
  for (const auto& [address, unused] : inventory.pci.functions())
    name(*inventory.pci.find(address));
  for (Gpu& gpu : inventory.gpus) {
    if (gpu.pci) name(*gpu.pci);
  }
  for (Nic& nic : inventory.nics) {
    if (nic.pci) name(*nic.pci);
  }
}

void read_product_data(const Files& files, Inventory& inventory) {
  for (Nic& nic : inventory.nics) {
    if (!nic.pci) continue;
    if (nic.pci->product.empty()) {
      nic.pci->product = read_product_data(files, nic.pci->address);
    }
    PciFunction* function = inventory.pci.find(nic.pci->address);
    if (function != nullptr) function->product = nic.pci->product;
  }
}

std::vector<Counter> read_counters(const std::string& root, const std::string& nic, unsigned port) {
  const Files files(root);
  std::vector<Counter> counters;
  for (const char* folder : {"counters", "hw_counters"}) {
    const std::string path =
        "sys/class/infiniband/" + nic + "/ports/" + std::to_string(port) + "/" + folder;
    for (const std::string& name : files.entries(path)) {
      if (name == "lifespan") continue;  // a setting among the counters
      if (auto value = files.number(path + "/" + name)) counters.push_back({name, *value});
    }
  }
  return counters;
}

}  // namespace gdr::host
