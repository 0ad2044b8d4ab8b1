#include "fabric/rendezvous/member_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/clock.h"
#include "process/conversation.h"
#include "process/start.h"

namespace gdr::fabric {
namespace {

constexpr Nanoseconds kToEnd = 5 * kSecond;

bool write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t put = write(fd, bytes, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) {
      pollfd entry{fd, POLLOUT, 0};
      poll(&entry, 1, -1);
      continue;
    }
    if (put <= 0) return false;
    bytes += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

// Copies what is there. False: the end of it, or nobody takes it.
bool carry(int from, int to) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(from, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  return got > 0 && write_all(to, buffer.data(), static_cast<std::size_t>(got));
}

// Between standard input and output, and the socket, until `member` has closed its end.
int relay(int socket, pid_t member) {
  signal(SIGPIPE, SIG_IGN);
  bool has_input = true;
  Nanoseconds deadline = 0;  // once the collector is gone
  for (;;) {
    std::array<pollfd, 2> entries{{{socket, POLLIN, 0}, {has_input ? 0 : -1, POLLIN, 0}}};
    poll(entries.data(), entries.size(), has_input ? -1 : 100);
    if (entries[0].revents != 0 && !carry(socket, STDOUT_FILENO)) return 0;
    if (has_input && entries[1].revents != 0 && !carry(STDIN_FILENO, socket)) {
      has_input = false;
      shutdown(socket, SHUT_WR);
      deadline = now() + kToEnd;
    }
    if (has_input || now() < deadline) continue;
    // The member may have ended meanwhile, and its number may be another process's.
    if (getppid() == member) kill(member, SIGKILL);
    return 0;
  }
}

// Standard input and output are one socket.
bool is_one_socket() {
  struct stat input {
  }, output{};
  return fstat(STDIN_FILENO, &input) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
         S_ISSOCK(input.st_mode) && input.st_dev == output.st_dev && input.st_ino == output.st_ino;
}

Result<UniqueFd> socket_of_relay() {
  Result<std::array<UniqueFd, 2>> sockets = process::Connection::pair();
  if (!sockets) return sockets.error();
  auto& [mine, theirs] = *sockets;
  process::Start start;
  start.output = STDOUT_FILENO;
  start.ends_with_parent = false;  // it carries what the member said last
  start.leads_group = true;
  const pid_t member = getpid();
  const int its = theirs.get(), not_its = mine.get();
  const Result<pid_t> pid = process::begin(start, [its, not_its, member] {
    close(not_its);
    return relay(its, member);
  });
  if (!pid) return pid.error();
  return std::move(mine);
}

}  // namespace

Result<UniqueFd> take_member_socket() {
  Result<UniqueFd> socket =
      is_one_socket()
          ? Result<UniqueFd>(UniqueFd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)))
          : socket_of_relay();
  if (!socket) return socket.error();
  if (!*socket) return from_errno("standard input");
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing || dup2(nothing.get(), STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return from_errno("standard input and output");
  }
  if (!write_all(socket->get(), kMemberGreeting.data(), kMemberGreeting.size())) {
    return from_errno("whoever started this member is gone");
  }
  return socket;
}

}  // namespace gdr::fabric
