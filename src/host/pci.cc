#include "host/pci.h"

#include <ctype.h>
#include <stdlib.h>

#include <algorithm>

namespace gdr::host {
namespace {

constexpr unsigned kExpressCapability = 0x10;
constexpr unsigned kWidest = 32;
constexpr double kFastest = 128;  // GT/s, generation 7

bool all_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return isxdigit(c) != 0; });
}

// "0000:41:00.0"; domains of some controllers (VMD) have more than four digits.
bool is_address(std::string_view name) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos || colon < 4 || colon > 8) return false;
  const std::string_view rest = name.substr(colon + 1);
  return rest.size() == 7 && rest[2] == ':' && rest[5] == '.' && all_hex(name.substr(0, colon)) &&
         all_hex(rest.substr(0, 2)) && all_hex(rest.substr(3, 2)) && rest[6] >= '0' &&
         rest[6] <= '7';
}

// "pci0000:00"
bool is_host_bridge(std::string_view name) {
  return name.substr(0, 3) == "pci" && name.size() >= 10 && name[name.size() - 3] == ':';
}

struct Speed {
  double speed = 0;
  unsigned width = 0;
};

// "16.0 GT/s PCIe" and "16"; "Unknown" and widths that do not exist (a virtual machine's 0 and 255)
// are nothing.
Speed read_speed(const Files& files, const std::string& device, const std::string& which) {
  Speed found;
  const double speed = strtod(files.line(device + "/" + which + "_link_speed").c_str(), nullptr);
  if (speed > 0 && speed <= kFastest) found.speed = speed;
  const long width = files.number(device + "/" + which + "_link_width").value_or(0);
  if (width > 0 && width <= long{kWidest}) found.width = static_cast<unsigned>(width);
  return found;
}

template <typename T>
T lesser_known(T a, T b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

PciLink read_link(const Files& files, const std::string& above, const std::string& below) {
  const std::string pci = "sys/bus/pci/devices/";
  const Speed now = read_speed(files, pci + below, "current");
  const Speed most = read_speed(files, pci + below, "max");
  const Speed most_above = read_speed(files, pci + above, "max");
  return {above,     below,
          now.speed, lesser_known(most.speed, most_above.speed),
          now.width, lesser_known(most.width, most_above.width)};
}

// Device Control of the PCI Express capability.
std::optional<unsigned> read_device_control(const std::string& config) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(config[at]); };
  if (config.size() < 256) return std::nullopt;
  unsigned at = byte(0x34) & 0xfcu;
  // Each takes four bytes at least, so that a list that runs in circles ends.
  for (int i = 0; i < 48 && at >= 0x40 && at <= 0xf4; ++i) {
    if (byte(at) == kExpressCapability) return byte(at + 8) | unsigned{byte(at + 9)} << 8;
    at = byte(at + 1) & 0xfcu;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PciFunction> read_pci_function(const Files& files, const std::string& device) {
  PciFunction function;
  for (const std::string& name : files.real_path(device)) {
    const bool is_root = is_host_bridge(name) && function.path.empty();
    if (is_root || is_address(name)) function.path.push_back(name);
  }
  if (function.path.empty() || !is_address(function.path.back())) return std::nullopt;
  function.address = function.path.back();
  // From below, every other pair is a link; those between are inside of a switch.
  for (std::size_t i = function.path.size(); i >= 2 && is_address(function.path[i - 2]); i -= 2) {
    function.links.push_back(read_link(files, function.path[i - 2], function.path[i - 1]));
  }
  const std::string path = "sys/bus/pci/devices/" + function.address;
  function.numa_node = static_cast<int>(files.number(path + "/numa_node").value_or(-1));
  if (const auto control = read_device_control(files.text(path + "/config"))) {
    function.max_payload = 128u << (*control >> 5 & 7);
    function.max_read_request = 128u << (*control >> 12 & 7);
    function.relaxed_ordering = (*control & 0x10) != 0;
  }
  return function;
}

const char* name_of(PciPath path) {
  switch (path) {
    case PciPath::kPix:
      return "PIX";
    case PciPath::kPxb:
      return "PXB";
    case PciPath::kPhb:
      return "PHB";
    case PciPath::kNode:
      return "NODE";
    case PciPath::kSys:
      return "SYS";
  }
  return "";
}

std::optional<PciPath> path_between(const std::vector<std::string>& a, int node_a,
                                    const std::vector<std::string>& b, int node_b) {
  if (a.size() < 2 || b.size() < 2 || !is_host_bridge(a[0]) || !is_host_bridge(b[0])) {
    return std::nullopt;
  }
  const auto device = [](const std::string& address) {
    return address.substr(0, address.rfind('.'));
  };
  if (device(a.back()) == device(b.back())) return PciPath::kPix;
  if (a[0] != b[0]) return node_a == node_b && node_a >= 0 ? PciPath::kNode : PciPath::kSys;
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t common = 1;
  while (common < shorter && a[common] == b[common]) ++common;
  if (common == 1) return PciPath::kPhb;
  const std::size_t longest_leg = std::max(a.size(), b.size()) - 1 - common;
  return longest_leg <= 1 ? PciPath::kPix : PciPath::kPxb;
}

bool is_virtual_machine(const Files& files) {
  return files.exists("sys/hypervisor/type") ||
         files.text("proc/cpuinfo").find(" hypervisor") != std::string::npos;
}

}  // namespace gdr::host
