#include "cli/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/environment.h"
#include "base/printable.h"
#include "cli/app_tree.h"
#include "cli/program.h"
#include "manual/page.h"
#include "text/shell_word.h"

namespace gdr::cli {
namespace {

constexpr const char* kEndOfOptions = "--";

// gdr run, gdr watch, gdr nccl run: a program and its own arguments come behind the options.
bool takes_program(const CLI::App& app) {
  const manual::Page* page = manual::find_page(full_name(app));
  return page != nullptr &&
         std::string_view(page->usages.front().words).find(" -- PROGRAM") != std::string_view::npos;
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string> names = option_names(*option);
    if (std::find(names.begin(), names.end(), name) != names.end()) return option;
  }
  return nullptr;
}

void add_if_begun(std::vector<Candidate>& candidates, Candidate candidate,
                  const std::string& begun) {
  if (candidate.word.starts_with(begun)) candidates.push_back(std::move(candidate));
}

// Where the words behind "gdr" lead to.
struct Place {
  const CLI::App* app;
  const CLI::Option* value_of = nullptr;  // whose value comes next
  bool only_arguments = false;            // behind "--"
  std::size_t arguments = 0;
  std::vector<std::string> used;  // names of options
  std::size_t program_at = 0;     // 0: no program yet
};

// Returns whether a program begins at or behind `word`.
bool advance(Place& place, const std::string& word) {
  if (place.value_of != nullptr) {
    place.value_of = nullptr;
    return false;
  }
  if (!place.only_arguments && word == kEndOfOptions) {
    place.only_arguments = true;
    return false;
  }
  if (!place.only_arguments && word.size() > 1 && word.starts_with('-')) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const CLI::Option* option = find_option(*place.app, name);
    if (option == nullptr) return false;
    for (std::string& one : option_names(*option)) place.used.push_back(std::move(one));
    if (takes_value(*option) && equals == std::string::npos) place.value_of = option;
    return false;
  }
  if (takes_program(*place.app)) return true;
  const CLI::App* below = find_app(*place.app, {word});
  if (below == nullptr || place.arguments > 0) {
    ++place.arguments;
    return false;
  }
  place.app = below;
  place.used.clear();
  return false;
}

Also also_of(const std::string& value) {
  if (value == "FILE") return Also::kFiles;
  if (value == "PATH") return Also::kFiles;  // a folder or an archive
  return value == "DIR" ? Also::kFolders : Also::kNothing;
}

// Values of an option or of an argument; `before` stands in front of each: "--modes=".
void add_values(Completion& completion, const CLI::App& app, const std::string& name,
                const std::string& kind, const std::string& before, const std::string& begun) {
  const ListedValues* listed = find_values(full_name(app), name);
  if (listed == nullptr) {
    completion.also = also_of(kind);
    return;
  }
  // "write,re": the last part is being typed, and those before are taken.
  const std::size_t comma = listed->is_list ? begun.rfind(',') : std::string::npos;
  const std::string done = comma == std::string::npos ? "" : begun.substr(0, comma + 1);
  const std::vector<std::string_view> taken = split(done, ',');
  for (const Candidate& value : listed->values()) {
    if (std::find(taken.begin(), taken.end(), value.word) != taken.end()) continue;
    add_if_begun(completion.candidates, {before + done + value.word, value.text}, before + begun);
  }
}

void add_options(Completion& completion, const Place& place, const std::string& begun) {
  for (const CLI::Option* option : place.app->get_options()) {
    const std::string text = option->get_description();
    for (const std::string& name : option_names(*option)) {
      const bool repeats = option->get_items_expected_max() > 1;
      const bool used = std::find(place.used.begin(), place.used.end(), name) != place.used.end();
      if (!used || repeats) add_if_begun(completion.candidates, {name, text}, begun);
    }
  }
}

void add_arguments(Completion& completion, const Place& place, const std::string& begun) {
  const std::vector<const CLI::Option*> arguments =
      place.app->get_options([](const CLI::Option* one) { return one->get_positional(); });
  if (arguments.empty()) return;
  const CLI::Option& argument = *arguments[std::min(place.arguments, arguments.size() - 1)];
  if (place.arguments >= arguments.size() && argument.get_items_expected_max() <= 1) return;
  const std::string name = argument.get_name();
  add_values(completion, *place.app, name, name, "", begun);
}

void add_subcommands(Completion& completion, const CLI::App& app, const std::string& begun) {
  for (const CLI::App* below : shown_subcommands(app)) {
    add_if_begun(completion.candidates, {below->get_name(), describe(*below).summary}, begun);
  }
}

// gdr help: the words behind it lead to another subcommand.
Completion complete_help(const CLI::App& program, std::vector<std::string> words) {
  Completion completion;
  const std::string begun = words.back();
  words.pop_back();
  const CLI::App* app = find_app(program, words);
  if (app != nullptr) add_subcommands(completion, *app, begun);
  return completion;
}

}  // namespace

Completion complete(const CLI::App& program, const std::vector<std::string>& words) {
  Completion completion;
  if (words.empty()) return completion;
  if (words.size() > 1 && words.front() == "help") {
    return complete_help(program, {words.begin() + 1, words.end()});
  }
  Place place{&program, nullptr, false, 0, {}, 0};
  const auto complete_program = [&](std::size_t at) {
    completion.also = Also::kProgram;
    completion.program_at = at;
    return completion;
  };
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (advance(place, words[i])) return complete_program(i);
  }
  const std::string& begun = words.back();
  if (place.value_of != nullptr) {
    const std::string name = option_names(*place.value_of).back();
    add_values(completion, *place.app, name, value_name(*place.value_of), "", begun);
    return completion;
  }
  if (begun.starts_with('-') && !place.only_arguments) {
    const std::size_t equals = begun.find('=');
    const CLI::Option* option = find_option(*place.app, begun.substr(0, equals));
    if (equals == std::string::npos) {
      add_options(completion, place, begun);
    } else if (option != nullptr && takes_value(*option)) {
      add_values(completion, *place.app, option_names(*option).back(), value_name(*option),
                 begun.substr(0, equals + 1), begun.substr(equals + 1));
    }
    return completion;
  }
  if (takes_program(*place.app)) return complete_program(words.size() - 1);
  if (place.arguments == 0) add_subcommands(completion, *place.app, begun);
  add_arguments(completion, place, begun);
  // Where nothing else can follow.
  if (begun.empty() && place.arguments == 0 && completion.candidates.empty() &&
      completion.also == Also::kNothing) {
    add_options(completion, place, begun);
  }
  return completion;
}

std::string to_lines(const Completion& completion) {
  std::string lines;
  for (const Candidate& one : completion.candidates) {
    // bash puts a word into the line as it is, and what a colon begins is told to the shell's
    // function: a name of a device is offered only where it means nothing else.
    if (one.word.starts_with(':') || text::shell_word(one.word) != one.word) continue;
    lines += one.word;
    if (!one.text.empty()) lines += "\t" + printable(one.text);
    lines += "\n";
  }
  switch (completion.also) {
    case Also::kNothing:
      break;
    case Also::kFiles:
      lines += ":files\n";
      break;
    case Also::kFolders:
      lines += ":folders\n";
      break;
    case Also::kProgram:
      lines += fmt::format(":program {}\n", completion.program_at);
      break;
  }
  return lines;
}

int run_complete(std::vector<std::string> words) {
  if (!words.empty() && words.front() == kEndOfOptions) words.erase(words.begin());
  const Program program;
  std::fputs(to_lines(complete(program.app, words)).c_str(), stdout);
  return 0;
}

}  // namespace gdr::cli
