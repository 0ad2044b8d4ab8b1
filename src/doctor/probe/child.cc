#include "doctor/probe/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace gdr::doctor {
namespace {

// How long a child that has closed its output may take to end.
constexpr Nanoseconds kLastWords = 2 * kSecond;

// False: its end, or an error.
bool read_some(int fd, std::string& output, std::size_t most) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  output.append(buffer.data(), std::min(static_cast<std::size_t>(got), most - output.size()));
  return true;
}

// True: reaped.
bool reap(pid_t pid, int& status, Nanoseconds deadline) {
  for (;;) {
    const pid_t reaped = waitpid(pid, &status, WNOHANG);
    if (reaped == pid || (reaped < 0 && errno != EINTR)) return true;
    if (now() >= deadline) return false;
    usleep(1000);
  }
}

}  // namespace

Result<ChildEnd> read_child(pid_t pid, UniqueFd output, Nanoseconds limit, std::size_t most) {
  ChildEnd end;
  const Nanoseconds deadline = now() + limit;
  for (bool open = true; open;) {
    const Nanoseconds left = deadline - now();
    if (now() >= deadline) {
      end.timed_out = true;
      break;
    }
    pollfd wait{output.get(), POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(left / kMillisecond) + 1);
    if (ready > 0) open = read_some(output.get(), end.output, most);
  }
  output.reset();
  if (!end.timed_out && reap(pid, end.status, now() + kLastWords)) return end;
  end.timed_out = true;
  // The child leads a group of its own, with whatever it started.
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  // A driver may hold a process in the kernel, where no signal ends it: it is then left behind.
  reap(pid, end.status, now() + kLastWords);
  return end;
}

std::string status_text(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace gdr::doctor
