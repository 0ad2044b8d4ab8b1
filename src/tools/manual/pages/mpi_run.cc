#include "manual/pages/pages.h"

namespace gdr::manual {

Pages mpi_run_pages() {
  return {
      {.name = "gdr mpi run",
       .usages = {{"gdr mpi run [OPTIONS] -- [LAUNCHER-OPTIONS...]"}},
       .help = {"What is behind -- goes to the launcher: -- --mca pml ucx -x UCX_TLS=rc"},
       .description =
           {"gdr mpi run compiles a small MPI program with your mpicc, starts it with your mpirun "
            "or srun, and measures latency, bandwidth, bidirectional and multi-pair bandwidth, "
            "all-reduce and all-to-all with host memory, with GPU memory, and with GPU memory that "
            "the program copies through host memory by hand. It compares every value. Meanwhile it "
            "reads the counters of the NICs and of the program's own requests, and says in one "
            "sentence whether the NICs carried the messages, and whether they read and wrote GPU "
            "memory themselves. gdr perf then measures the same between the same NICs.",
            "Without an RDMA NIC or a GPU it uses the stand-ins, and says so. An MPI without CUDA "
            "takes no GPU memory: then only what is staged by hand is measured.",
            "Everything that it has started ends with it, also if the launcher hangs, a rank dies "
            "or the time limit is over."},
       .exit_status = {{"0", "the NICs carried the messages, from and to every memory asked for"},
                       {"1", "wrong values, a failed run, or the time limit was over"},
                       {"2", "wrong use, no MPI, or a launcher and a compiler of different MPIs"},
                       {"3", "not used, or in part: also if the MPI takes no GPU memory"}},
       .variables = {"TMPDIR"},
       .examples = {{"gdr mpi run"},
                    {"gdr mpi run --memory host -- --mca pml ucx -x UCX_TLS=rc",
                     "two ranks of Open MPI on this host, by the NIC instead of shared memory"},
                    {"gdr mpi run -n 4 --hosts node1,node2 --report mpi.html"},
                    {"gdr mpi run --launcher srun --hosts node1,node2"}},
       .see_also = {"gdr-nccl-run(1)", "gdr-perf(1)", "gdr-prove(1)", "gdr-watch(1)"}}};
}

}  // namespace gdr::manual
