#include "host/pci/function.h"

#include <ctype.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>

#include "host/pci/config_space.h"
#include "host/pci/link.h"

namespace gdr::host {
namespace {

bool all_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return isxdigit(c) != 0; });
}

// "16.0 GT/s PCIe" and "16".
PortSpeed read_speed(const Files& files, const std::string& address) {
  const std::string device = "sys/bus/pci/devices/" + address;
  const auto speed = [&](const char* name) {
    return strtod(files.line(device + name).c_str(), nullptr);
  };
  PortSpeed port;
  port.set_speed(speed("/current_link_speed"));
  port.set_most_speed(speed("/max_link_speed"));
  port.set_width(files.number(device + "/current_link_width").value_or(0));
  port.set_most_width(files.number(device + "/max_link_width").value_or(0));
  return port;
}

// -1 for what is no number.
int number_of(const std::string& digits) {
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : -1;
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
  function.links = links_along(
      function.path, [&](const std::string& address) { return read_speed(files, address); });
  const std::string path = "sys/bus/pci/devices/" + function.address;
  const auto hex = [&](const char* name) {
    return static_cast<std::uint32_t>(strtoul(files.line(path + "/" + name).c_str(), nullptr, 16));
  };
  function.vendor = static_cast<std::uint16_t>(hex("vendor"));
  function.device = static_cast<std::uint16_t>(hex("device"));
  function.subsystem_vendor = static_cast<std::uint16_t>(hex("subsystem_vendor"));
  function.subsystem_device = static_cast<std::uint16_t>(hex("subsystem_device"));
  function.class_code = hex("class");
  function.driver = files.link_name(path + "/driver");
  function.numa_node = static_cast<int>(files.number(path + "/numa_node").value_or(-1));
  function.iommu_group = number_of(files.link_name(path + "/iommu_group"));
  function.is_virtual_function = !files.link_name(path + "/physfn").empty();
  const ConfigSpace space([&](std::size_t offset, std::size_t count) {
    return files.part(path + "/config", offset, count);
  });
  fill_from_config(function, space);
  return function;
}

}  // namespace gdr::host
