#include "cli/subcommands.h"

namespace gdr::cli {

void add_all(CLI::App& program, Action& chosen, const CommandLine& line) {
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
  add_fabric(program, chosen);
  add_mpi(program, chosen);
  add_nccl(program, chosen, line.command);
  add_counters(program, chosen);
  add_help(program, chosen);
  add_version(program, chosen);
}

}  // namespace gdr::cli
