// The GIDs of a device's port, in the order of a ConnectX: for each address of the port one entry
// of RoCE v1 and one of v2. First the link-local address, then the device's own, then further ones
// of the interface that carries the device's own.
//
//   const Gid16* gid = gid_at(configuration, 3);   // the own address, RoCE v2; null: no such entry
//   std::optional<std::uint32_t> index = gid_index_of(configuration, *gid, GidType::kRoceV2);
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/interface_addresses.h"
#include "rnic/device_table.h"
#include "rnic/ip_header.h"
#include "rnic/shared.h"

namespace gdr::rnic {

enum class GidType : std::uint32_t { kRoceV1, kRoceV2 };
constexpr std::uint32_t kGidTypes = 2;

// What a port's table has room for, as a ConnectX's; the entries from gid_count() on are empty.
constexpr std::uint32_t kGidTable = 256;
static_assert(kGidTypes * kAddresses <= kGidTable);

inline std::uint32_t gid_count(const DeviceConfiguration& device) {
  return kGidTypes * static_cast<std::uint32_t>(device.addresses.size());
}
constexpr std::uint32_t address_of_gid(std::uint32_t index) { return index / kGidTypes; }
constexpr GidType type_of_gid(std::uint32_t index) {
  return static_cast<GidType>(index % kGidTypes);
}

const std::array<std::uint8_t, 16>* gid_at(const DeviceConfiguration& device, std::uint32_t index);
std::optional<std::uint32_t> gid_index_of(const DeviceConfiguration& device, Gid gid, GidType type);

// fe80::/64 and the EUI-64 of the MAC address (RFC 4291).
std::array<std::uint8_t, 16> link_local_of(const DeviceConfiguration& device);
bool is_link_local(Gid gid);

// Gives each device the addresses of the interface that has its own. An interface's addresses are
// the first such device's: two ports with one address could not be told apart.
void add_interface_addresses(std::span<DeviceConfiguration> devices,
                             std::span<const InterfaceAddress> present);

// --- In a segment, which another process may change at any time.

// Which of its device's addresses that is.
std::optional<std::uint32_t> find_address(const SharedDevice& device, Gid gid);
// Whether any device of the segment's process has it.
bool has_address(const SegmentHeader& header, Gid gid);
// The address that packets to it carry: itself or, if no interface has it, its device's own.
// Nothing: no device of that process has it.
std::optional<std::array<std::uint8_t, 16>> carried_as(const SegmentHeader& header, Gid gid);

}  // namespace gdr::rnic
