#include "cli/run_supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "base/unique_fd.h"
#include "cli/run_sentinel.h"

namespace gdr::cli {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};
constexpr int kFirstTickMs = 10, kLastTickMs = 100;
constexpr std::size_t kMostErrorWords = 1024;

// What the child could not become: errno and words. Nothing comes where it has.
Error read_error(int fd) {
  Error error{0, ""};
  char words[kMostErrorWords];
  if (read(fd, &error.code, sizeof error.code) != sizeof error.code) return Error{0, ""};
  const ssize_t got = read(fd, words, sizeof words);
  if (got > 0) error.message.assign(words, static_cast<std::size_t>(got));
  return error;
}

[[noreturn]] void be_child(const std::function<Error()>& become, const sigset_t& mask, pid_t parent,
                           int report) {
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(128 + SIGKILL);  // it has just died
  const Error error = become();
  const std::size_t length = std::min(error.message.size(), kMostErrorWords);
  if (write(report, &error.code, sizeof error.code) < 0 ||
      write(report, error.message.data(), length) < 0) {
    _exit(126);
  }
  _exit(126);
}

void pass_signals_on(int fd, pid_t child, Sentinel& sentinel) {
  signalfd_siginfo signal;
  while (read(fd, &signal, sizeof signal) == sizeof signal) {
    // A terminal sends its signals to the whole group: the program has had this one.
    const bool from_terminal = signal.ssi_code == SI_KERNEL;
    const auto number = static_cast<int>(signal.ssi_signo);
    // A program that has left the group (setsid, an interactive shell) has not had its signals.
    const bool in_group = getpgid(child) == getpgrp();
    if (number == SIGCHLD || from_terminal || (in_group && sentinel.has_had(number))) continue;
    kill(child, number);
  }
}

// Its status once it has ended. Where it has stopped, this process stops as well, for whoever
// started it to see; what lets it go on is passed on.
std::optional<int> follow(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
    if (!WIFSTOPPED(status)) return status;
    raise(SIGSTOP);
    kill(child, SIGCONT);
  }
  return std::nullopt;
}

int wait_for(pid_t child, int signals, Sentinel& sentinel,
             const std::function<void(pid_t)>& on_tick) {
  for (int pause = 0;;) {
    if (const std::optional<int> status = follow(child)) return *status;
    pollfd wait{signals, POLLIN, 0};
    if (poll(&wait, 1, pause) == 0) {
      on_tick(child);
      pause = std::clamp(2 * pause, kFirstTickMs, kLastTickMs);
    }
    pass_signals_on(signals, child, sentinel);
  }
}

}  // namespace

Result<int> supervise(const std::function<Error()>& become,
                      const std::function<void(pid_t)>& on_tick) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return from_errno("a pipe");
  UniqueFd report(ends[0]), child_report(ends[1]);
  sigset_t set, before;
  sigemptyset(&set);
  for (const int signal : kPassedOn) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, &before);
  // Whoever ignores the ends of children would never be told of this one.
  signal(SIGCHLD, SIG_DFL);
  const UniqueFd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return from_errno("a descriptor for signals");
  const pid_t parent = getpid(), child = fork();
  if (child < 0) return from_errno("fork");
  if (child == 0) be_child(become, before, parent, child_report.get());
  child_report.reset();
  const Error error = read_error(report.get());
  if (error.code != 0) {
    waitpid(child, nullptr, 0);
    return error;
  }
  Sentinel sentinel;
  return wait_for(child, signals.get(), sentinel, on_tick);
}

void end_as(int status) {
  if (!WIFSIGNALED(status)) std::exit(WEXITSTATUS(status));
  // The program has left a core file, if one was wanted.
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const int number = WTERMSIG(status);
  signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(number);
  std::_Exit(128 + number);
}

}  // namespace gdr::cli
