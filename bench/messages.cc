#include "messages.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "give_up.h"

namespace gdr::bench {

void send_struct(int socket, const void* from, std::size_t size) {
  if (send(socket, from, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
    give_up("the other process does not listen: {}", std::strerror(errno));
  }
}

void receive_struct(int socket, void* to, std::size_t size) {
  ssize_t got = -1;
  do {
    got = recv(socket, to, size, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(size)) {
    give_up("the other process ended: {} of {} bytes of a message came", got, size);
  }
}

}  // namespace gdr::bench
