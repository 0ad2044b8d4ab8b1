#include "manual/pages/pages.h"

namespace gdr::manual {

Pages explain_pages() {
  return {
      {.name = "gdr explain",
       .usages = {{"gdr explain [OPTIONS] [FILE]"},
                  {"gdr explain [OPTIONS] TEXT"},
                  {"gdr explain --symptom ID"},
                  {"gdr explain --list"},
                  {"gdr explain --search WORDS"},
                  {"gdr explain --check-symptoms DIR"}},
       .description =
           {"If GPUDirect RDMA does not work, programs say so in few words, or in words that mean "
            "something else, such as \"Bad address\". gdr explain reads an error text or a whole "
            "log of NCCL, perftest, UCX, Open MPI, NVSHMEM, libfabric, Mooncake, NIXL, DeepEP, "
            "modprobe, the kernel and others. For each symptom that it recognises it gives the "
            "cause, what confirms it on this host, the fix and the source.",
            "It runs the checks of gdr doctor that confirm a cause; --no-check leaves them out, "
            "and --root runs them on a captured machine.",
            "A site adds symptoms of its own in files, DIR/CHAPTER/ID.txt, that --symptoms reads "
            "and --check-symptoms checks. Our own, installed in share/gdrkit/symptoms, show their "
            "form."},
       .exit_status = {{"0", "something was recognised; --check-symptoms: nothing is wrong"},
                       {"1", "nothing was recognised; --check-symptoms: something is wrong"},
                       {"2", "wrong use, or a file that cannot be read"}},
       .variables = {"NO_COLOR"},
       .examples = {{"gdr explain train.log"},
                    {"sudo dmesg | gdr explain"},
                    {"gdr explain \"ibv_reg_mr failed: Bad address\""},
                    {"gdr explain --list", "all symptoms that it knows"}},
       .see_also = {"gdr-doctor(1)", "gdr-nccl-check(1)"}}};
}

}  // namespace gdr::manual
