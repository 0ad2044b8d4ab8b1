#include "manual/pages/pages.h"

namespace gdr::manual {

Pages list_pages() {
  return {
      {.name = "gdr list",
       .usages = {{"gdr list [OPTIONS]"}},
       .help = {"Shows which card is which interface: model, RDMA name, netdev, PCI address, MAC, "
                "state, rate, GIDs, driver and firmware. Root also sees the cards' product names. "
                "Simulated devices are marked 'gdrkit stand-in'."},
       .exit_status = {{"0", "listed"},
                       {"1", "output could not be written"},
                       {"2", "wrong use, or a captured machine that shows neither GPU nor NIC"}},
       .variables = {"GDR_SOFT_DEVICES", "GDR_SOFT_GPUS", "NO_COLOR"},
       .examples = {{"sudo gdr list"},
                    {"gdr list --json", "with every GID"},
                    {"gdr list --root host.tar", "a captured machine"}},
       .see_also = {"gdr-doctor-capture(1)", "gdr-topo(1)", "gdr-soft(7)", "ibv_devinfo(1)"}}};
}

}  // namespace gdr::manual
