#include "doctor/probe/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "process/child.h"

namespace gdr::doctor {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;

[[noreturn]] void carry_out(const std::function<process::Bytes()>& work, int answer, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  // A library that prints must not spoil the report on standard output.
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const process::Bytes bytes = work();
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t put = write(answer, bytes.data() + written, bytes.size() - written);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) _exit(1);
    written += static_cast<std::size_t>(put);
  }
  // No destructors of libraries: the process owns nothing that outlives it.
  _exit(0);
}

}  // namespace

Result<process::Bytes> bytes_from_apart(const std::string& name, Nanoseconds limit,
                                        const std::function<process::Bytes()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return from_errno("cannot make a pipe");
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return from_errno("cannot start a process");
  if (pid == 0) carry_out(work, write_end.get(), parent);
  write_end.reset();
  const process::ChildEnd end = process::read_child(pid, std::move(read_end), limit, kMostBytes);
  if (end.timed_out) {
    return Error{ETIMEDOUT,
                 name + " did not answer within " + std::to_string(limit / kSecond) + " s"};
  }
  if (end.status != 0) {
    return Error{ECONNRESET, name + " ended its process: " + process::status_text(end.status)};
  }
  process::Bytes bytes(end.output.size());
  if (!bytes.empty()) memcpy(bytes.data(), end.output.data(), bytes.size());
  return bytes;
}

}  // namespace gdr::doctor
