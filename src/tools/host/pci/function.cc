#include "host/pci/function.h"

#include <stdlib.h>

#include <charconv>

#include "host/pci/config_space.h"
#include "host/pci/link.h"

namespace gdr::host {
namespace {

// -1 for what is no number.
int number_of(const std::string& digits) {
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : -1;
}

}  // namespace

std::optional<PciFunction> read_pci_function(const Files& files, const std::string& device) {
  PortSpeeds speeds(files);
  return read_pci_function(files, device, speeds);
}

std::optional<PciFunction> read_pci_function(const Files& files, const std::string& device,
                                             PortSpeeds& speeds) {
  PciFunction function;
  for (const std::string& name : files.real_path(device)) {
    const bool is_root = is_host_bridge(name) && function.path.empty();
    if (is_root || is_pci_address(name)) function.path.push_back(name);
  }
  if (function.path.empty() || !is_pci_address(function.path.back())) return std::nullopt;
  function.address = function.path.back();
  function.links =
      links_along(function.path, [&](const std::string& address) { return speeds.of(address); });
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
