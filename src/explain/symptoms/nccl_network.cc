// Connections that fail, in NCCL's words and in those of the programs that show the same.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& nccl_network_symptoms() {
  static const Symptoms table = {
      {.id = "wrong-gid",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "The connection cannot be made: the GID has no route to the peer",
       .texts = {{"Call to ibv_modify_qp failed"},
                 {"ibv_modify_qp failed (errno"},
                 {"Failed to modify QP {number} to RTR"},
                 {"Failed to modify QP to RTR"}},
       .cause = "The GID index that is used names a RoCE v1 or link-local address, an address of "
                "another subnet, or an empty slot; or the two NICs are on rails that do not reach "
                "each other.",
       .consequence = "The program fails while it connects.",
       .checks = {"roce-gid", "port-state"},
       .fix_now = "`show_gids`, then `NCCL_IB_GID_INDEX=N` (perftest: `-x N`) with a RoCE v2 GID "
                  "whose address the peer reaches; since 2.21 NCCL finds one by itself, so unset "
                  "it. On rails: `NCCL_CROSS_NIC=0`.",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/2013", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/1510", Stated::kSymptom},
                   {"https://github.com/NVIDIA/nccl-tests/issues/185", Stated::kSymptom}},
       .explains = {"work-flushed"}},
      {.id = "peer-never-answers",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "The peer's NIC never answers (transport retry counter exceeded)",
       .texts = {{"Got completion{}with error 12,"},
                 {"Got completion{}status=12 "},
                 {"Got completion{}IBV_WC_RETRY_EXC_ERR(12)"},
                 {"Failed status 12: wr_id"},
                 {"Failed status transport retry counter exceeded (12)"},
                 {"Transport retry count exceeded"},
                 {"completion with error{}transport retry counter exceeded"}},
       .cause = "At once after connecting: the two NICs have no way to each other with this GID, "
                "MTU or traffic class, or a firewall drops UDP port 4791. Later: a link went down, "
                "the peer died, or packets are lost since the network is not lossless.",
       .consequence = "The connection is broken; what the program reports next follows from it.",
       .checks = {"roce-gid", "port-state", "mtu", "lossless"},
       .fix_now = "`ib_write_bw` between the same two NICs with the same GID index; then "
                  "`NCCL_IB_GID_INDEX=N` with a RoCE v2 GID that both reach.",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/426", Stated::kCauseAndFix},
                   {"https://github.com/pytorch/pytorch/issues/81628", Stated::kCauseAndFix}},
       .explains = {"work-flushed"}},
      {.id = "gpu-access-fails",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "The NIC fails to read or write the GPU's memory (local protection error)",
       .texts = {{"Got completion{}with error 4,"},
                 {"Got completion{}status=4 "},
                 {"Got completion{}IBV_WC_LOC_PROT_ERR(4)"},
                 {"Failed status 4: wr_id"},
                 {"Failed status local protection error (4)"}},
       .cause = "Registration succeeded, the access itself did not: PCIe Access Control Services "
                "redirect it to the CPU, which refuses it, or the IOMMU translates the address.",
       .consequence = "Transfers from and to GPU memory fail; those of host memory work.",
       .checks = {"acs", "iommu"},
       .fix_now = "To confirm: `NCCL_NET_GDR_LEVEL=0` makes it work, slowly. Then `gdr doctor` "
                  "names the ports, and `sudo gdr fix` changes these alone.",
       .fix_for_good = "Switch ACS off in the BIOS, or boot with `pci=disable_acs_redir=PORTS`.",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/928", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/1052", Stated::kSymptom},
                   {"https://github.com/NVIDIA/nccl/issues/214", Stated::kSymptom}},
       .explains = {"work-flushed"}},
      {.id = "work-flushed",
       .program = Program::kNccl,
       .certainty = Certainty::kPossible,
       .title = "Work was flushed (error 5): another error came before",
       .texts = {{"Got completion{}with error 5,"},
                 {"Got completion{}status=5 "},
                 {"Got completion{}IBV_WC_WR_FLUSH_ERR(5)"},
                 {"Failed status Work Request Flushed Error (5)"}},
       .cause = "When a connection breaks, the NIC gives back all other requests with this status. "
                "The first error, in this log or in the peer's, is the cause.",
       .consequence = "None of its own.",
       .checks = {},
       .fix_now = "Look for the first `Got completion` with another status, in every rank's log.",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/1814", Stated::kSymptom},
                   {"https://github.com/NVIDIA/nccl/issues/1737", Stated::kSymptom}},
       .explains = {}},
      {.id = "gid-changed",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "A NIC's addresses changed while the program ran",
       .texts = {{"Async event on {word}: GID table change on port"},
                 {"NET/IB : {word} GID table changed"},
                 {"Got async event : GID table change"}},
       .cause = "The network interface lost or got an address: its link went down and up again, or "
                "DHCP or a network manager set it anew. GIDs may have got other indices.",
       .consequence = "Connections made before may go to a GID that is gone, and then time out.",
       .checks = {"roce-gid", "port-state"},
       .fix_now = "Restart the program; look in dmesg for links that go down.",
       .fix_for_good = "Static addresses on the interfaces that carry RoCE.",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/1819", Stated::kCause},
                   {"https://github.com/NVIDIA/nccl/issues/2157", Stated::kCause},
                   {"https://github.com/openucx/ucx/issues/7613", Stated::kSymptom}},
       .explains = {}},
      {.id = "ofi-register",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "The NCCL plugin for libfabric cannot register memory",
       .texts = {{"NCCL WARN NET/OFI Unable to register memory"}},
       .cause = "With 'Invalid argument' for type 2 (GPU memory): libfabric of EFA installers "
                "before 1.29.1 with NCCL 2.19 or later.",
       .consequence = "The program fails while it connects.",
       .checks = {"locked-memory"},
       .fix_now = "`FI_EFA_SET_CUDA_SYNC_MEMOPS=0`",
       .fix_for_good = "EFA installer 1.29.1 or later.",
       .sources = {{"https://github.com/awslabs/awsome-distributed-ai/issues/203",
                    Stated::kCauseAndFix},
                   {"https://github.com/aws/aws-ofi-nccl/issues/584", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
