#include "process/find_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/environment.h"
#include "base/printable.h"

namespace gdr::process {

std::string search_path() { return environment("PATH").value_or("/bin:/usr/bin"); }

Error not_started(const std::string& program, const Stranger& stranger) {
  return {EPERM, printable(program) + " is not started: " + stranger.text()};
}

Result<void> may_start(const std::string& program) {
  const auto stranger = who_else_can_change(program);
  return stranger ? not_started(program, *stranger) : Result<void>();
}

Result<std::string> find_program(const std::string& name, std::string_view search_path,
                                 Judge* judge) {
  std::vector<std::string> candidates;
  if (name.find('/') != std::string::npos) {
    candidates.push_back(name);
  } else {
    for (const std::string_view folder : split(search_path, ':')) {
      candidates.push_back(std::string(folder.empty() ? "." : folder) + "/" + name);
    }
  }
  int code = ENOENT;
  Result<void> judged;
  for (const std::string& candidate : candidates) {
    struct stat status {};
    if (stat(candidate.c_str(), &status) != 0) continue;
    if (!S_ISREG(status.st_mode) || access(candidate.c_str(), X_OK) != 0) {
      code = EACCES;
      continue;
    }
    Result<void> own = judge != nullptr ? judge(candidate) : Result<void>();
    if (own) return candidate;
    if (judged) judged = std::move(own);
  }
  if (!judged) return judged.error();
  return Error{code, name + (code == ENOENT ? ": not found" : ": not an executable file")};
}

}  // namespace gdr::process
