#include "cli/help_command.h"

#include <algorithm>

#include "cli/app_tree.h"
#include "cli/command_line.h"
#include "cli/subcommands.h"

namespace gdr::cli {

Result<std::vector<std::string>> without_help(const CLI::App& program,
                                              std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  const bool has_options = std::any_of(
      words.begin(), words.end(), [](const std::string& word) { return word.starts_with('-'); });
  if (has_options) return words;
  words.erase(words.begin());
  const CLI::App* app = &program;
  for (const std::string& word : words) {
    const CLI::App* below = find_app(*app, {word});
    if (below == nullptr) return Error{EINVAL, unknown_subcommand(*app, word)};
    app = below;
  }
  words.emplace_back("--help");
  return words;
}

// For the list of subcommands, and for `gdr help --help`: without_help() takes all else away.
void add_help(CLI::App& program, Action&) {
  CLI::App* help = program.add_subcommand("help", "Show what a subcommand does and takes");
  help->add_option("SUBCOMMAND", "Its words, such as doctor capture")->type_name("");
}

}  // namespace gdr::cli
