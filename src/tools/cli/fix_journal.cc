#include "cli/fix_journal.h"

#include <fmt/format.h>

#include "fix/apply.h"

namespace gdr::cli {

std::string obstacle(const fix::Journal& journal, const fix::Machine& machine,
                     const std::string& file) {
  if (!journal.content().not_understood.empty()) {
    return fmt::format("gdr fix did not write line {} of the journal {}; type gdr fix --status",
                       journal.content().not_understood.front(), file);
  }
  for (const fix::Entry& entry : journal.entries()) {
    if (fix::is_unfinished(entry, machine)) {
      return fmt::format(
          "an earlier gdr fix was killed while it changed {}; type sudo gdr fix --undo, or gdr fix "
          "--status to see more",
          entry.record.target);
    }
  }
  return {};
}

}  // namespace gdr::cli
