#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "../give_up.h"

namespace gdr::bench {
namespace {

// Without its child the parent would poll for ever.
extern "C" void on_child_end(int) {
  constexpr char kLine[] = "bench_growth: the other process ended\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  _exit(1);
}

}  // namespace

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

Child::Child(const char* role) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    give_up("socketpair: {}", std::strerror(errno));
  }
  const std::string socket = std::to_string(ends[1]);
  const pid_t parent = getpid();
  signal(SIGCHLD, on_child_end);
  pid_ = fork();
  if (pid_ < 0) give_up("fork: {}", std::strerror(errno));
  if (pid_ == 0) {
    // Nothing outlives the parent, however it ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    fcntl(ends[1], F_SETFD, 0);
    execl("/proc/self/exe", "bench_growth", role, socket.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  socket_ = Socket(ends[0]);
}

Child::~Child() {
  signal(SIGCHLD, SIG_DFL);
  close(socket_.descriptor());
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace gdr::bench
