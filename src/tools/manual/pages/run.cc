#include "manual/pages/pages.h"

namespace gdr::manual {

Pages run_pages() {
  return {
      {.name = "gdr run",
       .usages = {{"gdr run [OPTIONS] -- PROGRAM [ARGS...]"}},
       .help = {"The software NIC replaces libibverbs.so.1; the software GPU replaces "
                "libcuda.so.1 and libcudart.so."},
       .description =
           {"gdr run starts PROGRAM, unchanged, on the software NIC and the software GPU, or on "
            "one "
            "of them beside real hardware. By default it replaces what the machine does not have; "
            "broken hardware counts as present, so that a stand-in never hides a fault by itself. "
            "One line on standard error says what was replaced and set, and one at the end what "
            "the program did with it.",
            "It shows the software NIC in /dev/infiniband and /sys/class/infiniband, too, to the "
            "program and to nobody else. Processes on one host need no packets. Processes on "
            "different hosts exchange RoCEv2 packets over UDP, once GDR_SOFT_DEVICES gives each "
            "software NIC an address of its host.",
            "Statically linked and set-user-ID programs cannot be run this way, and say so. The "
            "software GPU runs no kernels."},
       .exit_note = "The program's own; as a shell says it, 128 + N where signal N ended it.",
       .exit_status = {{"1", "the program's is 0, and the file of --pcap has not all packets"},
                       {"2", "wrong use, or the program cannot run this way"},
                       {"126", "the program is not executable"},
                       {"127", "the program was not found"}},
       .variables = {"GDR_SOFT_DEVICES", "GDR_SOFT_GPUS", "GDR_SOFT_DMA_BUF", "GDR_SOFT_COUNTERS",
                     "GDR_SOFT_PCAP", "GDR_SOFT_FAULTS", "GDR_SOFT_PATH", "GDR_PRESENCE",
                     "GDR_OBSERVE"},
       .files = {{"lib/gdrkit", "the stand-ins, beside the program's folder"}},
       .examples = {{"gdr run -- ibv_devinfo -v"},
                    {"gdr run --soft-nic -- python3 train.py", "real GPUs, software NIC"},
                    {"gdr run --faults loss=0.01,seed=7 --pcap out.pcap -- ib_write_bw node7"}},
       .see_also = {"gdr-counters(1)", "gdr-watch(1)", "gdr-soft(7)"}}};
}

}  // namespace gdr::manual
