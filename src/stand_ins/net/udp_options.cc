#include "net/udp_options.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace gdr::net {
namespace {

// What is asked for; the kernel grants up to net.core.rmem_max, or all of it to an administrator.
constexpr int kSocketBuffer = 8 << 20;

}  // namespace

bool set_option(int socket, int level, int name, int value) {
  return setsockopt(socket, level, name, &value, sizeof value) == 0;
}

bool set_packet_options(int socket, bool ipv4) {
  const auto ask_for_room = [&](int forced, int plain) {
    if (!set_option(socket, SOL_SOCKET, forced, kSocketBuffer)) {
      set_option(socket, SOL_SOCKET, plain, kSocketBuffer);
    }
  };
  ask_for_room(SO_RCVBUFFORCE, SO_RCVBUF);
  ask_for_room(SO_SNDBUFFORCE, SO_SNDBUF);
  return ipv4 ? set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) &&
                    set_option(socket, IPPROTO_IP, IP_TOS, kEcnCapable)
              : set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
                    set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
                    set_option(socket, IPPROTO_IPV6, IPV6_TCLASS, kEcnCapable);
}

}  // namespace gdr::net
