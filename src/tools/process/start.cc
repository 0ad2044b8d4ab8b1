#include "process/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/environment.h"
#include "process/find_program.h"
#include "process/trust.h"

namespace gdr::process {
namespace {

constexpr int kFirstGiven = 3;
constexpr std::size_t kMostGiven = 4;
constexpr int kOutOfTheWay = 10;  // above all that are given

// From here to its end or exec, the child does only what is safe after fork().
bool becomes(int descriptor, int number) { return descriptor < 0 || dup2(descriptor, number) >= 0; }

// `failure` is moved out of the way of those that are given.
bool set_up(const Start& start, pid_t parent, int& failure) {
  if (start.in_child) start.in_child();
  if (start.ends_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
  }
  if (start.leads_group) setpgid(0, 0);
  if (start.ignores_interrupt) {
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
  }
  const int moved = fcntl(failure, F_DUPFD_CLOEXEC, kOutOfTheWay);
  if (moved < 0) return false;
  // A copy of this process has no exec that would close it, and the parent waits until all are
  // closed.
  close(failure);
  failure = moved;
  if (!becomes(start.input, STDIN_FILENO) || !becomes(start.errors, STDERR_FILENO) ||
      !becomes(start.output < 0 ? STDERR_FILENO : start.output, STDOUT_FILENO)) {
    return false;
  }
  // Each may have the number that another one is to get.
  std::array<int, kMostGiven> copies{};
  const std::size_t count = start.descriptors.size();
  for (std::size_t i = 0; i < count; ++i) {
    copies[i] = fcntl(start.descriptors[i], F_DUPFD_CLOEXEC, kOutOfTheWay);
    if (copies[i] < 0) return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!becomes(copies[i], kFirstGiven + static_cast<int>(i))) return false;
  }
  return true;
}

[[noreturn]] void fail(int failure) {
  const int code = errno;
  [[maybe_unused]] const ssize_t put = write(failure, &code, sizeof code);
  _exit(127);
}

// The errno of what kept the child from starting, or 0.
int start_error(int fd) {
  int code = 0;
  ssize_t got = 0;
  do {
    got = read(fd, &code, sizeof code);
  } while (got < 0 && errno == EINTR);
  return got == sizeof code ? code : 0;
}

// `become` is called in the child with where a failure is told; it does not return.
template <typename Become>
Result<pid_t> fork_child(const Start& start, const std::string& name, Become become) {
  if (start.descriptors.size() > kMostGiven) return Error{EINVAL, "too many descriptors"};
  Result<Pipe> failure = make_pipe();
  if (!failure) return failure.error();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return from_errno("cannot start a process");
  if (pid == 0) {
    int told = failure->write_end.get();
    if (!set_up(start, parent, told)) fail(told);
    become(told);
  }
  failure->write_end.reset();
  if (const int code = start_error(failure->read_end.get())) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return Error{code, name + ": " + strerror(code)};
  }
  return pid;
}

// The first in PATH that nobody else can change.
Result<std::string> find_in_path(const std::string& name) {
  Result<std::string> found = find_program(name, search_path(), may_start);
  if (found || found.error().code == EPERM) return found;
  return Error{ENOENT, name + ": " + strerror(ENOENT)};
}

// What is given to exec.
Result<std::string> file_of(const Start& start) {
  const std::string& program = start.program.empty() ? start.command.front() : start.program;
  const bool is_root = geteuid() == 0;
  if (start.chosen_by == ChosenBy::kAccount) return program;
  const bool is_path = program.find('/') != std::string::npos;
  if (!is_path) return is_root ? find_in_path(program) : program;
  if (start.chosen_by == ChosenBy::kPath && !is_root) return program;
  if (Result<void> judged = may_start(program); !judged) return judged.error();
  return program;
}

bool leads_to_strangers(std::string_view variable) {
  for (const std::string_view path : split(variable.substr(variable.find('=') + 1), ':')) {
    if (path.starts_with('/') && who_else_can_change(std::string(path))) return true;
  }
  return false;
}

std::vector<char*> environment_of(const Start& start) {
  std::vector<char*> entries;
  const char* const* entry = start.environment != nullptr ? start.environment : environ;
  const bool all = !start.only_safe_variables || geteuid() != 0;
  for (; *entry != nullptr; ++entry) {
    if (all || !leads_to_strangers(*entry)) entries.push_back(const_cast<char*>(*entry));
  }
  entries.push_back(nullptr);
  return entries;
}

}  // namespace

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return from_errno("cannot make a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<pid_t> begin(const Start& start) {
  if (start.command.empty()) return Error{EINVAL, "no program is named"};
  std::vector<char*> words;
  for (const std::string& word : start.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const Result<std::string> program = file_of(start);
  if (!program) return program.error();
  const std::vector<char*> environment = environment_of(start);
  return fork_child(start, *program, [&](int failure) {
    execvpe(program->c_str(), words.data(), environment.data());
    fail(failure);
  });
}

Result<pid_t> begin(const Start& start, const std::function<int()>& work) {
  return fork_child(start, "a copy of this process", [&](int failure) {
    close(failure);
    _exit(work());
  });
}

Result<ChildEnd> run(Start start, Output which, Nanoseconds limit, std::size_t most) {
  Result<Pipe> pipe = make_pipe();
  if (!pipe) return pipe.error();
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) return from_errno("/dev/null");
  start.input = nothing.get();
  start.output = pipe->write_end.get();
  if (which == Output::kAll) start.errors = pipe->write_end.get();
  start.leads_group = true;
  const Result<pid_t> pid = begin(start);
  if (!pid) return pid.error();
  pipe->write_end.reset();
  return read_child(*pid, std::move(pipe->read_end), limit, most);
}

}  // namespace gdr::process
