#include "cli/help.h"

#include <fmt/format.h>

#include <cstdio>

#include "text/format.h"
#include "text/wrap.h"

namespace gdr::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kDescription = 27;  // where descriptions begin

std::string described(const std::string& name, const std::string& description) {
  // Two spaces at least: a name that is too long for its column has a line of its own.
  const std::string head = fmt::format("  {:<{}}", name, kDescription - 2);
  if (head.size() > kDescription || head.back() != ' ') {
    return head + "\n" + std::string(kDescription, ' ') +
           text::wrap(description, kColumns - kDescription, 0) + "\n";
  }
  return text::wrap(head + description, kColumns, kDescription) + "\n";
}

}  // namespace

HelpFormatter::HelpFormatter(std::string usage) : usage_(std::move(usage)) {}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = usage_.empty() ? Formatter::make_usage(app, std::move(name)) : "Usage: ";
  while (!usage.empty() && usage.back() == '\n') usage.pop_back();
  for (const char one : usage_) usage += one == '\n' ? "\n       " : std::string(1, one);
  return "\n" + usage + "\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = make_option_name(option, is_positional);
  if (option->get_type_size() != 0) {
    // CLI11 adds ":INT in [1 - 65535]" for each validator; the description says it in words.
    const std::string type = option->get_type_name();
    name += " " + type.substr(0, type.find(':'));
  }
  return described(name, make_option_desc(option));
}

// CLI11 puts two empty lines between groups.
std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string help = Formatter::make_help(app, std::move(name), mode);
  for (std::size_t at = 0; (at = help.find("\n\n\n", at)) != std::string::npos;) {
    help.erase(at, 1);
  }
  return help;
}

std::string HelpFormatter::make_subcommand(const CLI::App* subcommand) const {
  // What follows the first line is for the subcommand's own help.
  const std::string description = subcommand->get_description();
  return described(subcommand->get_name(), description.substr(0, description.find('\n')));
}

void begin_group(CLI::App& command, const std::string& heading) {
  CLI::Option* help = command.get_help_ptr();
  if (help != nullptr && help->get_group() == "Options") help->group(heading);
  command.option_defaults()->group(heading);
}

void say(const std::string& line) {
  // It may quote arguments and file names.
  fmt::print(stderr, "{}\n", text::wrap(printable(line), text::terminal_columns(stderr), 2));
}

}  // namespace gdr::cli
