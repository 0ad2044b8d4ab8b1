#include "perf/destination.h"

#include <arpa/inet.h>

#include <algorithm>

namespace gdr::perf {
namespace {

using Gid = std::array<std::uint8_t, 16>;

bool is_ipv4(const Gid& gid) {
  constexpr Gid kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kMapped.begin(), kMapped.begin() + 12, gid.begin());
}

// Multicast groups of IPv6 and InfiniBand; of IPv4 those, what is reserved, and "everybody here".
bool is_of_one_port(const Gid& gid) {
  if (gid[0] == 0xff || gid == Gid{}) return false;
  return !is_ipv4(gid) || (gid[12] != 0 && gid[12] < 224);
}

}  // namespace

Result<Destination> destination_of(std::size_t port, bool ethernet, std::uint16_t lid,
                                   const Gid& gid, bool global) {
  constexpr std::uint16_t kFirstMulticast = 0xc000;  // LID: InfiniBand 1, 4.1.3
  Destination to;
  to.port = port;
  to.global = global;
  if (global) to.gid = gid;
  if (!ethernet) to.lid = lid;
  if (ethernet && !global) return Error{EINVAL, "an Ethernet destination needs a GID"};
  if (global && !is_of_one_port(gid)) {
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, gid.data(), text, sizeof text);
    return Error{EINVAL, std::string("the GID ") + text + " is not the address of a single port"};
  }
  if (!ethernet && (lid == 0 || lid >= kFirstMulticast)) {
    return Error{EINVAL, "the LID " + std::to_string(lid) + " is not the address of a single port"};
  }
  return to;
}

}  // namespace gdr::perf
