#include "rnic/device_table.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

#include "base/environment.h"
#include "base/interface_addresses.h"
#include "base/printable.h"
#include "rnic/gids.h"
#include "rnic/shared.h"

namespace gdr::rnic {
namespace {

constexpr std::size_t kLongestName = sizeof(SharedDevice::name) - 1;
constexpr std::uint32_t kSpeeds[] = {10, 25, 40, 50, 100, 200, 400};

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

Error refuse(std::string message) { return Error{EINVAL, std::move(message)}; }

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Names become file names under /sys/class/infiniband: nothing that leaves that folder.
Result<std::string> parse_name(std::string_view text) {
  const bool characters = std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
  });
  if (text.empty() || text.size() > kLongestName || !characters || !is_alphanumeric(text[0])) {
    return refuse("device name " + in_quotes(text) + ": allowed are 1 to " +
                  std::to_string(kLongestName) +
                  " letters, digits, '_', '-' and '.', a letter or digit first");
  }
  return std::string(text);
}

std::optional<std::uint8_t> hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

Result<std::array<std::uint8_t, 6>> parse_mac(std::string_view text) {
  const Error error = refuse("mac=" + printable(text) +
                             ": allowed is a unicast MAC of six hexadecimal pairs, "
                             "as in 02:00:00:00:00:01");
  std::array<std::uint8_t, 6> mac{};
  const std::vector<std::string_view> pairs = split(text, ':');
  if (pairs.size() != mac.size()) return error;
  for (std::size_t i = 0; i < mac.size(); ++i) {
    if (pairs[i].size() != 2) return error;
    const auto high = hexadecimal_digit(pairs[i][0]);
    const auto low = hexadecimal_digit(pairs[i][1]);
    if (!high || !low) return error;
    mac[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  const bool is_group = (mac[0] & 1) != 0;
  if (is_group || mac == std::array<std::uint8_t, 6>{}) return error;
  return mac;
}

using Address = std::array<std::uint8_t, 16>;

Address mapped(const std::array<std::uint8_t, 4>& ipv4) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ipv4[0], ipv4[1], ipv4[2], ipv4[3]};
}

Error refuse_address(std::string_view text) {
  return refuse("ip=" + printable(text) +
                ": allowed is a unicast address, IPv4 as in 10.0.0.1 (1.0.0.0 to 223.255.255.255) "
                "or IPv6 as in fd00::1");
}

Result<Address> parse_ipv6(std::string_view text) {
  Address address{};
  const bool parsed = inet_pton(AF_INET6, std::string(text).c_str(), address.data()) == 1;
  const bool is_group = address[0] == 0xff;
  const bool is_mapped = std::equal(address.begin(), address.begin() + 12, mapped({}).begin());
  if (!parsed || is_group || is_mapped || address == Address{}) return refuse_address(text);
  return address;
}

Result<Address> parse_address(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return parse_ipv6(text);
  const Error error = refuse_address(text);
  std::array<std::uint8_t, 4> address{};
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() != address.size()) return error;
  for (std::size_t i = 0; i < address.size(); ++i) {
    // Three digits at most, and no leading zero, which some readers take for octal.
    if (parts[i].size() > 3 || (parts[i].size() > 1 && parts[i][0] == '0')) return error;
    const Result<std::uint64_t> number = parse_number(parts[i], 0, 255);
    if (!number) return error;
    address[i] = static_cast<std::uint8_t>(*number);
  }
  if (address[0] == 0 || address[0] >= 224) return error;
  return mapped(address);
}

Result<std::uint32_t> parse_speed(std::string_view text) {
  for (const std::uint32_t speed : kSpeeds) {
    if (text == std::to_string(speed)) return speed;
  }
  return refuse("speed=" + printable(text) +
                ": allowed are 10, 25, 40, 50, 100, 200 and 400 (gigabits per second)");
}

// A part of a PCI address; nothing where it is not `least` to `most` hexadecimal digits.
std::optional<unsigned> hexadecimal(std::string_view text, std::size_t least, std::size_t most) {
  if (text.size() < least || text.size() > most) return std::nullopt;
  unsigned value = 0;
  for (const char c : text) {
    const auto digit = hexadecimal_digit(c);
    if (!digit) return std::nullopt;
    value = value << 4 | *digit;
  }
  return value;
}

// As the kernel writes it, as lspci does (no domain) and as nvidia-smi does (eight digits).
Result<std::string> parse_pci(std::string_view text) {
  std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() == 2) parts.insert(parts.begin(), "0000");
  const Error error = refuse("pci=" + printable(text) +
                             ": allowed is a PCI address as in 0000:17:00.0, with a device of 00 "
                             "to 1f and a function of 0 to 7");
  if (parts.size() != 3) return error;
  const std::size_t dot = parts[2].find('.');
  if (dot == std::string_view::npos) return error;
  const auto domain = hexadecimal(parts[0], 4, 8);
  const auto bus = hexadecimal(parts[1], 2, 2);
  const auto device = hexadecimal(parts[2].substr(0, dot), 2, 2);
  const auto function = hexadecimal(parts[2].substr(dot + 1), 1, 1);
  if (!domain || !bus || !device || *device > 0x1f || !function || *function > 7) return error;
  char address[32];
  std::snprintf(address, sizeof address, "%04x:%02x:%02x.%x", *domain, *bus, *device, *function);
  return std::string(address);
}

