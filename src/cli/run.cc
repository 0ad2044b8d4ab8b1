#include "cli/subcommands.h"

namespace gdr::cli {

void add_run(CLI::App& program, Action& chosen, const std::vector<std::string>& command) {
  CLI::App* run = program.add_subcommand("run", "Run a program on the stand-ins");
  run->callback([&chosen, command] {
    if (command.empty()) throw CLI::ValidationError("no PROGRAM given");
    chosen = [] { return 1; };
  });
}

}  // namespace gdr::cli
