#include "doctor/probe/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/child.h"

namespace gdr::doctor {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr int kNotFound = 127;  // as a shell has it

// Between fork and exec: only what is safe there.
[[noreturn]] void become(char* const* arguments, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) _exit(1);
  if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0) _exit(1);
  execvp(arguments[0], arguments);
  _exit(kNotFound);
}

}  // namespace

CommandAnswer run_command(const std::vector<std::string>& words, Nanoseconds limit) {
  CommandAnswer answer;
  int ends[2];
  if (words.empty() || pipe2(ends, O_CLOEXEC) != 0) return answer;
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return answer;
  if (pid == 0) become(arguments.data(), write_end.get(), parent);
  write_end.reset();
  process::ChildEnd end = process::read_child(pid, std::move(read_end), limit, kMostBytes);
  answer.timed_out = end.timed_out;
  answer.status = WIFEXITED(end.status) ? WEXITSTATUS(end.status) : -1;
  answer.found = answer.timed_out || answer.status != kNotFound;
  answer.output = std::move(end.output);
  return answer;
}

}  // namespace gdr::doctor
