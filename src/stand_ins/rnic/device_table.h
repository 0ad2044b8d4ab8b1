// The devices of the software NIC: `soft0` and `soft1`, or what GDR_SOFT_DEVICES says.
//
//   GDR_SOFT_DEVICES=mlx5_0,mlx5_3                       names; the rest by default
//   GDR_SOFT_DEVICES='soft0/mac=02:00:00:00:00:01/ip=10.0.0.1/speed=200,soft1'
//   GDR_SOFT_DEVICES='soft0/pci=0000:17:00.0'            its place in the PCI tree
//
// Every device is one port of one Ethernet segment: two devices are a cable, more are a switch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gdr::rnic {

// An address of a device's port, which two of its GIDs have.
struct PortAddress {
  std::array<std::uint8_t, 16> gid{};
  bool is_carried = false;  // an interface has it: packets to it travel. Else within the host only
};

struct DeviceConfiguration {
  std::string name;                   // as in /sys/class/infiniband: letters, digits, '_', '-', '.'
  std::array<std::uint8_t, 6> mac{};  // unicast
  std::array<std::uint8_t, 16> address{};  // IPv6, or IPv4 as ::ffff:a.b.c.d
  bool address_is_given = false;           // by ip=
  std::uint32_t gigabits = 100;            // nominal: 10, 25, 40, 50, 100, 200 or 400
  // "0000:17:00.0", of a PCI function that is to be shown (src/stand_ins/presence); empty: none.
  std::string pci;
  // At least the link-local one and `address`, in this order: see gids.h.
  std::vector<PortAddress> addresses;

  // EUI-64 of the MAC, in network order as an integer holds it: ibv_get_device_guid's convention.
  std::uint64_t guid() const;
};

// EINVAL with one line that names the part at fault and what is allowed.
Result<std::vector<DeviceConfiguration>> parse_devices(std::string_view text);

// The devices of GDR_SOFT_DEVICES, or the two default devices, with the addresses of their
// interfaces.
Result<std::vector<DeviceConfiguration>> devices_from_environment();
// The same for all who ask in this process: the first answer.
const Result<std::vector<DeviceConfiguration>>& devices_of_process();

}  // namespace gdr::rnic
