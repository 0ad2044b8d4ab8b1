// The IP header in front of a RoCEv2 packet, as programs see it (datagram_header.h) and as a
// capture shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gdr::rnic {

constexpr std::size_t kIpv4Bytes = 20, kIpv6Bytes = 40;
constexpr std::uint8_t kUdp = 17;

using Gid = std::span<const std::uint8_t, 16>;

// An IPv4 address as a GID has it: ::ffff:a.b.c.d.
bool is_ipv4_mapped(Gid gid);

struct IpHeader {
  Gid source, target;
  std::uint8_t traffic_class = 0, hop_limit = 0;
  std::uint16_t identification = 0;  // IPv4's
  std::size_t behind = 0;            // bytes of UDP header and what follows it
};

// IPv4's if the target is such an address, else IPv6's. How many bytes it has.
std::size_t write_ip_header(const IpHeader& header, std::span<std::uint8_t, kIpv6Bytes> to);

}  // namespace gdr::rnic
