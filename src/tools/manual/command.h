// A command with its options and what they mean, as the command line's parser knows them
// (cli/app_tree.h), for whoever writes them down.
#pragma once

#include <string>
#include <vector>

namespace gdr::manual {

struct Option {
  std::vector<std::string> names;  // "-q", "--quiet"; for an argument its name alone: "FILE"
  std::string value;               // "FILE"; empty: it takes none
  std::string text;
};

struct OptionGroup {
  std::string heading;  // "Output"
  std::vector<Option> options;
};

struct Command {
  std::string name;     // "gdr doctor capture"
  std::string summary;  // one line without a full stop
  std::vector<Option> arguments;
  std::vector<OptionGroup> groups;
  std::vector<Command> subcommands;
};

// "gdr-doctor-capture": the name of its manual page.
std::string page_name(const std::string& command_name);

}  // namespace gdr::manual
