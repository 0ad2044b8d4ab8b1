#include "cli/hidden.h"

#include <unistd.h>

#include "base/output_file.h"
#include "cli/complete.h"
#include "cli/help.h"
#include "cli/manual_command.h"
#include "cli/whole_io.h"

namespace gdr::cli {
namespace {

// __write FILE: standard input becomes the file, as a report does: whole, and nowhere else. For
// scripts that run as root, since a shell follows the links of whoever owns the folder.
int run_write(const std::vector<std::string>& words) {
  if (words.size() != 1) {
    say("gdr __write: one file is needed");
    return kWrongUse;
  }
  std::string text;
  Result<void> done = read_whole(STDIN_FILENO, [&](std::string_view bytes) { text += bytes; });
  if (done) done = write_output(words.front(), text);
  if (done) return 0;
  say("gdr __write: " + done.error().message);
  return kFailed;
}

}  // namespace

std::optional<int> run_hidden(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (words.front() == "__manual") return run_manual(rest);
  if (words.front() == "__complete") return run_complete(rest);
  if (words.front() == "__write") return run_write(rest);
  return std::nullopt;
}

}  // namespace gdr::cli
