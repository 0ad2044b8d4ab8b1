// What `--help` prints: the options as CLI11 knows them and the command's page (manual/page.h), in
// the terminal's columns, at most 80, broken between words.
//
//   program.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
//   begin_group(*run, "Software NIC");  // heading of the options added from here on
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gdr::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* subcommand) const override;
  std::string make_footer(const CLI::App* app) const override;
};

// The options that `command` gets from here on stand below `heading`. The first group takes in
// --help.
void begin_group(CLI::App& command, const std::string& heading);

// Prints an error or another single line to standard error; a terminal's line breaks between words.
void say(const std::string& line);

constexpr int kFailed = 1, kWrongUse = 2, kPartly = 3;  // exit statuses

}  // namespace gdr::cli
