#include "fix/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "base/unique_fd.h"

namespace gdr::fix {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kFolders = {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"};
constexpr auto kLimit = std::chrono::seconds(120);  // a driver that starts GPUs takes tens of them
constexpr std::size_t kMostOutput = 64 * 1024;

std::string find_program(const std::string& name) {
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
  if (code != 0) return Error{code, path + ": " + std::strerror(code)};
  return child;
}

// What it writes, until it has ended: a process that it left behind may keep the pipe open.
Result<Ran> follow(pid_t child, int output) {
  Ran ran;
  const auto end = Clock::now() + kLimit;
  for (bool ended = false;;) {
    pollfd wait{output, POLLIN, 0};
    poll(&wait, 1, ended ? 0 : 50);
    std::array<char, 4096> buffer;
    const ssize_t got = (wait.revents & POLLIN) ? read(output, buffer.data(), buffer.size()) : 0;
    if (got > 0) {
      const std::size_t room = kMostOutput - ran.output.size();
      ran.output.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
      continue;
    }
    if (ended) return ran;
    if (wait.revents & POLLHUP) usleep(5000);  // it has closed its output and not ended yet
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      ran.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      ended = true;
    } else if (Clock::now() > end) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return Error{ETIMEDOUT, "did not end within 120 s and was killed"};
    }
  }
}

}  // namespace

Result<Ran> run_program(const std::vector<std::string>& command) {
  const std::string path = find_program(command.front());
  if (path.empty()) return Error{ENOENT, command.front() + " is not installed"};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return from_errno("cannot make a pipe");
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const Result<pid_t> child = start(path, command, writing.get());
  if (!child) return child.error();
  writing.reset();
  return follow(*child, reading.get());
}

}  // namespace gdr::fix
