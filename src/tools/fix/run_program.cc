#include "fix/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/unique_fd.h"
#include "process/child.h"

namespace gdr::fix {
namespace {

constexpr std::array kFolders = {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"};
constexpr std::size_t kMostOutput = 64 * 1024;

// A name without a folder: nothing but what the system itself has.
std::string find_program(const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return {};
  for (const char* folder : kFolders) {
    std::string path = folder + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

// Its own process group, so that what it started is killed with it.
Result<pid_t> start(const std::string& path, const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Nothing of the caller's: a variable may load code (LD_PRELOAD) or change what is printed.
  char search[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", language[] = "LC_ALL=C";
  char* environment[] = {search, language, nullptr};

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int code = posix_spawn(&child, path.c_str(), &files, &attributes, arguments.data(),
                               static_cast<char**>(environment));
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) return Error{code, path + ": " + strerror(code)};
  return child;
}

}  // namespace

Result<Ran> run_program(const std::vector<std::string>& command, Nanoseconds limit) {
  if (command.empty()) return Error{EINVAL, "no program given"};
  const std::string path = find_program(command.front());
  if (path.empty()) return Error{ENOENT, command.front() + " is not installed"};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return from_errno("cannot make a pipe");
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const Result<pid_t> child = start(path, command, writing.get());
  if (!child) return child.error();
  writing.reset();
  process::ChildEnd end = process::read_child(*child, std::move(reading), limit, kMostOutput);
  if (end.timed_out) {
    return Error{ETIMEDOUT, command.front() + " did not end within " +
                                std::to_string(limit / kSecond) + " s and was killed"};
  }
  const int status = WIFSIGNALED(end.status) ? 128 + WTERMSIG(end.status) : WEXITSTATUS(end.status);
  return Ran{status, std::move(end.output)};
}

}  // namespace gdr::fix
