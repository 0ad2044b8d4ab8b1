#include "manual/pages/pages.h"

namespace gdr::manual {
namespace {

Page perf() {
  return {
      .name = "gdr perf",
      .usages = {{"gdr perf [OPTIONS]", "both sides on this host"},
                 {"gdr perf --server [OPTIONS]", "wait for clients"},
                 {"gdr perf HOST [OPTIONS]", "measure to the server there"},
                 {"gdr perf compare BASE OTHER..."}},
      .help = {"Options of perftest, such as -d mlx5_0 -x 3 -s 65536 --use_cuda=0, are taken, too; "
               "a line on standard error says what each is called here."},
      .description =
          {"gdr perf measures RDMA with host and GPU memory on any verbs device. Without options "
           "it "
           "takes the first GPU and its nearest NIC, and measures writes between GPU memories, "
           "the same bytes staged through host memory, as programs do without GPUDirect, and "
           "writes between host memories. Each figure stands beside its nearest limit, and a low "
           "one gets advice.",
           "Between two hosts, start gdr perf --server on one of them. The client sends its "
           "options over, so nothing has to be repeated there. Without --secret the server serves "
           "whoever reaches its port; without --listen only this host does.",
           "--check compares every byte of every message."},
      .exit_status = {{"0", "every row has its figures and no byte was wrong"},
                      {"1",
                       "a measurement failed, --check found a wrong byte, or the run was "
                       "interrupted"},
                      {"2", "wrong use"}},
      .variables = {"GDR_SOFT_DEVICES", "GDR_SOFT_GPUS", "NO_COLOR"},
      .examples = {{"gdr perf", "GPU and host memory, this host"},
                   {"gdr perf --operation read --sizes 64-1M --report run.html",
                    "also a page with curves"},
                   {"gdr perf --server --listen any --secret perf.key", "on node7"},
                   {"gdr perf node7 --secret perf.key", "on another host"}},
      .see_also = {"gdr-perf-compare(1)", "gdr-prove(1)", "gdr-topo(1)", "gdr-soft(7)",
                   "ib_write_bw(1)"}};
}

Page compare() {
  return {
      .name = "gdr perf compare",
      .usages = {{"gdr perf compare [OPTIONS] BASE OTHER..."}},
      .description =
          {"gdr perf compare reads documents that gdr perf --report FILE.json wrote, and compares "
           "each other "
           "run with the first one, row by row. It tells changes from noise by the repetitions of "
           "each row. Several runs of one side, with commas between them, count together."},
      .exit_status = {{"0", "compared"},
                      {"1", "with --fail-if-worse: a measurement is shown to be worse"},
                      {"2", "wrong use, or an unusable file"}},
      .examples = {{"gdr perf --report before.json; gdr perf --report after.json"},
                   {"gdr perf compare before.json after.json"},
                   {"gdr perf compare --fail-if-worse 5 monday1.json,monday2.json today.json"},
                   {"gdr perf compare --json before.json after.json", "for a script"}},
      .see_also = {"gdr-perf(1)"}};
}

}  // namespace

Pages perf_pages() { return {perf(), compare()}; }

}  // namespace gdr::manual
