#include "proof/channel.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

namespace gdr::proof {
namespace {

Error failed(const char* what) { return {errno, std::string(what) + ": " + strerror(errno)}; }

// Waits until the descriptor can be read; a signal in between costs no more than its own time.
Result<void> wait_readable(int fd, Nanoseconds timeout) {
  const Nanoseconds deadline = now() + timeout;
  for (;;) {
    int milliseconds = -1;
    if (timeout > 0) {
      const Nanoseconds time = now();
      if (time >= deadline) return Error{ETIMEDOUT, "no answer"};
      milliseconds = static_cast<int>((deadline - time) / kMillisecond) + 1;
    }
    pollfd entry{fd, POLLIN, 0};
    const int ready = poll(&entry, 1, milliseconds);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return failed("poll");
  }
}

}  // namespace

Result<std::array<UniqueFd, 2>> Channel::pair() {
  int fds[2];
  // SEQPACKET keeps messages whole: what is read is what was sent, or the end.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) return failed("socketpair");
  return std::array<UniqueFd, 2>{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Result<void> Channel::send(const process::Bytes& message) {
  if (message.size() > kLargestMessage) return Error{EMSGSIZE, "message too long"};
  while (::send(fd_.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return failed("send");
  }
  return {};
}

Result<process::Bytes> Channel::receive(Nanoseconds timeout) {
  if (Result<void> ready = wait_readable(fd_.get(), timeout); !ready) return ready.error();
  process::Bytes message(kLargestMessage);
  ssize_t size = 0;
  do {
    size = recv(fd_.get(), message.data(), message.size(), MSG_TRUNC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return failed("recv");
  if (size == 0) return Error{ECONNRESET, "the other end is gone"};
  if (static_cast<std::size_t>(size) > message.size()) return Error{EMSGSIZE, "message too long"};
  message.resize(static_cast<std::size_t>(size));
  return message;
}

}  // namespace gdr::proof
