#include "manual/pages/pages.h"

namespace gdr::manual {
namespace {

Page program() {
  return {
      .name = "gdr",
      .usages = {{"gdr SUBCOMMAND [OPTIONS]"}},
      .help = {"'gdr help SUBCOMMAND' shows a subcommand's options and ends with examples."},
      .description =
          {"GPUDirect RDMA lets a network card (NIC) read and write GPU memory directly, without a "
           "copy through host memory. gdr gets it working on a Linux host, proves byte by byte "
           "that it works, measures it, and says why when it does not.",
           "If a machine has no RDMA NIC, no GPU or neither, gdr simulates what is missing at its "
           "programming interface, so that its own commands and other people's unmodified "
           "programs run there, too. Every report names what was simulated."},
      .exit_note = "Every subcommand uses the same four numbers; its own page says more.",
      .exit_status = {{"0", "done, and the answer is good"},
                      {"1", "done, and the answer is bad; or the work failed"},
                      {"2",
                       "wrong use or an unusable input: one line on standard error, nothing on "
                       "standard output"},
                      {"3", "in between: only a part is good, or there are warnings"}},
      .variables = {"NO_COLOR"},
      .examples = {{"gdr doctor", "is this host ready, and if not, what to do first"},
                   {"gdr prove", "move bytes between NIC and GPU, check every one"},
                   {"gdr perf", "measure bandwidth and latency"},
                   {"gdr run -- ibv_devinfo", "run a program on the software NIC and GPU"}},
      .see_also = {"gdr-soft(7)", "ibv_devinfo(1)", "ib_write_bw(1)", "rdma_cm(7)"}};
}

Page help() {
  return {.name = "gdr help",
          .usages = {{"gdr help [SUBCOMMAND...]"}},
          .description = {"gdr help SUBCOMMAND prints the same as gdr SUBCOMMAND --help; without a "
                          "subcommand it prints the list of all. Lines fit the terminal, up to 80 "
                          "columns."},
          .exit_status = {{"0", "printed"}, {"2", "there is no such subcommand"}},
          .examples = {{"gdr help", "all subcommands"},
                       {"gdr help prove", "the same as gdr prove --help"},
                       {"gdr help doctor capture"}},
          .see_also = {"gdr(1)"}};
}

Page version() {
  return {.name = "gdr version",
          .usages = {{"gdr version"}},
          .description = {"gdr version prints the same line as gdr --version."},
          .exit_status = {{"0", "printed"}, {"2", "wrong use"}},
          .examples = {{"gdr version"}, {"gdr --version", "the same"}},
          .see_also = {"gdr(1)"}};
}

}  // namespace

Pages gdr_pages() { return {program(), help(), version()}; }

}  // namespace gdr::manual
