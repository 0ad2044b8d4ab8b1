#include "rspreload/route.h"

#include <netinet/in.h>
#include <rdma/rsocket.h>

#include <cerrno>

#include "rspreload/fork_handshake.h"
#include "rspreload/options.h"
#include "rspreload/real.h"
#include "rspreload/watches.h"

namespace gdr::rspreload {
namespace {

bool has_port(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    return reinterpret_cast<const sockaddr_in6&>(address).sin6_port != 0;
  }
  return reinterpret_cast<const sockaddr_in&>(address).sin_port != 0;
}

}  // namespace

Route::Route(int fd, Touch touch, int flags) : held_(find(fd)) {
  if (!held_ || held_->stage.load() == Stage::kEventPoll) return;
  if (touch == Touch::kData && is_undecided(*held_)) {
    const bool may_wait = (flags & MSG_DONTWAIT) == 0 && !is_nonblocking(fd);
    const Handshake result = shake_hands(*held_, fd, may_wait);
    if (result == Handshake::kWaits) errno = EAGAIN;
    failed_ = result != Handshake::kDone;
  }
  rsocket_ = held_->rsocket.load();
}

bool Route::is_stream() const { return held_->type == SOCK_STREAM; }

bool become_plain(Connection& connection, int front) {
  const WatchLock lock(connection);
  const int before = errno;
  const int rsocket = connection.rsocket.exchange(-1);
  connection.stage.store(Stage::kPlain);
  if (rsocket < 0) return true;
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  auto* address = reinterpret_cast<sockaddr*>(&own);
  // A stream that only tried to connect has an address of the NIC that it tried.
  const bool is_bound = (connection.is_bound.load() || connection.type == SOCK_DGRAM) &&
                        rgetsockname(rsocket, address, &length) == 0 && has_port(own);
  // Only then is the port free.
  rclose(rsocket);
  if (!watch_again(connection, front)) return false;
  if (is_bound && real().bind(front, address, length) != 0) return false;
  errno = before;
  return true;
}

}  // namespace gdr::rspreload
