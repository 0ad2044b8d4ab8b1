#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/run_settings.h"

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

bool run_takes_next_word(const std::string& word) {
  return std::any_of(std::begin(kRunSettings), std::end(kRunSettings),
                     [&](const RunSetting& setting) {
                       return setting.kind != SettingKind::kFlag && word == setting.option;
                     });
}

bool nccl_run_takes_next_word(const std::string& word) {
  return word == "--expect" || word == "--log" || word == "--json";
}

// A subcommand behind whose options a program and its arguments follow.
struct Starter {
  std::vector<std::string> words;
  bool (*takes_next_word)(const std::string& word);
};

const Starter* starter_of(const std::vector<std::string>& arguments) {
  static const Starter starters[] = {{{"run"}, run_takes_next_word},
                                     {{"nccl", "run"}, nccl_run_takes_next_word}};
  for (const Starter& starter : starters) {
    if (arguments.size() >= starter.words.size() &&
        std::equal(starter.words.begin(), starter.words.end(), arguments.begin())) {
      return &starter;
    }
  }
  return nullptr;
}

// An empty value is more likely an unset variable of a script than a wish.
std::string refuse_empty(const std::string& value) {
  return value.empty() ? "an empty value; give one or leave the option out" : "";
}

}  // namespace

CommandLine split_command_line(const std::vector<std::string>& arguments) {
  CommandLine line{arguments, {}};
  const Starter* starter = starter_of(arguments);
  if (starter == nullptr) return line;
  // The first word that is neither one of its options nor the value of one starts the command.
  auto first = arguments.begin() + static_cast<std::ptrdiff_t>(starter->words.size());
  while (first != arguments.end() && *first != "--" && first->starts_with('-')) {
    const bool takes_next = starter->takes_next_word(*first++);
    if (takes_next && first != arguments.end() && *first != "--") ++first;
  }
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

void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_min() > 0) {
      option->check(CLI::Validator(refuse_empty, "", "not empty"));
    }
  }
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
    if (const std::string subcommands = allowed_subcommands(app); !subcommands.empty()) {
      return fmt::format("{}: unknown subcommand '{}'; allowed: {}", name, word, subcommands);
    }
    return fmt::format("{}: unexpected argument '{}'; allowed: {}", name, word,
                       allowed_options(app));
  }
  return fmt::format("{}: {}; see '{} --help'", name, one_line(error.what()), name);
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace gdr::cli
