// gdr mpi: what an MPI can do with GPU memory.
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/mpi_commands.h"

namespace gdr::cli {

void add_mpi(CLI::App& program, Action& chosen) {
  CLI::App* mpi =
      program.add_subcommand("mpi", "Tell whether MPI uses GPUDirect RDMA, and why not");
  add_mpi_check(*mpi, chosen);
  add_mpi_run(*mpi, chosen);
  add_mpi_rank(program, chosen);
  add_mpi_perf(program, chosen);
  mpi->callback([mpi] {
    if (!mpi->get_subcommands().empty()) return;
    throw CLI::ValidationError("no subcommand given; allowed: " + allowed_subcommands(*mpi));
  });
}

}  // namespace gdr::cli
