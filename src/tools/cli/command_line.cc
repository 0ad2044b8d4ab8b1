#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/app_tree.h"
#include "cli/run_settings.h"
#include "text/nearest.h"

namespace gdr::cli {
namespace {

constexpr const char* kColour = "--color";

// The innermost subcommand on the command line: the one whose options were being read.
const CLI::App& innermost(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  return *app;
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
  return word == "--expect" || word == "--log" || word == "--report";
}

bool watch_takes_next_word(const std::string& word) {
  return word == "--expect" || word == "--report";
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
  const std::size_t at = subcommand_at(arguments);
  for (const Starter& starter : starters) {
    if (arguments.size() - at >= starter.words.size() &&
        std::equal(starter.words.begin(), starter.words.end(),
                   arguments.begin() + static_cast<std::ptrdiff_t>(at))) {
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

// "did you mean '--sizes'?"; nothing where nothing is near.
std::optional<std::string> did_you_mean(const std::vector<std::string>& meant) {
  constexpr std::size_t kMost = 3;  // more are no help
  if (meant.empty() || meant.size() > kMost) return std::nullopt;
  return fmt::format("did you mean '{}'?", fmt::join(meant, "' or '"));
}

std::string unknown_option(const CLI::App& app, const std::string& word) {
  const std::string typed = word.substr(0, word.find('='));
  return fmt::format("{}: unknown option '{}'; {}", full_name(app), word,
                     did_you_mean(text::nearest(typed, option_names(app)))
                         .value_or("allowed: " + allowed_options(app)));
}

}  // namespace

std::size_t subcommand_at(const std::vector<std::string>& arguments) {
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with(kColour)) {
    at += arguments[at] == kColour ? 2 : 1;
  }
  return std::min(at, arguments.size());
}

std::string unknown_subcommand(const CLI::App& app, const std::string& word) {
  const std::string name = full_name(app);
  std::vector<std::string> meant = text::nearest(word, subcommand_names(app));
  for (std::string& one : meant) one = name + " " + one;
  if (meant.empty()) {
    // Perhaps it belongs behind another word: gdr capture for gdr doctor capture.
    for (const CLI::App* below : shown_subcommands(app)) {
      if (find_app(*below, {word}) != nullptr) meant.push_back(full_name(*below) + " " + word);
    }
  }
  return fmt::format("{}: unknown subcommand '{}'; {}", name, word,
                     did_you_mean(meant).value_or("allowed: " + allowed_subcommands(app)));
}

CommandLine split_command_line(const std::vector<std::string>& arguments) {
  CommandLine line{arguments, {}};
  const Starter* starter = starter_of(arguments);
  if (starter == nullptr) return line;
  // The command starts at the first word that is neither an option nor an option's value.
  auto first = arguments.begin() +
               static_cast<std::ptrdiff_t>(subcommand_at(arguments) + starter->words.size());
  while (first != arguments.end() && *first != "--" && first->starts_with('-')) {
    const bool takes_next = *first == kColour || starter->takes_next_word(*first);
    ++first;
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
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string allowed_subcommands(const CLI::App& program) {
  return fmt::format("{}", fmt::join(subcommand_names(program), ", "));
}

void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_min() > 0) {
      option->check(CLI::Validator(refuse_empty, "", "not empty"));
    }
  }
}

bool has_unknown_subcommand(const CLI::App& program) {
  const CLI::App& app = innermost(program);
  return app.remaining_size() > 0 && !app.remaining().front().starts_with('-') &&
         !shown_subcommands(app).empty();
}

std::string usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& app = innermost(program);
  const std::string name = full_name(app);
  // A word nobody took outranks whatever else is missing: it is usually the cause.
  if (app.remaining_size() > 0) {
    const std::string word = app.remaining().front();
    if (word.starts_with('-')) return unknown_option(app, word);
    if (has_unknown_subcommand(program)) return unknown_subcommand(app, word);
    return fmt::format("{}: unexpected argument '{}'; allowed: {}", name, word,
                       allowed_options(app));
  }
  return fmt::format("{}: {}; see '{} --help'", name, in_plain_words(error), name);
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace gdr::cli
