#include "cli/search_folders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/printable.h"
#include "cli/help.h"
#include "cli/own_files.h"
#include "process/find_program.h"
#include "process/trust.h"

namespace gdr::cli {
namespace {

// A folder of this program's own is as safe as the program. "$LIB" and its like are the loader's.
bool is_safe(const std::string& folder, const Result<std::string>& own) {
  const std::string plain = std::filesystem::path(folder).lexically_normal();
  if (own && plain.starts_with(*own + "/")) return true;
  return folder.find('$') == std::string::npos && !process::who_else_can_add_to(folder);
}

// Whether something was left out of the variable. No name of an account is looked up for that: it
// could load a library from the very folder.
bool keep_safe_folders(const char* variable, const char* separators) {
  const std::string list = environment(variable).value_or("");
  if (list.empty()) return false;
  const Result<std::string> own = own_folder("lib/gdrkit");
  std::vector<std::string> kept, left_out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find_first_of(separators, at), list.size());
    const std::string folder = list.substr(at, end - at);
    const bool safe = is_safe(folder.empty() ? "." : folder, own);
    (safe ? kept : left_out).push_back(folder.empty() ? "." : folder);
    at = end + 1;
  }
  if (left_out.empty()) return false;
  say(
      fmt::format("gdr: left out of {}, since this is root and another account could put something "
                  "there: {}",
                  variable, printable(fmt::format("{}", fmt::join(left_out, ", ")))));
  const std::string value = fmt::format("{}", fmt::join(kept, ":"));
  kept.empty() ? unsetenv(variable) : setenv(variable, value.c_str(), 1);
  return true;
}

}  // namespace

const std::string& given_path() {
  static const std::string path = process::search_path();
  return path;
}

void leave_out_unsafe_folders(char** argv) {
  given_path();
  if (geteuid() != 0) return;
  if (!keep_safe_folders("LD_LIBRARY_PATH", ":;")) {
    keep_safe_folders("PATH", ":");
    return;
  }
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error);
  execv(program.c_str(), argv);
  say("gdr: cannot start again without these folders; type: env -u LD_LIBRARY_PATH gdr");
  _exit(1);
}

}  // namespace gdr::cli
