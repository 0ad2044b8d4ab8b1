#include "cli/run_exec.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace gdr::cli {

int exit_status_for(int error_code) { return error_code == ENOENT ? kNotFound : kNotExecutable; }

Error replace_process(const Plan& plan, const std::string& path,
                      const std::vector<std::string>& command) {
  for (const auto& [name, value] : plan.variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // execvp, for a script without "#!" goes to the shell as it does from a shell.
  execvp(path.c_str(), arguments.data());
  return Error{errno, fmt::format("{}: {}", path, std::strerror(errno))};
}

}  // namespace gdr::cli
