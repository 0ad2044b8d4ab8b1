// The RDMA IP CM service (InfiniBand specification annex A11): a service identifier holds the port
// space and the port, and the private data of a REQ or SIDR_REQ begins with both IP addresses.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "cm/message.h"

namespace gdr::cm {

// IPv4 addresses stand in the last four bytes, the rest zero.
struct IpHeader {
  bool v6 = false;
  std::uint16_t source_port = 0;
  std::array<std::uint8_t, 16> source{};
  std::array<std::uint8_t, 16> destination{};
};

inline constexpr std::size_t kIpHeaderBytes = 36;

constexpr std::uint64_t service_id(unsigned port_space, std::uint16_t port) {
  return static_cast<std::uint64_t>(port_space) << 16 | port;
}
constexpr std::uint16_t port_of(std::uint64_t id) { return static_cast<std::uint16_t>(id); }
constexpr unsigned port_space_of(std::uint64_t id) { return static_cast<unsigned>(id >> 16); }

inline void write_ip_header(const IpHeader& header, std::span<std::uint8_t, kIpHeaderBytes> to) {
  to[0] = 0;  // version of this header
  to[1] = header.v6 ? 0x60 : 0x40;
  store_be16(&to[2], header.source_port);
  std::memcpy(&to[4], header.source.data(), 16);
  std::memcpy(&to[20], header.destination.data(), 16);
}

// Nothing where the version is unknown.
inline std::optional<IpHeader> read_ip_header(std::span<const std::uint8_t, kIpHeaderBytes> from) {
  const unsigned version = from[1] >> 4;
  if (from[0] != 0 || (version != 4 && version != 6)) return std::nullopt;
  IpHeader header;
  header.v6 = version == 6;
  header.source_port = load_be16(&from[2]);
  std::memcpy(header.source.data(), &from[4], 16);
  std::memcpy(header.destination.data(), &from[20], 16);
  return header;
}

}  // namespace gdr::cm
