#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gdr::cli {
namespace {

// The innermost subcommand on the command line: the one whose options were being read.
const CLI::App& innermost(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  return *app;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? fmt::format("{} {}", full_name(*app.get_parent()), app.get_name())
                          : app.get_name();
}

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

CommandLine split_command_line(const std::vector<std::string>& arguments) {
  CommandLine line{arguments, {}};
  if (arguments.empty() || arguments.front() != "run") return line;
  // All options of `gdr run` are flags, so the first word that is none starts the command.
  auto first = std::find_if(arguments.begin() + 1, arguments.end(), [](const std::string& word) {
    return word == "--" || word.empty() || word.front() != '-';
  });
  line.own.assign(arguments.begin(), first);
  if (first != arguments.end() && *first == "--") ++first;
  line.command.assign(first, arguments.end());
  return line;
}

std::string allowed_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_fnames()) {
      const std::string dashed = (name.size() == 1 ? "-" : "--") + name;
      if (std::find(names.begin(), names.end(), dashed) == names.end()) names.push_back(dashed);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string allowed_subcommands(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* app : program.get_subcommands([](const CLI::App* app) {
         return !app->get_group().empty();  // those of no group are not for people
       })) {
    names.push_back(app->get_name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& app = innermost(program);
  const std::string name = full_name(app);
  // A word nobody took outranks whatever else is missing: it is usually the cause.
  if (app.remaining_size() > 0) {
    const std::string word = app.remaining().front();
    if (word.rfind('-', 0) == 0) {
      return fmt::format("{}: unknown option '{}'; allowed: {}", name, word, allowed_options(app));
    }
    if (&app == &program) {
      return fmt::format("{}: unknown subcommand '{}'; allowed: {}", name, word,
                         allowed_subcommands(app));
    }
    return fmt::format("{}: unexpected argument '{}'; allowed: {}", name, word,
                       allowed_options(app));
  }
  return fmt::format("{}: {}; see '{} --help'", name, one_line(error.what()), name);
}

}  // namespace gdr::cli
