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

bool watch_takes_next_word(const std::string& word) {
  return word == "--expect" || word == "--json";
}

// A subcommand that takes a program and its arguments after its own options.
struct Starter {
  std::vector<std::string> words;
  bool (*takes_next_word)(const std::string& word);
};

const Starter* starter_of(const std::vector<std::string>& arguments) {
  static const Starter starters[] = {{{"run"}, run_takes_next_word},
                                     {{"watch"}, watch_takes_next_word},
                                     {{"nccl", "run"}, nccl_run_takes_next_word}};
  for (const Starter& starter : starters) {
    if (arguments.size() >= starter.words.size() &&
        std::equal(starter.words.begin(), starter.words.end(), arguments.begin())) {
      return &starter;
    }
  }
  return nullptr;
}

// An empty value is most likely an unset variable of a script.
std::string refuse_empty(const std::string& value) {
  return value.empty() ? "the value is empty; give one or leave the option out" : "";
}

// CLI11 words these errors for programmers.
std::string in_plain_words(const CLI::ParseError& error) {
  std::string text = one_line(error.what());
  const std::string kind = error.get_name(), option = text.substr(0, text.find(": "));
  const auto ends = [&](std::string_view between) {
    const auto at = text.find(between);
    return std::pair(text.substr(0, at), text.substr(at + between.size()));
  };
  if (kind == "ArgumentMismatch" && text.ends_with(" missing")) return option + " needs a value";
  if (kind == "ArgumentMismatch" && text.find(": At Most 1 ") != std::string::npos) {
    return option + " may be given only once";
  }
  if (kind == "ExcludesError") {
    const auto [one, other] = ends(" excludes ");
    return fmt::format("{} and {} exclude each other", one, other);
  }
  if (kind == "ConversionError" && text.find(" = ") != std::string::npos) {
    const auto [name, value] = ends(" = ");
    const bool number = value.find_first_not_of("0123456789") == std::string::npos;
    return fmt::format(
        "{} {}", name.substr(name.find("--")),
        number ? value + " is too large" : "must be a positive whole number, not '" + value + "'");
  }
  return text;
}

}  // namespace

CommandLine split_command_line(const std::vector<std::string>& arguments) {
  CommandLine line{arguments, {}};
  const Starter* starter = starter_of(arguments);
  if (starter == nullptr) return line;
  // The command starts at the first word that is neither an option nor an option's value.
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
         return !app->get_group().empty();  // workers have no group
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
  return fmt::format("{}: {}; see '{} --help'", name, in_plain_words(error), name);
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace gdr::cli
