#include "manual/pages/pages.h"

namespace gdr::manual {

Pages fix_pages() {
  return {
      {.name = "gdr fix",
       .usages = {{"gdr fix [OPTIONS] [TOPIC...]"}},
       .description =
           {"gdr doctor finds what is wrong; gdr fix fixes it. It writes to registers and to files "
            "in /etc, so it changes as little as possible: it shows each value before and after, "
            "records every change on disk before making it, reads back what it wrote, and "
            "restores everything with one command. Without --apply it only shows.",
            "acs switches redirection off in the access control registers of the switch ports "
            "between a GPU and a NIC. peer-memory loads the kernel module by which the RDMA stack "
            "registers GPU memory. locked-memory raises the limit for logins and for services "
            "that start jobs. max-read-request raises the NICs' PCIe read requests to 4096 bytes. "
            "persistence keeps the GPU driver loaded. roce prints the usual commands and changes "
            "nothing."},
       .exit_status = {{"0", "done, or nothing to do"},
                       {"1", "a change was refused, or failed and was rolled back"},
                       {"2", "wrong use"}},
       .variables = {"NO_COLOR"},
       .files = {{"/var/lib/gdrkit/fix", "the journal: each change with the value before it"},
                 {"/etc/default/grub.d/60-gdrkit.cfg", "acs with --persist"},
                 {"/etc/modules-load.d/gdrkit.conf", "peer-memory with --persist"},
                 {"/etc/security/limits.d/95-gdrkit.conf", "locked-memory with --persist"},
                 {"/etc/udev/rules.d/95-gdrkit.rules", "max-read-request with --persist"}},
       .examples = {{"gdr fix", "show what would change, and why"},
                    {"sudo gdr fix peer-memory --apply", "apply one fix"},
                    {"sudo gdr fix --persist --apply", "apply all, also for the next boots"},
                    {"sudo gdr fix --undo", "put everything back"}},
       .see_also = {"gdr-doctor(1)", "gdr-peermem(1)", "setpci(8)"}}};
}

}  // namespace gdr::manual
