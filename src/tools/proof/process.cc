#include "proof/process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "proof/worker.h"

namespace gdr::proof {
namespace {

// Read by the signal handler: the children that must not outlive this process.
constexpr std::size_t kMostChildren = 8;
std::atomic<pid_t> children[kMostChildren];
static_assert(std::atomic<pid_t>::is_always_lock_free);

void end_children(int signal) {
  for (auto& child : children) {
    const pid_t pid = child.load();
    if (pid <= 0) continue;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  // SA_RESETHAND has restored the default: this ends the process as the signal would have.
  raise(signal);
}

void watch_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_handler = end_children;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      struct sigaction old {};
      sigaction(signal, nullptr, &old);
      if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
  });
}

void remember(pid_t pid) {
  for (auto& child : children) {
    pid_t none = 0;
    if (child.compare_exchange_strong(none, pid)) return;
  }
}

void forget(pid_t pid) {
  for (auto& child : children) {
    pid_t expected = pid;
    if (child.compare_exchange_strong(expected, 0)) return;
  }
}

// Gives a dying worker a moment to be seen dead.
std::string post_mortem(pid_t pid) {
  for (int i = 0; i < 100; ++i) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid) {
      if (info.si_code == CLD_EXITED)
        return "it exited with status " + std::to_string(info.si_status);
      return "killed by signal " + std::to_string(info.si_status) + " (" +
             strsignal(info.si_status) + ")";
    }
    usleep(10'000);
  }
  return {};
}

// Between fork and exec: only what is safe there.
[[noreturn]] void become_worker(const char* program, char* const* arguments, int control, int link,
                                pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // Out of the way of 3 and 4 first, since either may be the other's number.
  const int control_copy = fcntl(control, F_DUPFD, 10);
  const int link_copy = fcntl(link, F_DUPFD, 10);
  if (control_copy < 0 || link_copy < 0) _exit(127);
  if (dup2(control_copy, kControlFd) < 0 || dup2(link_copy, kLinkFd) < 0) _exit(127);
  close(control_copy);
  close(link_copy);
  // A library that prints must not spoil the report, nor the JSON document, on standard output.
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execv(program, arguments);
  _exit(127);
}

Result<WorkerProcess> start(const std::string& name, const std::string& program,
                            const std::vector<std::string>& arguments, UniqueFd link) {
  Result<std::array<UniqueFd, 2>> sockets = Channel::pair();
  if (!sockets) return sockets.error();
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return Error{errno, std::string("fork: ") + strerror(errno)};
  if (pid == 0) {
    become_worker(program.c_str(), argv.data(), (*sockets)[1].get(), link.get(), parent);
  }
  return WorkerProcess(name, std::move((*sockets)[0]), pid);
}

}  // namespace

WorkerProcess::WorkerProcess(std::string name, UniqueFd control, pid_t pid)
    : pid_(pid), client_(std::make_unique<Client>(std::move(name), std::move(control), [pid] {
        return post_mortem(pid);
      })) {
  remember(pid);
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), client_(std::move(other.client_)) {}

WorkerProcess::~WorkerProcess() {
  if (pid_ <= 0) return;
  // Closing the socket asks it to end in order, so that libraries can give back what they hold.
  client_.reset();
  for (int i = 0; i < 200; ++i) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      forget(pid_);
      return;
    }
    usleep(5'000);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  forget(pid_);
}

Result<std::array<WorkerProcess, 2>> start_workers(const std::string& program,
                                                   const std::vector<std::string>& arguments) {
  watch_signals();
  Result<std::array<UniqueFd, 2>> link = Channel::pair();
  if (!link) return link.error();
  Result<WorkerProcess> sender =
      start("the sending process", program, arguments, std::move((*link)[0]));
  if (!sender) return sender.error();
  Result<WorkerProcess> receiver =
      start("the receiving process", program, arguments, std::move((*link)[1]));
  if (!receiver) return receiver.error();
  return std::array<WorkerProcess, 2>{*std::move(sender), *std::move(receiver)};
}

int worker_main() {
  if (fcntl(kControlFd, F_GETFD) < 0 || fcntl(kLinkFd, F_GETFD) < 0) return 2;
  fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  fcntl(kLinkFd, F_SETFD, FD_CLOEXEC);
  Channel control{UniqueFd(kControlFd)};
  Worker worker{UniqueFd(kLinkFd)};
  return serve(worker, control);
}

}  // namespace gdr::proof
