#include "proof/frame.h"

#include <algorithm>

#include "base/internet_checksum.h"

namespace gdr::proof {
namespace {

constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
constexpr std::uint8_t kVersionAndLength = 0x45;
constexpr std::uint16_t kDontFragment = 0x4000;
constexpr std::uint8_t kTimeToLive = 64;
constexpr std::uint8_t kUdp = 17;

}  // namespace

process::Bytes build_frame(const FrameAddress& address, std::span<const std::byte> payload) {
  process::Bytes frame(kFrameHeaders + payload.size());
  std::byte* ethernet = frame.data();
  std::transform(address.destination_mac.begin(), address.destination_mac.end(), ethernet,
                 [](std::uint8_t b) { return std::byte{b}; });
  std::transform(address.source_mac.begin(), address.source_mac.end(), ethernet + 6,
                 [](std::uint8_t b) { return std::byte{b}; });
  store_be16(ethernet + 12, kEtherTypeIpv4);

  std::byte* ip = ethernet + 14;
  ip[0] = std::byte{kVersionAndLength};
  store_be16(ip + 2, static_cast<std::uint16_t>(28 + payload.size()));
  store_be16(ip + 6, kDontFragment);
  ip[8] = std::byte{kTimeToLive};
  ip[9] = std::byte{kUdp};
  store_be32(ip + 12, address.source_ipv4);
  store_be32(ip + 16, address.destination_ipv4);
  store_be16(ip + 10, internet_checksum({ip, 20}));

  std::byte* udp = ip + 20;
  const auto udp_length = static_cast<std::uint16_t>(8 + payload.size());
  store_be16(udp, address.source_port);
  store_be16(udp + 2, address.destination_port);
  store_be16(udp + 4, udp_length);
  std::copy(payload.begin(), payload.end(), udp + 8);
  // Over a pseudo header (RFC 768): addresses, protocol, length. 0 would mean "none".
  const std::uint64_t pseudo = kUdp + udp_length + sum_words({ip + 12, 8});
  const std::uint16_t checksum = internet_checksum({udp, udp_length}, pseudo);
  store_be16(udp + 6, checksum == 0 ? std::uint16_t{0xffff} : checksum);
  return frame;
}

}  // namespace gdr::proof
