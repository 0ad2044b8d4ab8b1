#include "rnic/datagram_header.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace gdr::rnic {
namespace {

constexpr std::size_t kIpv4At = 20;  // of the 40 bytes
constexpr std::uint32_t kIpv4Bytes = 20;
constexpr std::uint32_t kHeadersBehindIp = 8 + 12 + 8 + 4;  // UDP, BTH, DETH; ICRC
constexpr std::uint8_t kUdp = 17;

std::uint16_t header_checksum(const std::uint8_t* header) {
  std::uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += load_be16(header + i);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void fill_ipv4(const AddressVector& address, const std::uint8_t* source, const std::uint8_t* target,
               std::uint64_t bytes, std::uint8_t* ip) {
  ip[0] = 0x45;
  ip[1] = address.traffic_class;
  store_be16(ip + 2, static_cast<std::uint16_t>(kIpv4Bytes + kHeadersBehindIp + bytes));
  store_be16(ip + 6, 0x4000);  // do not fragment
  ip[8] = address.hop_limit;
  ip[9] = kUdp;
  // IPv4 addresses sit in the last four bytes of a mapped GID.
  std::memcpy(ip + 12, source + 12, 4);
  std::memcpy(ip + 16, target + 12, 4);
  store_be16(ip + 10, header_checksum(ip));
}

void fill_ipv6(const AddressVector& address, const std::uint8_t* source, const std::uint8_t* target,
               std::uint64_t bytes, std::uint8_t* ip) {
  store_be32(ip, 6u << 28 | std::uint32_t{address.traffic_class} << 20);
  store_be16(ip + 4, static_cast<std::uint16_t>(kHeadersBehindIp + bytes));
  ip[6] = kUdp;
  ip[7] = address.hop_limit;
  std::memcpy(ip + 8, source, 16);
  std::memcpy(ip + 24, target, 16);
}

}  // namespace

bool is_ipv4_mapped(Gid gid) {
  constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(std::begin(kPrefix), std::end(kPrefix), gid.begin());
}

void fill_network_header(const AddressVector& address, Gid source, Gid target, std::uint64_t bytes,
                         std::span<std::uint8_t, kGrhBytes> header) {
  std::memset(header.data(), 0, header.size());
  if (is_ipv4_mapped(target)) {
    fill_ipv4(address, source.data(), target.data(), bytes, header.data() + kIpv4At);
  } else {
    fill_ipv6(address, source.data(), target.data(), bytes, header.data());
  }
}

}  // namespace gdr::rnic
