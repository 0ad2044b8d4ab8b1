#include "manual/pages/pages.h"

namespace gdr::manual {
namespace {

Page doctor() {
  return {.name = "gdr doctor",
          .usages = {{"gdr doctor [OPTIONS]", "examine this host"},
                     {"gdr doctor capture FILE", "pack what the checks read"}},
          .description =
              {"GPUDirect RDMA depends on some fifty things: kernel, GPU driver, RDMA stack, PCIe, "
               "firmware, limits, containers. Most of them fail silently, and the data then goes "
               "through host memory. gdr doctor checks each of them. It says what it found, what "
               "follows from it, and what to type, now and for good. The first line is the first "
               "thing to do. Commands stand on lines of their own, ready to be pasted.",
               "File checks only read. Live probes try in processes of their own what files cannot "
               "tell, such as the registration of GPU memory; --no-probe leaves them out.",
               "gdr fix applies most of the fixes that are shown."},
          .exit_status = {{"0", "nothing is known to be wrong; unknown counts as 0"},
                          {"1", "a check fails"},
                          {"2", "wrong use, or a captured machine that shows neither GPU nor NIC"},
                          {"3", "warnings only"}},
          .variables = {"NO_COLOR"},
          .examples = {{"sudo gdr doctor", "this host; root sees more"},
                       {"gdr doctor --report ticket.html", "a page to attach"},
                       {"sudo gdr doctor capture host.tar", "pack what the checks read ..."},
                       {"gdr doctor --root host.tar", "... and judge it on another machine"}},
          .see_also = {"gdr-doctor-capture(1)", "gdr-explain(1)", "gdr-fix(1)", "gdr-prove(1)"}};
}

Page capture() {
  return {
      .name = "gdr doctor capture",
      .usages = {{"gdr doctor capture [OPTIONS] FILE"}},
      .help = {"Run it as root: other users cannot read most of the PCI configuration space and "
               "the kernel's log."},
      .description =
          {"gdr doctor capture packs into FILE what the checks of gdr doctor read, and nothing "
           "else. The archive can be judged on another machine, by every command that takes "
           "--root.",
           "It leaves out serial numbers, UUIDs, and all kernel parameters, variables, log lines "
           "and files that no check needs. It contains MAC addresses and GIDs, which are needed "
           "to match interface names."},
      .exit_status = {{"0", "written"}, {"1", "not written"}, {"2", "wrong use"}},
      .examples = {{"sudo gdr doctor capture host.tar"},
                   {"gdr doctor --root host.tar", "judge it, on any machine"},
                   {"gdr topo --root host.tar"}},
      .see_also = {"gdr-doctor(1)", "gdr-list(1)", "gdr-topo(1)"}};
}

}  // namespace

Pages doctor_pages() { return {doctor(), capture()}; }

}  // namespace gdr::manual
