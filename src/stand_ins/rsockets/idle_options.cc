#include "rsockets/idle_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace gdr::rsockets {
namespace {

struct IdleOption {
  int level, option;
  int value;  // of a new socket
};

constexpr IdleOption kIdleOptions[] = {
    {SOL_SOCKET, SO_BROADCAST, 0},
    {SOL_SOCKET, SO_BUSY_POLL, 0},
    {SOL_SOCKET, SO_DONTROUTE, 0},
    {SOL_SOCKET, SO_PRIORITY, 0},
    {SOL_SOCKET, SO_REUSEPORT, 0},
    {IPPROTO_TCP, TCP_CORK, 0},
    {IPPROTO_TCP, TCP_DEFER_ACCEPT, 0},
    {IPPROTO_TCP, TCP_FASTOPEN, 0},
    {IPPROTO_TCP, TCP_KEEPCNT, 9},
    {IPPROTO_TCP, TCP_KEEPINTVL, 75},
    {IPPROTO_TCP, TCP_LINGER2, 60},
    {IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0},
    {IPPROTO_TCP, TCP_QUICKACK, 1},
    {IPPROTO_TCP, TCP_SYNCNT, 6},
    {IPPROTO_TCP, TCP_USER_TIMEOUT, 0},
    {IPPROTO_TCP, TCP_WINDOW_CLAMP, 0},
    {IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 0},
    {IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_WANT},
    {IPPROTO_IP, IP_RECVERR, 0},
    {IPPROTO_IP, IP_TTL, 64},
    {IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_WANT},
    {IPPROTO_IPV6, IPV6_RECVERR, 0},
    {IPPROTO_IPV6, IPV6_TCLASS, 0},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS, 64},
};

const IdleOption* find(int level, int option) {
  const auto* const found = std::ranges::find_if(kIdleOptions, [&](const IdleOption& one) {
    return one.level == level && one.option == option;
  });
  return found == std::end(kIdleOptions) ? nullptr : found;
}

}  // namespace

int IdleOptions::set(int level, int option, int value) {
  if (find(level, option) == nullptr) return -ENOPROTOOPT;
  set_[{level, option}] = value;
  return 0;
}

std::optional<int> IdleOptions::get(int level, int option) const {
  if (const auto kept = set_.find({level, option}); kept != set_.end()) return kept->second;
  const IdleOption* known = find(level, option);
  return known != nullptr ? std::optional(known->value) : std::nullopt;
}

}  // namespace gdr::rsockets
