#include "manual/pages/pages.h"

namespace gdr::manual {

Pages watch_pages() {
  return {
      {.name = "gdr watch",
       .usages = {{"gdr watch [OPTIONS] -- PROGRAM [ARGS...]"}},
       .help = {"The report goes to standard error, so that standard output is the program's. With "
                "--json "
                "it is the other way around: standard output holds the document alone."},
       .description =
           {"gdr watch runs PROGRAM, unchanged, and tells at its end whether its bytes went "
            "directly into GPU memory, through host memory, or not over RDMA at all, and why. It "
            "works with real NICs and with the software NIC, and changes nothing of the "
            "program's choice: to run on the software NIC, put gdr run behind it.",
            "The verdict is direct, staged through host memory, over RDMA with host memory only, "
            "or not over RDMA. --expect gdr is met by the first, --expect rdma by all but the "
            "last. A program's failure always wins over an expectation that is not met."},
       .exit_note = "The program's own, 128 + N where signal N ended it.",
       .exit_status = {{"1", "also where the program's is 0 and --expect is not met"},
                       {"2", "wrong use"},
                       {"126", "the program is not executable"},
                       {"127", "the program was not found"}},
       .examples = {{"gdr watch -- ib_write_bw node7"},
                    {"gdr watch --expect gdr -- mpirun -np 2 ./train"},
                    {"gdr watch -- gdr run -- ./transfer", "on the software NIC"}},
       .see_also = {"gdr-nccl-run(1)", "gdr-run(1)"}}};
}

}  // namespace gdr::manual
