#include "rnic/gids.h"

#include <algorithm>
#include <cstring>

namespace gdr::rnic {
namespace {

using Address = std::array<std::uint8_t, 16>;

constexpr std::size_t kInterfaceIdAt = 8;

const InterfaceAddress* find(std::span<const InterfaceAddress> present, const Address& address) {
  const auto entry = std::ranges::find(present, address, &InterfaceAddress::address);
  return entry == present.end() ? nullptr : &*entry;
}

bool is_own(std::span<const DeviceConfiguration> devices, const Address& address) {
  return std::ranges::find(devices, address, &DeviceConfiguration::address) != devices.end();
}

void add_addresses_of(std::string_view interface, std::span<const InterfaceAddress> present,
                      std::span<const DeviceConfiguration> devices, DeviceConfiguration& device) {
  bool has_link_local = is_link_local(device.address);
  for (const InterfaceAddress& entry : present) {
    if (entry.interface != interface || is_own(devices, entry.address)) continue;
    if (!has_link_local && is_link_local(entry.address)) {
      device.addresses.front() = {entry.address, true};
      has_link_local = true;
    } else if (device.addresses.size() < kAddresses) {
      device.addresses.push_back({entry.address, true});
    }
  }
}

std::uint32_t count_of(const SegmentHeader& header) {
  return std::min(read_once(header.device_count), kDevices);
}

}  // namespace

const Address* gid_at(const DeviceConfiguration& device, std::uint32_t index) {
  return index < gid_count(device) ? &device.addresses[address_of_gid(index)].gid : nullptr;
}

std::optional<std::uint32_t> gid_index_of(const DeviceConfiguration& device, Gid gid,
                                          GidType type) {
  for (std::uint32_t i = 0; i < device.addresses.size(); ++i) {
    if (std::ranges::equal(device.addresses[i].gid, gid)) {
      return kGidTypes * i + static_cast<std::uint32_t>(type);
    }
  }
  return std::nullopt;
}

Address link_local_of(const DeviceConfiguration& device) {
  Address address = {0xfe, 0x80};
  const std::uint64_t guid = device.guid();
  std::memcpy(&address[kInterfaceIdAt], &guid, sizeof guid);
  return address;
}

bool is_link_local(Gid gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

void add_interface_addresses(std::span<DeviceConfiguration> devices,
                             std::span<const InterfaceAddress> present) {
  std::vector<std::string_view> given;
  for (DeviceConfiguration& device : devices) {
    const InterfaceAddress* own = find(present, device.address);
    // The loopback interface has addresses of everybody, and none that is link-local.
    if (own == nullptr || own->is_loopback || std::ranges::count(given, own->interface) != 0) {
      continue;
    }
    given.push_back(own->interface);
    add_addresses_of(own->interface, present, devices, device);
  }
}

std::optional<std::uint32_t> find_address(const SharedDevice& device, Gid gid) {
  const std::uint32_t count = std::min(read_once(device.address_count), kAddresses);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (std::memcmp(device.addresses[i], gid.data(), gid.size()) == 0) return i;
  }
  return std::nullopt;
}

bool has_address(const SegmentHeader& header, Gid gid) {
  return std::any_of(
      header.devices, header.devices + count_of(header),
      [&](const SharedDevice& device) { return find_address(device, gid).has_value(); });
}

std::optional<Address> carried_as(const SegmentHeader& header, Gid gid) {
  for (std::uint32_t i = 0; i < count_of(header); ++i) {
    const SharedDevice& device = header.devices[i];
    const std::optional<std::uint32_t> found = find_address(device, gid);
    if (!found) continue;
    const bool itself = (read_once(device.carried) >> *found & 1) != 0;
    Address address;
    std::memcpy(address.data(), device.addresses[itself ? *found : kOwnAddress], address.size());
    return address;
  }
  return std::nullopt;
}

}  // namespace gdr::rnic
