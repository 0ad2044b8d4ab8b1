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

// 32 bits at a time, as the table reads them: a wide load so soon would wait for all the stores
// under it, which costs more than the table does.
std::uint32_t add_udp(std::uint32_t state, std::byte* headers, std::size_t ip_bytes,
                      const Flow& flow, std::size_t udp_bytes) {
  std::byte* udp = headers + ip_bytes;
  store_be32(udp, std::uint32_t{flow.source_port} << 16 | flow.destination_port);
  store_be32(udp + 4, static_cast<std::uint32_t>(udp_bytes) << 16 | 0xffff);  // checksum
  return crc_table(state, headers, ip_bytes + kUdpBytes);
}

}  // namespace

bool is_ipv4(const Address& address) {
  return load_be64(address.data()) == 0 && load_be32(address.data() + 8) == 0xffff;
}

Icrc icrc_begin(const Flow& flow, std::uint16_t identification, std::size_t udp_payload) {
  std::byte headers[kIpv6Bytes + kUdpBytes];
  const std::size_t udp_bytes = kUdpBytes + udp_payload;
  if (is_ipv4(flow.source)) {
    // Version and header length, type of service; total length.
    store_be32(headers, 0x45ff'0000 | static_cast<std::uint16_t>(kIpv4Bytes + udp_bytes));
    // Identification; do not fragment.
    store_be32(headers + 4, std::uint32_t{identification} << 16 | 0x4000);
    // Time to live, protocol 17; checksum.
    store_be32(headers + 8, 0xff11'ffff);
    std::memcpy(headers + 12, flow.source.data() + 12, 4);
    std::memcpy(headers + 16, flow.destination.data() + 12, 4);
    return Icrc(add_udp(kAfterRouteHeader, headers, kIpv4Bytes, flow, udp_bytes));
  }
  // Version; traffic class and flow label.
  store_be32(headers, 0x6fff'ffff);
  // Payload length; next header 17, hop limit.
  store_be32(headers + 4, static_cast<std::uint32_t>(udp_bytes) << 16 | 0x11ff);
  std::memcpy(headers + 8, flow.source.data(), 16);
  std::memcpy(headers + 24, flow.destination.data(), 16);
  return Icrc(add_udp(kAfterRouteHeader, headers, kIpv6Bytes, flow, udp_bytes));
}

void Icrc::add_headers(std::span<const std::byte> headers) {
  constexpr std::size_t kMasked = 4;  // byte of the BTH
  if (headers.size() <= kMasked) return add(headers);
  // The state is added to the first bytes that follow it. So what turns the masked byte into ones
  // can be put there, and the headers need not be copied.
  const std::uint32_t before = crc_table(state_, headers.data(), kMasked);
  const std::uint32_t mask = ~std::to_integer<std::uint32_t>(headers[kMasked]) & 0xff;
  state_ = crc_update(before ^ mask, headers.data() + kMasked, headers.size() - kMasked);
}

void Icrc::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) state_ = crc_update(state_, bytes.data(), bytes.size());
}

std::uint32_t icrc_of(const Flow& flow, std::uint16_t identification,
                      std::span<const std::byte> without_icrc) {
  Icrc icrc = icrc_begin(flow, identification, without_icrc.size() + kIcrcBytes);
  icrc.add_headers(without_icrc);
  return icrc.value();
}

}  // namespace gdr::wire
