#include "cli/removed_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/app_tree.h"
#include "cli/command_line.h"
#include "cli/report_files.h"

namespace gdr::cli {
namespace {

// Options that had a file as value, in whose place there is --report.
struct Removed {
  const char* command;
  const char* option;
  const char* ending;
};
constexpr Removed kRemoved[] = {
    {"gdr perf", "--csv", ".csv"}, {"gdr perf", "--html", ".html"}, {"gdr topo", "--svg", ".svg"}};

bool has_option(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> names = option_names(app);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The subcommand that the words name, and at which of them its options begin.
std::pair<const CLI::App*, std::size_t> command_of(const CLI::App& program,
                                                   const std::vector<std::string>& words) {
  const CLI::App* app = &program;
  std::size_t at = subcommand_at(words);
  for (; at < words.size(); ++at) {
    const CLI::App* below = find_app(*app, {words[at]});
    if (below == nullptr) break;
    app = below;
  }
  return {app, at};
}

// A file where the document is to go, as far as that can be told from a host or a program.
bool is_output(const std::string& word) { return word == "-" || word.ends_with(".json"); }

std::string json_without_file(const CLI::App& app, const std::string& file) {
  const std::string name = full_name(app);
  const bool prints = file == "-" || file.empty();
  const std::string instead = prints ? " --json"
                              : !has_option(app, "--report")
                                  ? " --json > " + file
                                  : " --report " + with_ending(file, ".json");
  return fmt::format("{}: --json takes no file; type: {}{}", name, name, instead);
}

std::string report_instead(const CLI::App& app, const Removed& removed, const std::string& file) {
  const std::string name = full_name(app);
  const std::string stem = file.empty() || file == "-" ? name.substr(name.rfind(' ') + 1) : file;
  return fmt::format("{}: there is no {}; type: {} --report {}", name, removed.option, name,
                     with_ending(stem, removed.ending));
}

}  // namespace

std::optional<std::string> removed_option(const CLI::App& program,
                                          const std::vector<std::string>& words, std::size_t own) {
  const auto [app, first] = command_of(program, words);
  for (std::size_t at = first; at < own && words[at] != "--"; ++at) {
    const std::string& word = words[at];
    const std::size_t equals = word.find('=');
    const std::string option = word.substr(0, equals);
    const std::string next = at + 1 < words.size() ? words[at + 1] : "";
    const std::string value = equals == std::string::npos ? next : word.substr(equals + 1);
    if (option == "--json" && has_option(*app, "--json")) {
      // The next word may be a document to read, if the subcommand writes none.
      const bool has_file =
          equals != std::string::npos || (has_option(*app, "--report") && is_output(next));
      if (has_file) return json_without_file(*app, value);
    }
    for (const Removed& removed : kRemoved) {
      if (option == removed.option && full_name(*app) == removed.command) {
        return report_instead(*app, removed, value.starts_with("--") ? "" : value);
      }
    }
  }
  return std::nullopt;
}

}  // namespace gdr::cli
