// What `--help` prints: every line in 80 columns, descriptions broken between words.
//
//   run->formatter(std::make_shared<HelpFormatter>("gdr run [OPTIONS] -- PROGRAM [ARGS...]"));
//   begin_group(*run, "Software NIC");  // heading of the options added from here on
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gdr::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  // `usage`: the ways to call it, one a line; empty: CLI11 words the only one.
  explicit HelpFormatter(std::string usage = "");

  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* subcommand) const override;

 private:
  std::string usage_;
};

// The options that `command` gets from here on stand below `heading`. The first group takes in
// --help.
void begin_group(CLI::App& command, const std::string& heading);

// Prints an error or another single line to standard error; a terminal's line breaks between words.
void say(const std::string& line);

constexpr int kFailed = 1, kWrongUse = 2;  // exit statuses

}  // namespace gdr::cli
