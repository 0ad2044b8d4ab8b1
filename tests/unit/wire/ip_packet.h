// A RoCEv2 packet as it is on the wire, from the IP header to the ICRC, for tests: taken apart, and
// its ICRC computed the slow way, over a copy of the very bytes with those masked that annex A17
// masks, a bit at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "wire/icrc.h"

namespace gdr::wire {

using Bytes = std::vector<std::byte>;

inline std::uint32_t slow_crc(std::uint32_t state, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    state ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ ((state & 1) != 0 ? 0xedb88320 : 0);
  }
  return state;
}

struct IpPacket {
  explicit IpPacket(std::span<const std::byte> ip_packet)
      : bytes(ip_packet.begin(), ip_packet.end()), ipv4(std::to_integer<int>(bytes[0]) >> 4 == 4) {}

  std::size_t ip_bytes() const { return ipv4 ? 20 : 40; }
  std::span<const std::byte> datagram() const {
    return std::span<const std::byte>(bytes).subspan(ip_bytes() + 8);
  }
  std::span<const std::byte> without_icrc() const {
    return datagram().first(datagram().size() - 4);
  }
  std::uint16_t identification() const {
    return ipv4 ? load_be16(bytes.data() + 4) : std::uint16_t{0};
  }
  std::uint32_t icrc() const {  // little-endian on the wire
    return __builtin_bswap32(load_be32(bytes.data() + bytes.size() - 4));
  }

  Flow flow() const {
    Flow flow{};
    const std::byte* source = bytes.data() + (ipv4 ? 12 : 8);
    if (ipv4) {
      flow.source[10] = flow.source[11] = flow.destination[10] = flow.destination[11] = 0xff;
      std::memcpy(flow.source.data() + 12, source, 4);
      std::memcpy(flow.destination.data() + 12, source + 4, 4);
    } else {
      std::memcpy(flow.source.data(), source, 16);
      std::memcpy(flow.destination.data(), source + 16, 16);
    }
    flow.source_port = load_be16(bytes.data() + ip_bytes());
    flow.destination_port = load_be16(bytes.data() + ip_bytes() + 2);
    return flow;
  }

  std::uint32_t slow_icrc() const {
    constexpr std::byte kOnes{0xff};
    Bytes masked(bytes.begin(), bytes.end() - 4);
    if (ipv4) {
      masked[1] = masked[8] = masked[10] = masked[11] = kOnes;
    } else {
      masked[0] |= std::byte{0x0f};
      masked[1] = masked[2] = masked[3] = masked[7] = kOnes;
    }
    masked[ip_bytes() + 6] = masked[ip_bytes() + 7] = kOnes;
    masked[ip_bytes() + 8 + 4] = kOnes;
    masked.insert(masked.begin(), 8, kOnes);
    return ~slow_crc(0xffff'ffff, masked);
  }

  Bytes bytes;
  bool ipv4;
};

}  // namespace gdr::wire
