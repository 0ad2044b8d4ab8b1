#include "manual/pages/pages.h"

namespace gdr::manual {
namespace {

Page nccl() {
  return {
      .name = "gdr nccl",
      .usages = {{"gdr nccl check [OPTIONS] FILE"},
                 {"gdr nccl run [OPTIONS] -- PROGRAM [ARGS...]"}},
      .description =
          {"Without GPUDirect RDMA NCCL does not fail: it copies through host memory or uses "
           "sockets, and is slow. It says so in its log, in words that changed with nearly every "
           "version. gdr nccl check reads such a log; gdr nccl run runs a program with the log "
           "switched on, and prints the answer when the program ends. Neither needs a GPU, a NIC "
           "or NCCL itself."},
      .exit_note = "Each of them has a page of its own.",
      .exit_status = {{"0", "as expected"}, {"1", "not as expected"}, {"2", "wrong use"}},
      .examples = {{"gdr nccl check train.log"},
                   {"gdr nccl run -- torchrun --nproc-per-node 2 train.py"}},
      .see_also = {"gdr-explain(1)", "gdr-nccl-check(1)", "gdr-nccl-run(1)", "gdr-watch(1)"}};
}

Page check() {
  return {
      .name = "gdr nccl check",
      .usages = {{"gdr nccl check [OPTIONS] FILE"}},
      .help = {"Each rank must have run with NCCL_DEBUG=INFO and "
               "NCCL_DEBUG_SUBSYS=INIT,NET,ENV,GRAPH."},
      .description =
          {"gdr nccl check lists each connection of the log with its ranks, direction, transport "
           "and channels, those without GPUDirect RDMA first, and says why they have none and "
           "what to type. It understands NCCL 2.4 to 2.30, one rank or many in one file, with "
           "whatever torchrun, mpirun, srun, Ray or Kubernetes put in front of the lines."},
      .exit_status = {{"0", "as expected"},
                      {"1", "not as expected"},
                      {"2", "wrong use, or no log of NCCL"}},
      .examples = {{"gdr nccl check train.log"},
                   {"kubectl logs worker-0 | gdr nccl check -"},
                   {"gdr nccl check --expect any --json train.log", "for a script"}},
      .see_also = {"gdr-explain(1)", "gdr-nccl-run(1)"}};
}

Page run() {
  return {
      .name = "gdr nccl run",
      .usages = {{"gdr nccl run [OPTIONS] -- PROGRAM [ARGS...]"}},
      .help = {"The answer goes to standard error."},
      .description =
          {"gdr nccl run sets NCCL's variables so that the log is complete, reads the log from "
           "files of its own, and leaves the program's output alone. With a launcher that starts "
           "ranks on other hosts, --tee reads the log from what the launcher prints."},
      .exit_note = "The program's own, 128 + N where signal N ended it.",
      .exit_status = {{"1",
                       "also where the program's is 0 and the answer is not as expected, with "
                       "--fail"},
                      {"2", "wrong use"},
                      {"126", "the program is not executable"},
                      {"127", "the program was not found"}},
      .variables = {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE", "TMPDIR"},
      .examples = {{"gdr nccl run -- torchrun --nproc-per-node 2 train.py"},
                   {"gdr nccl run --tee --fail -- mpirun -np 16 ./train"},
                   {"gdr nccl run -- gdr run -- python3 train.py", "on the software NIC"}},
      .see_also = {"gdr-nccl-check(1)", "gdr-watch(1)"}};
}

}  // namespace

Pages nccl_pages() { return {nccl(), check(), run()}; }

}  // namespace gdr::manual
