#include "manual/pages/pages.h"

namespace gdr::manual {

Pages topo_pages() {
  return {
      {.name = "gdr topo",
       .usages = {{"gdr topo [OPTIONS]"}},
       .description =
           {"gdr topo first says whether GPUs and NICs are near enough for GPUDirect RDMA, what to "
            "do first, and which NIC each GPU should use, with the reason. Then it shows the "
            "matrix of nvidia-smi topo -m in its words and layout, how NCCL judges the paths, and "
            "every name of every GPU, NIC and port.",
            "It needs neither root nor a driver, and reads other machines, too: a captured root, "
            "or what lspci, hwloc or NCCL wrote about one. Root sees more: link speeds and access "
            "control are in the part of the PCI configuration space that other users cannot "
            "read."},
       .exit_status = {{"0", "shown, whatever was found"},
                       {"1", "output could not be written"},
                       {"2", "wrong use, or a captured machine that shows neither GPU nor NIC"}},
       .variables = {"NO_COLOR"},
       .examples = {{"sudo gdr topo", "matrix, best NIC, names"},
                    {"gdr topo --tree", "the PCI tree between GPUs and NICs"},
                    {"gdr topo --report host.svg", "the tree as a drawing"},
                    {"lspci -vvv > pci.txt; gdr topo --lspci pci.txt", "another host's listing"}},
       .see_also = {"gdr-doctor(1)", "gdr-list(1)", "lspci(8)", "lstopo(1)"}}};
}

}  // namespace gdr::manual
