#include "cli/run_exec.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"

namespace gdr::cli {

int exit_status_for(int error_code) { return error_code == ENOENT ? kNotFound : kNotExecutable; }

namespace {

// Returns only if it failed: the errno.
int execute(const std::string& path, const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // execvp, for a script without "#!" goes to the shell as it does from a shell.
  execvp(path.c_str(), arguments.data());
  return errno;
}

constexpr int kHighDescriptor = 960;  // below the usual limit of 1024

// In no file system: the program and what it starts read it through its descriptor, which lives as
// long as the program. Without it NCCL looks for itself.
void show_topology(const std::string& text) {
  const UniqueFd made(memfd_create("gdrkit-nccl-topology", MFD_CLOEXEC));
  if (!made || write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return;
  }
  // A high number: a low one would soon be another file's in a program that closes all it inherits.
  const int file = fcntl(made.get(), F_DUPFD, kHighDescriptor);
  if (file < 0) return;
  setenv("NCCL_TOPO_FILE", fmt::format("/proc/{}/fd/{}", getpid(), file).c_str(), 1);
}

}  // namespace

Error replace_process(const Plan& plan, const std::string& path,
                      const std::vector<std::string>& command) {
  for (const auto& [name, value] : plan.variables) setenv(name.c_str(), value.c_str(), 1);
  if (!plan.nccl_topology.empty()) show_topology(plan.nccl_topology);
  const int code = execute(path, command);
  return Error{code, fmt::format("{}: {}", path, std::strerror(code))};
}

}  // namespace gdr::cli
