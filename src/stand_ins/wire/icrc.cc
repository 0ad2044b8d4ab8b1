#include "wire/icrc.h"

#include <cstring>

#include "base/bytes.h"
#include "wire/crc.h"
#include "wire/opcode.h"

namespace gdr::wire {
namespace {

constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kIpv6Bytes = 40;
constexpr std::size_t kUdpBytes = 8;

// A17.3.3: in place of InfiniBand's local route header stand eight bytes of ones, the same for
// every packet.
constexpr std::uint32_t kAfterRouteHeader = [] {
  std::uint32_t state = ~std::uint32_t{0};
  for (int byte = 0; byte < 8; ++byte) state = times_x8(state ^ 0xff);
  return state;
}();
static_assert(kAfterRouteHeader == 0xdebb'20e3);

// Two words of the wire in one register, the first in the lower half.
constexpr std::uint64_t words(std::uint32_t first, std::uint32_t second) {
  return __builtin_bswap32(first) | std::uint64_t{__builtin_bswap32(second)} << 32;
}

// Replaces a UDP header: its ports, its length, and a checksum of ones.
struct Udp {
  std::uint32_t ports, length;
};

Udp udp_of(const Flow& flow, std::size_t udp_bytes) {
  return {std::uint32_t{flow.source_port} << 16 | flow.destination_port,
          static_cast<std::uint32_t>(udp_bytes) << 16 | 0xffff};
}

// `behind`: the first word of the BTH, which makes 32 bytes of the headers before it.
std::uint32_t of_ipv4(const Flow& flow, std::uint16_t identification, std::size_t udp_bytes,
                      std::uint32_t behind) {
  // Version and header length, type of service; total length.
  const std::uint32_t first = 0x45ff'0000 | static_cast<std::uint16_t>(kIpv4Bytes + udp_bytes);
  // Identification; do not fragment.
  const std::uint32_t second = std::uint32_t{identification} << 16 | 0x4000;
  // Time to live, protocol 17; checksum.
  constexpr std::uint32_t kThird = 0xff11'ffff;
  const std::uint32_t source = load_be32(flow.source.data() + 12);
  const std::uint32_t destination = load_be32(flow.destination.data() + 12);
  const Udp udp = udp_of(flow, udp_bytes);
  // The state is added to the first word.
  const std::uint32_t first_with_state = first ^ __builtin_bswap32(kAfterRouteHeader);
  return crc_of_32(words(first_with_state, second), words(kThird, source),
                   words(destination, udp.ports), words(udp.length, behind));
}

std::uint32_t of_ipv6(const Flow& flow, std::size_t udp_bytes) {
  std::byte headers[kIpv6Bytes + kUdpBytes];
  // Version; traffic class and flow label.
  store_be32(headers, 0x6fff'ffff);
  // Payload length; next header 17, hop limit.
  store_be32(headers + 4, static_cast<std::uint32_t>(udp_bytes) << 16 | 0x11ff);
  std::memcpy(headers + 8, flow.source.data(), 16);
  std::memcpy(headers + 24, flow.destination.data(), 16);
  const Udp udp = udp_of(flow, udp_bytes);
  store_be32(headers + kIpv6Bytes, udp.ports);
  store_be32(headers + kIpv6Bytes + 4, udp.length);
  // Not by wide loads: so soon they would wait for all the stores under them, which costs more than
  // the table does.
  return crc_table(kAfterRouteHeader, headers, sizeof headers);
}

}  // namespace

Icrc icrc_begin(const Flow& flow, std::uint16_t identification, std::size_t udp_payload,
                std::span<const std::byte> headers) {
  constexpr std::size_t kMasked = 4;  // byte of the BTH
  const std::size_t udp_bytes = kUdpBytes + udp_payload;
  const std::uint32_t before =
      is_ipv4(flow.source) ? of_ipv4(flow, identification, udp_bytes, load_be32(headers.data()))
                           : crc_table(of_ipv6(flow, udp_bytes), headers.data(), kMasked);
  // The state is added to the first bytes that follow it. So what turns the masked byte into ones
  // can be put there, and the headers need not be copied.
  const std::uint32_t mask = ~std::to_integer<std::uint32_t>(headers[kMasked]) & 0xff;
  return Icrc(crc_update(before ^ mask, headers.data() + kMasked, headers.size() - kMasked));
}

void Icrc::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) state_ = crc_update(state_, bytes.data(), bytes.size());
}

std::uint32_t icrc_of(const Flow& flow, std::uint16_t identification,
                      std::span<const std::byte> without_icrc) {
  return icrc_begin(flow, identification, without_icrc.size() + kIcrcBytes, without_icrc).value();
}

}  // namespace gdr::wire
