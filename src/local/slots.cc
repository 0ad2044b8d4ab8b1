#include "local/slots.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "base/clock.h"
#include "base/random.h"
#include "rnic/shared.h"

namespace gdr::local {
namespace {

struct Name {
  sockaddr_un address{};
  socklen_t length = 0;
};

Name name_of(std::uint32_t slot) {
  Name name;
  name.address.sun_family = AF_UNIX;
  // The first byte stays 0: an abstract name.
  const int written = std::snprintf(name.address.sun_path + 1, sizeof name.address.sun_path - 1,
                                    "gdrkit-rnic-%u-%u", geteuid(), slot);
  name.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + written);
  return name;
}

UniqueFd seqpacket_socket(int extra) {
  return UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | extra, 0));
}

}  // namespace

Result<Slot> claim_slot() {
  // From a random place on: a new process should not step into a dead one's slot at once.
  const auto first = static_cast<std::uint32_t>(random_u64() % (rnic::kSlots - 1));
  for (std::uint32_t i = 0; i < rnic::kSlots - 1; ++i) {
    const std::uint32_t number = 1 + (first + i) % (rnic::kSlots - 1);
    UniqueFd listener = seqpacket_socket(SOCK_NONBLOCK);
    if (!listener) return from_errno("socket");
    const Name name = name_of(number);
    if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&name.address), name.length) != 0) {
      if (errno == EADDRINUSE) continue;
      return from_errno("bind");
    }
    if (listen(listener.get(), 128) != 0) {
      return from_errno("listen");
    }
    return Slot{number, std::move(listener)};
  }
  return Error{ENOSPC, "1023 processes of this user already use the software RNIC"};
}

Result<UniqueFd> connect_slot(std::uint32_t number) {
  UniqueFd connection = seqpacket_socket(0);
  if (!connection) return from_errno("socket");
  // A process that is stopped does not accept; do not wait for it longer than this.
  const timeval patience{0, 300'000};
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const Nanoseconds end = now() + 300 * kMillisecond;
  const Name name = name_of(number);
  const auto* address = reinterpret_cast<const sockaddr*>(&name.address);
  int connected = 0;
  do {  // a signal's handler leaves it unconnected; a slot is not free for that
    connected = connect(connection.get(), address, name.length);
  } while (connected != 0 && errno == EINTR && now() < end);
  if (connected != 0) {
    return from_errno("connect");
  }
  if (Result<int> peer = same_user_peer(connection.get()); !peer) return peer.error();
  return connection;
}

Result<int> same_user_peer(int connection) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return from_errno("SO_PEERCRED");
  }
  if (credentials.uid != geteuid()) {
    return Error{EACCES, "the process at the other end is another user's"};
  }
  return static_cast<int>(credentials.pid);
}

}  // namespace gdr::local
