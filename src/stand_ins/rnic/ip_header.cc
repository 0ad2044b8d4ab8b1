#include "rnic/ip_header.h"

#include <algorithm>
#include <cstring>

#include "base/internet_checksum.h"

namespace gdr::rnic {
namespace {

constexpr std::uint16_t kDontFragment = 0x4000;

void write_ipv4(const IpHeader& header, std::span<std::uint8_t> ip) {
  ip[0] = 0x45;
  ip[1] = header.traffic_class;
  store_be16(&ip[2], static_cast<std::uint16_t>(kIpv4Bytes + header.behind));
  store_be16(&ip[4], header.identification);
  store_be16(&ip[6], kDontFragment);
  ip[8] = header.hop_limit;
  ip[9] = kUdp;
  // IPv4 addresses sit in the last four bytes of a mapped GID.
  std::memcpy(&ip[12], &header.source[12], 4);
  std::memcpy(&ip[16], &header.target[12], 4);
  store_be16(&ip[10], internet_checksum(std::as_bytes(ip)));
}

void write_ipv6(const IpHeader& header, std::span<std::uint8_t> ip) {
  store_be32(&ip[0], 6u << 28 | std::uint32_t{header.traffic_class} << 20);
  store_be16(&ip[4], static_cast<std::uint16_t>(header.behind));
  ip[6] = kUdp;
  ip[7] = header.hop_limit;
  std::memcpy(&ip[8], header.source.data(), header.source.size());
  std::memcpy(&ip[24], header.target.data(), header.target.size());
}

}  // namespace

bool is_ipv4_mapped(Gid gid) {
  constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(std::begin(kPrefix), std::end(kPrefix), gid.begin());
}

std::size_t write_ip_header(const IpHeader& header, std::span<std::uint8_t, kIpv6Bytes> to) {
  std::fill(to.begin(), to.end(), std::uint8_t{0});
  if (is_ipv4_mapped(header.target)) {
    write_ipv4(header, to.first<kIpv4Bytes>());
    return kIpv4Bytes;
  }
  write_ipv6(header, to);
  return kIpv6Bytes;
}

}  // namespace gdr::rnic
