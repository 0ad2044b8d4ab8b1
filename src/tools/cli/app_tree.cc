#include "cli/app_tree.h"

#include <algorithm>

namespace gdr::cli {
namespace {

manual::Option describe_option(const CLI::Option& option) {
  manual::Option described{option_names(option), "", option.get_description()};
  if (described.names.empty()) described.names = {option.get_name()};
  if (takes_value(option)) described.value = value_name(option);
  return described;
}

// The first line: what follows is for the command's own help.
std::string summary_of(const CLI::App& app) {
  const std::string text = app.get_description();
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

std::vector<const CLI::App*> shown_subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* one : shown_subcommands(app)) names.push_back(one->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> all;
  for (const CLI::Option* option : app.get_options()) {
    for (std::string& name : option_names(*option)) all.push_back(std::move(name));
  }
  return all;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

const CLI::App* find_app(const CLI::App& program, const std::vector<std::string>& words,
                         std::string* unknown) {
  const CLI::App* app = &program;
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> below = shown_subcommands(*app);
    const auto found = std::find_if(below.begin(), below.end(),
                                    [&](auto* one) { return one->get_name() == word; });
    if (found == below.end()) {
      if (unknown != nullptr) *unknown = word;
      return nullptr;
    }
    app = *found;
  }
  return app;
}

manual::Command describe(const CLI::App& app) {
  manual::Command command{full_name(app), summary_of(app), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      command.arguments.push_back(describe_option(*option));
      continue;
    }
    const std::string& heading = option->get_group();
    auto group = std::find_if(command.groups.begin(), command.groups.end(),
                              [&](auto& one) { return one.heading == heading; });
    if (group == command.groups.end()) {
      group = command.groups.insert(command.groups.end(), {heading, {}});
    }
    group->options.push_back(describe_option(*option));
  }
  for (const CLI::App* below : shown_subcommands(app)) {
    command.subcommands.push_back({full_name(*below), summary_of(*below), {}, {}, {}});
  }
  return command;
}

}  // namespace gdr::cli
