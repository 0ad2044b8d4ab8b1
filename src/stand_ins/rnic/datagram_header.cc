#include "rnic/datagram_header.h"

#include <algorithm>

namespace gdr::rnic {
namespace {

constexpr std::size_t kHeadersBehindIp = 8 + 12 + 8 + 4;  // UDP, BTH, DETH; ICRC

}  // namespace

void fill_network_header(const AddressVector& address, Gid source, Gid target, std::uint64_t bytes,
                         std::span<std::uint8_t, kGrhBytes> header) {
  const std::size_t written = write_ip_header({.source = source,
                                               .target = target,
                                               .traffic_class = address.traffic_class,
                                               .hop_limit = address.hop_limit,
                                               .behind = kHeadersBehindIp + bytes},
                                              header);
  // An IPv4 header is the last of the 40 bytes, behind zeroes (annex A17).
  std::rotate(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(written), header.end());
}

}  // namespace gdr::rnic
