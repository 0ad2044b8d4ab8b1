#include "manual/pages/pages.h"

namespace gdr::manual {
namespace {

Page mpi() {
  return {
      .name = "gdr mpi",
      .usages = {{"gdr mpi check [OPTIONS] [MPIRUN]"},
                 {"gdr mpi run [OPTIONS] -- [LAUNCHER-OPTIONS...]"}},
      .description =
          {"An MPI that was built without CUDA crashes when it gets a GPU pointer, and one that "
           "was "
           "built with CUDA may still copy through host memory: nothing says so at run time. gdr "
           "mpi check tells what an MPI can do with GPU memory, and which component does it; gdr "
           "mpi "
           "run measures what it does, and reads the NICs' counters meanwhile. Neither needs a GPU "
           "or a NIC."},
      .exit_note = "Each of them has a page of its own.",
      .exit_status = {{"0", "GPUDirect RDMA, or nothing is known to be wrong"},
                      {"1", "a GPU pointer crashes; a run failed, or values are wrong"},
                      {"2", "wrong use"},
                      {"3", "warnings only; GPUDirect RDMA is not used, or in part"}},
      .examples = {{"gdr mpi check"}, {"gdr mpi run --report mpi.html"}},
      .see_also = {"gdr-doctor(1)", "gdr-explain(1)", "gdr-mpi-check(1)", "gdr-mpi-run(1)",
                   "gdr-nccl(1)"}};
}

Page check() {
  return {
      .name = "gdr mpi check",
      .usages = {{"gdr mpi check [OPTIONS] [MPIRUN]"}},
      .help = {"The answer is for the MPI that mpirun on PATH starts, or for MPIRUN."},
      .description =
          {"gdr mpi check finds Open MPI, MPICH, MVAPICH, Intel MPI and Cray MPICH in PATH, in "
           "environment modules, in conda and Spack, and where vendors and distributions put them. "
           "It asks ompi_info, mpichversion, mpiname, ucx_info and fi_info, reads which libraries "
           "they load, and says for each MPI whether GPU memory goes directly through the NIC, is "
           "copied through host memory or crashes, why, and what to type, configure or install. It "
           "starts no MPI program, and nothing that another account than root and yours could "
           "change, unless it is not root and has it in PATH or names it. A program that takes "
           "longer than --timeout is stopped with all "
           "that it started."},
      .exit_status = {{"0", "GPUDirect RDMA, or nothing is known to be wrong"},
                      {"1", "a GPU pointer crashes, or parts of different MPIs are mixed"},
                      {"2", "wrong use, no MPI was found, or the given one does not answer"},
                      {"3",
                       "GPU memory is copied through host memory, only a part works, or a program "
                       "does not answer, or is not asked since another account could change it"}},
      .examples = {{"gdr mpi check"},
                   {"gdr mpi check /opt/hpcx/ompi/bin/mpirun"},
                   {"gdr mpi check --json | jq -r '.mpis[] | .prefix + \" \" + .verdict'",
                    "for a script"}},
      .see_also = {"gdr-doctor(1)", "gdr-explain(1)", "gdr-peermem(1)", "gdr-watch(1)"}};
}

}  // namespace

Pages mpi_pages() { return {mpi(), check()}; }

}  // namespace gdr::manual
