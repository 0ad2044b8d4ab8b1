// The pages of each subcommand and of those below it, each defined in the file of its name.
#pragma once

#include <vector>

#include "manual/page.h"

namespace gdr::manual {

using Pages = std::vector<Page>;

Pages counters_pages();
Pages doctor_pages();
Pages explain_pages();
Pages fabric_pages();
Pages fix_pages();
Pages gdr_pages();  // the program itself, help and version
Pages list_pages();
Pages mpi_pages();
Pages mpi_run_pages();
Pages nccl_pages();
Pages peermem_pages();
Pages perf_pages();
Pages prove_pages();
Pages run_pages();
Pages topo_pages();
Pages watch_pages();

}  // namespace gdr::manual
