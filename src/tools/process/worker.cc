#include "process/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/conversation.h"
#include "process/start.h"

namespace gdr::process {
namespace {

constexpr int kSocket = 3;  // in the worker
constexpr Nanoseconds kPatience = 2 * kSecond;
constexpr Nanoseconds kPostMortem = kSecond;
constexpr unsigned kLookMicroseconds = 5'000;

}  // namespace

Result<Worker> Worker::start(const std::string& program,
                             const std::vector<std::string>& arguments) {
  Result<std::array<UniqueFd, 2>> sockets = Connection::pair();
  if (!sockets) return sockets.error();
  auto& [mine, theirs] = *sockets;
  Start start;
  start.command = {program};
  start.command.insert(start.command.end(), arguments.begin(), arguments.end());
  start.chosen_by = ChosenBy::kAccount;  // this program
  start.descriptors = {theirs.get()};
  start.ignores_interrupt = true;
  const Result<pid_t> pid = begin(start);
  if (!pid) return pid.error();
  return Worker(*pid, std::move(mine));
}

Worker::~Worker() {
  if (pid_ <= 0) return;
  socket_.reset();
  for (const Nanoseconds end = now() + kPatience; now() < end;) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) return;
    usleep(kLookMicroseconds);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::string Worker::post_mortem(pid_t pid) {
  for (const Nanoseconds end = now() + kPostMortem; now() < end;) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid) {
      if (info.si_code == CLD_EXITED) {
        return "it exited with status " + std::to_string(info.si_status);
      }
      return "killed by signal " + std::to_string(info.si_status) + " (" +
             strsignal(info.si_status) + ")";
    }
    usleep(kLookMicroseconds);
  }
  return {};
}

Result<UniqueFd> Worker::own_socket() {
  if (fcntl(kSocket, F_SETFD, FD_CLOEXEC) < 0) return from_errno("no worker's socket");
  return UniqueFd(kSocket);
}

}  // namespace gdr::process
