#include "manual/pages/pages.h"

namespace gdr::manual {

Pages counters_pages() {
  return {
      {.name = "gdr counters",
       .usages = {{"gdr counters [OPTIONS] [FILE...]"}},
       .help = {"Without a file: what the ports of this account's software NICs have counted, "
                "which gdr run shows in /sys/class/infiniband as well. Running programs keep "
                "counting."},
       .description =
           {"With a file, which gdr run --counters or GDR_SOFT_COUNTERS makes: what became of "
            "packets between hosts, that is sent, received, dropped and why. Processes with the "
            "same file add to it, and so do later runs; remove the file to start again.",
            "Traffic between processes of one host uses no packets and is not counted in these "
            "files, unless gdr run has --packets."},
       .exit_status = {{"0", "printed"},
                       {"1", "output could not be written"},
                       {"2",
                        "wrong use, a file that holds no counters, or no port that has counted"}},
       .variables = {"GDR_SOFT_COUNTERS"},
       .examples = {{"gdr run --counters packets -- ib_write_bw node7"},
                    {"gdr counters packets", "what became of its packets"},
                    {"watch gdr counters", "what the ports count, every two seconds"}},
       .see_also = {"gdr-run(1)", "gdr-soft(7)"}}};
}

}  // namespace gdr::manual
