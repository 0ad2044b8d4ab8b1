#include "cli/help.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/app_tree.h"
#include "manual/help_text.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::cli {
namespace {

// A pipe and a wide terminal get 80: longer lines are hard to read.
std::size_t columns() {
  constexpr std::size_t kLeast = 40, kMost = 80;
  const std::size_t terminal = text::terminal_columns(stdout);
  return terminal < kLeast || terminal > kMost ? kMost : terminal;
}

}  // namespace

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return text::wrap_lines(app->get_description(), columns(), 2);
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  const manual::Page* page = manual::find_page(full_name(*app));
  return "\n" + (page ? manual::usage_text(*page, columns())
                      : Formatter::make_usage(app, std::move(name)));
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = make_option_name(option, is_positional);
  // CLI11 adds ":INT in [1 - 65535]" for each validator; the description says it in words.
  if (takes_value(*option)) name += " " + value_name(*option);
  return manual::described(name, make_option_desc(option), columns());
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
  return manual::described(subcommand->get_name(), description.substr(0, description.find('\n')),
                           columns());
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  const manual::Page* page = manual::find_page(full_name(*app));
  return page ? manual::help_footer(*page, columns()) : "";
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