Result<void> apply_setting(std::string_view setting, DeviceConfiguration& device,
                           std::vector<std::string_view>& seen) {
  const std::size_t equals = setting.find('=');
  const std::string_view key = setting.substr(0, equals);
  constexpr std::string_view kKeys[] = {"mac", "ip", "speed", "pci"};
  if (equals == std::string_view::npos ||
      std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
    return refuse("setting " + in_quotes(setting) + ": allowed are mac=, ip=, speed= and pci=");
  }
  if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
    return refuse("setting " + in_quotes(setting) + ": " + std::string(key) +
                  "= is allowed once for a device");
  }
  seen.push_back(key);

  const std::string_view value = setting.substr(equals + 1);
  const auto store = [](auto parsed, auto& field) -> Result<void> {
    if (!parsed) return parsed.error();
    field = *parsed;
    return {};
  };
  if (key == "mac") return store(parse_mac(value), device.mac);
  if (key == "pci") return store(parse_pci(value), device.pci);
  if (key == "ip") {
    device.address_is_given = true;
    return store(parse_address(value), device.address);
  }
  return store(parse_speed(value), device.gigabits);
}

Result<DeviceConfiguration> parse_device(std::string_view text, std::size_t index) {
  DeviceConfiguration device;
  // Locally administered (02), then "gdr".
  device.mac = {0x02, 0x67, 0x64, 0x72, 0x00, static_cast<std::uint8_t>(index)};
  device.address = mapped({127, 10, 0, static_cast<std::uint8_t>(index + 1)});

  const std::vector<std::string_view> parts = split(text, '/');
  Result<std::string> name = parse_name(parts[0]);
  if (!name) return name.error();
  device.name = *name;
  std::vector<std::string_view> seen;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (Result<void> applied = apply_setting(parts[i], device, seen); !applied) {
      return refuse("device '" + device.name + "': " + applied.error().message);
    }
  }
  return device;
}

// Two ports of one segment with one address cannot be told apart.
Result<void> check_distinct(std::span<const DeviceConfiguration> devices,
                            const DeviceConfiguration& added) {
  for (const DeviceConfiguration& other : devices) {
    if (other.name == added.name) {
      return refuse("device name " + in_quotes(added.name) + " stands twice: names must differ");
    }
    if (other.mac == added.mac) {
      return refuse("devices " + in_quotes(other.name) + " and " + in_quotes(added.name) +
                    " have the same MAC address: set another with mac=");
    }
    if (other.address == added.address) {
      return refuse("devices " + in_quotes(other.name) + " and " + in_quotes(added.name) +
                    " have the same IP address: set another with ip=");
    }
    if (!added.pci.empty() && other.pci == added.pci) {
      return refuse("devices " + in_quotes(other.name) + " and " + in_quotes(added.name) +
                    " have the same PCI address: set another with pci=");
    }
  }
  return {};
}

}  // namespace

std::uint64_t DeviceConfiguration::guid() const {
  // RFC 4291, appendix A: the universal/local bit is inverted, ff:fe stands in the middle.
  const std::array<std::uint8_t, 8> bytes = {
      static_cast<std::uint8_t>(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  std::uint64_t value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

Result<std::vector<DeviceConfiguration>> parse_devices(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  if (parts.size() > kDevices) {
    return refuse(std::to_string(parts.size()) + " devices: allowed are 1 to " +
                  std::to_string(kDevices));
  }
  std::vector<DeviceConfiguration> devices;
  for (const std::string_view part : parts) {
    Result<DeviceConfiguration> device = parse_device(part, devices.size());
    if (!device) return device.error();
    if (Result<void> distinct = check_distinct(devices, *device); !distinct) {
      return distinct.error();
    }
    device->addresses = {{link_local_of(*device), false}, {device->address, true}};
    devices.push_back(std::move(*device));
  }
  return devices;
}

Result<std::vector<DeviceConfiguration>> devices_from_environment() {
  const std::optional<std::string> text = environment("GDR_SOFT_DEVICES");
  Result<std::vector<DeviceConfiguration>> devices = parse_devices(text ? *text : "soft0,soft1");
  if (!devices) return refuse("GDR_SOFT_DEVICES: " + devices.error().message);
  add_interface_addresses(*devices, interface_addresses());
  return devices;
}

const Result<std::vector<DeviceConfiguration>>& devices_of_process() {
  // Never destroyed: threads use it until the process ends.
  static const auto* const kDevicesNow =
      new Result<std::vector<DeviceConfiguration>>(devices_from_environment());
  return *kDevicesNow;
}

}  // namespace gdr::rnic
