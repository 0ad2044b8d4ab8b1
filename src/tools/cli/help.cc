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

HelpFormatter::HelpFormatter(std::string arguments) : arguments_(std::move(arguments)) {}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = Formatter::make_usage(app, std::move(name));
  while (!usage.empty() && usage.back() == '\n') usage.pop_back();
  return usage + arguments_ + "\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = make_option_name(option, is_positional);
  if (option->get_type_size() != 0) name += " " + option->get_type_name();
  return described(name, make_option_desc(option));
}

std::string HelpFormatter::make_subcommand(const CLI::App* subcommand) const {
  // What follows the first line is for the subcommand's own help.
  const std::string description = subcommand->get_description();
  return described(subcommand->get_name(), description.substr(0, description.find('\n')));
}

void say(const std::string& line) {
  // Arguments and names of files are in it.
  fmt::print(stderr, "{}\n", text::wrap(printable(line), text::terminal_columns(stderr), 2));
}

std::string program_version() { return GDR_VERSION; }

}  // namespace gdr::cli
