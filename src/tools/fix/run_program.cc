#include "fix/run_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "process/start.h"

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

}  // namespace

bool has_program(const std::string& name) { return !find_program(name).empty(); }

Result<Ran> run_program(const std::vector<std::string>& command, Nanoseconds limit) {
  if (command.empty()) return Error{EINVAL, "no program given"};
  const std::string path = find_program(command.front());
  if (path.empty()) return Error{ENOENT, command.front() + " is not installed"};
  process::Start start;
  start.command = command;
  start.program = path;
  // Nothing of the caller's: a variable may load code (LD_PRELOAD) or change what is printed.
  constexpr const char* kEnvironment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
                                          nullptr};
  start.environment = kEnvironment;
  start.ends_with_parent = false;  // a module that is half loaded helps nobody
  Result<process::ChildEnd> ran =
      process::run(std::move(start), process::Output::kAll, limit, kMostOutput);
  if (!ran) return ran.error();
  process::ChildEnd& end = *ran;
  if (end.timed_out) {
    return Error{ETIMEDOUT, command.front() + " did not end within " +
                                std::to_string(limit / kSecond) + " s and was killed"};
  }
  const int status = WIFSIGNALED(end.status) ? 128 + WTERMSIG(end.status) : WEXITSTATUS(end.status);
  return Ran{status, std::move(end.output)};
}

}  // namespace gdr::fix
