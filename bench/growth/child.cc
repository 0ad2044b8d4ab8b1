#include "child.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "../give_up.h"

namespace gdr::bench {
void Socket::put_bytes(const void* from, std::size_t size) const {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t done = send(descriptor_, at, size, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) give_up("the other process does not listen: {}", std::strerror(errno));
    at += done;
    size -= static_cast<std::size_t>(done);
  }
}

bool Socket::has_more() const {
  std::byte next;
  return recv(descriptor_, &next, sizeof next, MSG_PEEK) > 0;
}

void Socket::get_bytes(void* to, std::size_t size) const {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t done = recv(descriptor_, at, size, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) give_up("the other process ended");
    at += done;
    size -= static_cast<std::size_t>(done);
  }
}

}  // namespace gdr::bench
