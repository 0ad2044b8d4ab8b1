#include "cli/hidden.h"

#include "cli/complete.h"
#include "cli/manual_command.h"

namespace gdr::cli {

std::optional<int> run_hidden(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (words.front() == "__manual") return run_manual(rest);
  if (words.front() == "__complete") return run_complete(rest);
  return std::nullopt;
}

}  // namespace gdr::cli
