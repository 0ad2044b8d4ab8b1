#include "host/pci/function.h"

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

bool is_pci_address(std::string_view name) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos || colon < 4 || colon > 8) return false;
  const std::string_view rest = name.substr(colon + 1);
  return rest.size() == 7 && rest[2] == ':' && rest[5] == '.' && all_hex(name.substr(0, colon)) &&
         all_hex(rest.substr(0, 2)) && all_hex(rest.substr(3, 2)) && rest[6] >= '0' &&
         rest[6] <= '7';
}

bool is_host_bridge(std::string_view name) {
  return name.substr(0, 3) == "pci" && name.size() >= 10 && name[name.size() - 3] == ':';
}

std::optional<PciFunction> read_pci_function(const Files& files, const std::string& device) {
  PciFunction function;
  for (const std::string& name : files.real_path(device)) {
    const bool is_root = is_host_bridge(name) && function.path.empty();
    if (is_root || is_pci_address(name)) function.path.push_back(name);
  }
  if (function.path.empty() || !is_pci_address(function.path.back())) return std::nullopt;
  function.address = function.path.back();
  // From below, every other pair is a link; those between are inside of a switch.
  for (std::size_t i = function.path.size(); i >= 2 && is_pci_address(function.path[i - 2]);
       i -= 2) {
    function.links.push_back(read_link(files, function.path[i - 2], function.path[i - 1]));
  }
  const std::string path = "sys/bus/pci/devices/" + function.address;
  const auto hex = [&](const char* name) {
    return static_cast<std::uint32_t>(strtoul(files.line(path + "/" + name).c_str(), nullptr, 16));
  };
  function.vendor = static_cast<std::uint16_t>(hex("vendor"));
  function.device = static_cast<std::uint16_t>(hex("device"));
  function.class_code = hex("class");
  function.driver = files.link_name(path + "/driver");
  function.numa_node = static_cast<int>(files.number(path + "/numa_node").value_or(-1));
  if (const auto control = read_device_control(files.text(path + "/config"))) {
    function.max_payload = 128u << (*control >> 5 & 7);
    function.max_read_request = 128u << (*control >> 12 & 7);
    function.relaxed_ordering = (*control & 0x10) != 0;
  }
  return function;
}

}  // namespace gdr::host
