// What `--help` prints: every line in 80 columns, descriptions broken between words.
//
//   prove->formatter(std::make_shared<HelpFormatter>());
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gdr::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  // `arguments`: what follows the options, if anything.
  explicit HelpFormatter(std::string arguments = "");

  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* subcommand) const override;

 private:
  std::string arguments_;
};

// An error, or what else is one line: in a terminal it is broken between words.
void say(const std::string& line);

constexpr int kFailed = 1, kWrongUse = 2;  // exit statuses
std::string program_version();

}  // namespace gdr::cli
