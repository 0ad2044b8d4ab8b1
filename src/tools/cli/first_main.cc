// gdr-first: what ./gdr builds first, so that a proof need not wait for what it does not use.
#include "cli/entry.h"

namespace gdr::cli {
namespace {

void add_first(CLI::App& program, Action& chosen, const CommandLine& line) {
  add_prove(program, chosen);
  add_perf(program, chosen, line.own);
}

std::optional<int> nothing_hidden(const std::vector<std::string>& /*words*/) {
  return std::nullopt;
}

}  // namespace
}  // namespace gdr::cli

int main(int argc, char** argv) {
  return gdr::cli::enter(argc, argv, gdr::cli::add_first, gdr::cli::nothing_hidden);
}
