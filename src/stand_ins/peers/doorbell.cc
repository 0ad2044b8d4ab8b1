#include "peers/doorbell.h"

#include <sys/socket.h>

namespace gdr::peers {
namespace {

constexpr int kMostTaken = 64;

bool has_option(int descriptor, int option, int expected) {
  int value = -1;
  socklen_t length = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 && value == expected;
}

}  // namespace

Result<Doorbell> Doorbell::make() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return from_errno("socketpair");
  }
  return Doorbell{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void Doorbell::empty() const {
  char ring = 0;
  for (int i = 0; i < kMostTaken; ++i) {
    if (recv(inner.get(), &ring, sizeof ring, MSG_DONTWAIT) < 0) return;
  }
}

bool is_doorbell(int outer) {
  return has_option(outer, SO_DOMAIN, AF_UNIX) && has_option(outer, SO_TYPE, SOCK_DGRAM);
}

void ring_doorbell(int outer) {
  const char ring = 0;
  [[maybe_unused]] const ssize_t sent =
      send(outer, &ring, sizeof ring, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace gdr::peers
