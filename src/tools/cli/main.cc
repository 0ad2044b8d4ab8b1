#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>

#include "base/printable.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/subcommands.h"
#include "version/version.h"

namespace gdr::cli {
namespace {

int run_program(int argc, char** argv) {
  const CommandLine line = split_command_line(std::vector<std::string>(argv + 1, argv + argc));
  CLI::App program(
      "Get GPUDirect RDMA working, prove it, measure it; simulate missing hardware.\n"
      "In a prolog or a readiness gate: gdr prove --require-hardware",
      "gdr");
  program.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  program.footer(
      "Each subcommand has a --help of its own, which ends with examples.\n"
      "\n"
      "Examples:\n"
      "  gdr doctor               is this host ready, and if not, what to do first\n"
      "  gdr prove                move bytes between NIC and GPU, check every one\n"
      "  gdr perf                 measure bandwidth and latency\n"
      "  gdr run -- ibv_devinfo   run a program on the software NIC and GPU");
  program.set_version_flag("--version", described_version(), "Print the version and exit");
  Action chosen;
  add_prove(program, chosen);
  add_topo(program, chosen);
  add_list(program, chosen);
  add_doctor(program, chosen);
  add_fix(program, chosen);
  add_peermem(program, chosen);
  add_explain(program, chosen);
  add_perf(program, chosen, line.own);
  add_run(program, chosen, line.command);
  add_watch(program, chosen, line.command);
  add_nccl(program, chosen, line.command);
  add_counters(program, chosen);
  program.formatter(std::make_shared<HelpFormatter>("gdr SUBCOMMAND [OPTIONS]"));

  try {
    // CLI11 takes its words from the back.
    program.parse(std::vector<std::string>(line.own.rbegin(), line.own.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    say(usage_error(program, error));
    return kWrongUse;
  }
  if (!chosen) {
    say(fmt::format("gdr: no subcommand given; allowed: {}; see 'gdr --help'",
                    allowed_subcommands(program)));
    return kWrongUse;
  }
  return chosen();
}

// What is opened next must not become the standard output of somebody who was started without one.
// A program that is started from here has none either.
void fill_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0) return;
  }
}

}  // namespace
}  // namespace gdr::cli

int main(int argc, char** argv) {
  gdr::cli::fill_standard_descriptors();
  try {
    return gdr::cli::run_program(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gdr: %s\n", gdr::printable(error.what()).c_str());
    return 1;
  }
}
