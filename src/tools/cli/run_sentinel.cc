#include "cli/run_sentinel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace gdr::cli {
namespace {

constexpr Nanoseconds kSignalPatience = 50 * kMillisecond;
// `timeout` sends one to the process and the next to its group: they are one.
constexpr Nanoseconds kOneSignal = 200 * kMillisecond;

constexpr int kMostDescriptors = 1024;  // where the kernel cannot close a range

void close_all_but(int kept) {
  const bool closed = syscall(SYS_close_range, kept + 1, ~0U, 0) == 0;
  for (int fd = 0; fd < (closed ? kept : kMostDescriptors); ++fd) {
    if (fd != kept) close(fd);
  }
}

// The words of the command line lie in each process's own memory; /proc/self/stat says where.
void forget_command_line() {
  constexpr int kArgumentsBegin = 48, kAfterName = 3;  // its fields, counted from 1
  char text[1024];
  const UniqueFd file(open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  const ssize_t length = read(file.get(), text, sizeof text - 1);
  if (length <= 0) return;
  text[length] = '\0';
  char* at = std::strrchr(text, ')');  // a name may have spaces
  for (int field = kAfterName; at != nullptr && field <= kArgumentsBegin; ++field) {
    at = std::strchr(at + 1, ' ');
  }
  if (at == nullptr) return;
  const std::uintptr_t begin = std::strtoull(at, &at, 10);
  const std::uintptr_t end = std::strtoull(at, nullptr, 10);
  if (begin != 0 && begin < end) std::memset(reinterpret_cast<void*>(begin), 0, end - begin);
}

// Keeps no descriptor but that of its reports: who reads the program's output must not wait for it.
[[noreturn]] void watch(int reports, pid_t parent) {
  // Who signals by name or command line (pkill, pgrep -f) means gdr run, and not this.
  prctl(PR_SET_NAME, "sentinel");
  forget_command_line();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  close_all_but(reports);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  for (;;) {
    const int signal = sigwaitinfo(&all, nullptr);
    if (signal <= 0) continue;
    const auto number = static_cast<unsigned char>(signal);
    if (write(reports, &number, sizeof number) < 0) _exit(0);
  }
}

}  // namespace

Sentinel::Sentinel() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  reports_.reset(ends[0]);
  const UniqueFd write_end(ends[1]);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) watch(write_end.get(), parent);
}

Sentinel::~Sentinel() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Sentinel::read_reports(Nanoseconds patience) {
  pollfd wait{reports_.get(), POLLIN, 0};
  if (poll(&wait, 1, static_cast<int>(patience / kMillisecond)) <= 0) return;
  unsigned char number = 0;
  while (read(reports_.get(), &number, sizeof number) == sizeof number) {
    if (number < kSignals) had_[number] = now();
  }
}

bool Sentinel::has_had(int signal) {
  if (pid_ <= 0 || signal <= 0 || signal >= kSignals) return false;
  const auto recently = [&] {
    const Nanoseconds then = had_[static_cast<std::size_t>(signal)];
    return then != 0 && now() - then < kOneSignal;
  };
  read_reports(0);
  for (const Nanoseconds end = now() + kSignalPatience; !recently();) {
    const Nanoseconds time = now();
    if (time + kMillisecond > end) return false;
    read_reports(end - time);
  }
  return true;
}

}  // namespace gdr::cli
