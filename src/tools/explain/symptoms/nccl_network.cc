// Connections that fail, in NCCL's words and in those of the programs that show the same.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& nccl_network_symptoms() {
  static const Symptoms table = {
      {.id = "wrong-gid",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "The GID index that is used names no usable address",
       .texts = {{"Device {word} GID {number} not available"},
                 {"ib_roce_get_version_num"},
                 general("{connect-qp} && No data available"),
                 general("{connect-qp} && err 61"),
                 general("could not get gid for port"),
                 general("Invalid GID"),
                 general("invalid gid index"),
                 {"sgid_index ({number}) too large"},
                 {"sgid_index({number}) too large"},
                 {"invalid sgid index = {number}"},
                 {"GID not found in the SGID table"},
                 general("No valid GID"),
                 {"No suitable GID found"},
                 {"try another GID index"},
                 {"RoCE v2 GID not found"},
                 general("GID index{}not {}found"),
                 general("GID index{}{fails}"),
                 general("GID{}is invalid"),
                 general("could not find{}GID"),
                 general("cannot find{}GID"),
                 general("failed to find{}GID"),
                 general("find gid && {fails}"),
                 general("gid_index && {fails}"),
                 general("{query} gid && {fails}"),
                 general("unable to find RoCE v2 GID"),
                 general("invalid remote gid"),
                 {"ncclIbRoceGetVersionNum && {fails}"},
                 general("Failed to query GID"),
                 general("ibv_query_gid && {fails}")},
       .cause =
           "The slot is empty, or holds a RoCE v1 or link-local address: the port is down, its "
           "interface has no IP address or is not in this container (each interface with an "
           "address has a RoCE v2 GID, often at index 3), or the index is of another host.",
       .consequence = "The program stops, or leaves this NIC out.",
       .checks = {"roce-gid", "port-state"},
       .fix_now =
           "`show_gids`; then the index of a RoCE v2 GID with an address that the peer reaches, in "
           "the program's own variable: `NCCL_IB_GID_INDEX` (NCCL 2.21 and later finds it itself "
           "where that is unset), `NVSHMEM_IB_GID_INDEX`, `MC_GID_INDEX` (Mooncake), "
           "`UCX_IB_GID_INDEX` (UCX, NIXL), `UCCL_IB_GID_INDEX`, `--rdma_gid_index` (brpc), "
           "perftest "
           "`-x`; none there: `ip addr add ADDRESS/24 dev INTERFACE`, containers with `--network "
           "host`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/2013", Stated::kCauseAndFix},
                   {"https://github.com/kvcache-ai/Mooncake/issues/1593", Stated::kCause},
                   {"https://github.com/NVIDIA/nccl/issues/1510", Stated::kSymptom}},
       .explains = {"mooncake-gid-choice", "kv-transfer", "work-flushed", "nic-not-usable",
                    "mooncake-no-transport", "3fs-devices", "nccl-warning"}},
      {.id = "peer-never-answers",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "The peer's NIC never answers (transport retry counter exceeded)",
       .texts =
           {// mlx5 dumps the completion: the last byte of the second word is the syndrome.
            {"got completion with error:{end}", 1},
            {"00000000 {word}15 {word} {word}{end}", 2},
            {"Got completion{}with error 12,"},
            {"Got completion{}status=12 "},
            {"Failed status 12: wr_id"},
            {"ib_{word} Failed status 12"},
            {"Transport retry count exceeded"},
            {"transport retry counter exceeded"},
            {"transport retry exceeded"},
            {"WC_RETRY_EXC_ERR"},
            {" RETRY_EXC_ERR"},
            {"=RETRY_EXC_ERR"},
            {"(RETRY_EXC_ERR"},
            {"status 12{}vendor{}129"},
            {"vendor err 129"},
            {"vendor_err 129"},
            {"syndrom 0x81"},
            {"retry count between two MPI processes has been exceeded"},
            {"syndrome 0x15, vendor"},
            {"synd 0x15 vend"},
            general("{completion} && {WC12}")},
       .cause = "At once after connecting: the two NICs have no way to each other with this GID, "
                "MTU or traffic class, or a firewall drops UDP port 4791. Later: a link went down, "
                "the peer died, or packets are lost since the network is not lossless.",
       .consequence = "The connection is broken; what the program reports next follows from it.",
       .checks = {"roce-gid", "port-state", "mtu", "lossless"},
       .fix_now = "`show_gids`; `ib_write_bw -d DEVICE -x INDEX`; between the same two NICs. It "
                  "fails too: a "
                  "RoCE v2 GID that both reach (`NCCL_IB_GID_INDEX`, `NVSHMEM_IB_GID_INDEX`, "
                  "`MC_GID_INDEX`, `UCX_IB_GID_INDEX`, perftest `-x`), or only NICs of one network "
                  "together. It works: look for the first error of the other side, for links that "
                  "go down, "
                  "and for lost packets; NCCL waits longer with `NCCL_IB_TIMEOUT=22`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/426", Stated::kCauseAndFix},
                   {"https://github.com/pytorch/pytorch/issues/81628", Stated::kCauseAndFix}},
       .explains = {"rdma-cm-consumer", "post-queue-full", "post-refused", "kv-transfer",
                    "work-flushed", "nic-error-completion", "mooncake-slice", "nccl-warning"}},
      {.id = "gpu-access-fails",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "The NIC may not reach the memory of a request of its own side: local protection "
                "error (status 4)",
       .texts =
           {// mlx5 dumps the completion: the last byte of the second word is the syndrome.
            {"got completion with error:{end}", 1},
            {"00000000 {word}04 {word} {word}{end}", 2},
            {"00000000 {word}11 {word} {word}{end}", 2},
            {"Got completion{}with error 4,"},
            {"Got completion{}status=4 "},
            {"Failed status 4: wr_id"},
            {"local protection error"},
            {"Local protection on {word}"},
            {"LOC_PROT_ERR"},
            {"local access error"},
            {"local access violation"},
            {"LOC_ACCESS_ERR"},
            {"syndrome 0x4, vendor"},
            {"syndrome 0x11, vendor"},
            {"synd 0x4 vend"},
            {"synd 0x11 vend"},
            general("{completion} && {WC4}"),
            general("{completion} && {WC8}"),
            {"vendor err 81 "},
            {"vendor err 81{end}"},
            {"WC error: 4, message"},
            {"To confirm and fix the problem, you can set NCCL_NET_GDR_LEVEL=0 to disable"}},
       .cause =
           "With GPU memory: registration succeeded, the access itself did not, since PCIe Access "
           "Control Services redirect it to the CPU, which refuses it, or the IOMMU translates the "
           "address. With host memory it is the program: the address or length of a request lies "
           "outside of the region, its lkey is of another region or protection domain, the region "
           "was given back, or what is received into lacks `IBV_ACCESS_LOCAL_WRITE`.",
       .consequence = "The request fails, and the connection is broken.",
       .checks = {"acs", "iommu"},
       .fix_now = "GPU memory: `NCCL_NET_GDR_LEVEL=0` makes it work, slowly; then `gdr doctor` "
                  "names the ports, and `sudo gdr fix` changes these alone. Host memory: compare "
                  "each `ibv_sge` (address, length, lkey) with the `ibv_mr` that it is of",
       .fix_for_good = "Switch ACS off in the BIOS, or boot with `pci=disable_acs_redir=PORTS`.",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/928", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/1052", Stated::kSymptom},
                   {"https://github.com/NVIDIA/nccl/issues/214", Stated::kSymptom}},
       .explains = {"work-flushed", "nic-error-completion", "mooncake-slice", "nccl-warning"}},
      {.id = "work-flushed",
       .program = Program::kNccl,
       .certainty = Certainty::kPossible,
       .title = "Work was flushed (error 5): another error came before",
       .texts = {{"Got completion{}with error 5,"},
                 {"Got completion{}status=5 "},
                 {"Failed status 5: wr_id"},
                 {"Work Request Flushed Error"},
                 {"WR_FLUSH_ERR"},
                 {"WR flushed because"},
                 {"WR flush error (peer_nic"},
                 {"syndrome 0x5, vendor"},
                 {"synd 0x5 vend"},
                 general("work request flushed"),
                 general("{completion} && {WC5}")},
       // Accelio traces each request that is flushed when a connection is closed in order.
       .unless = {"[TRACE] - rdma_hndl"},
       .cause = "When a connection breaks, the NIC gives back all other requests with this status. "
                "The first error, in this log or in the peer's, is the cause.",
       .consequence = "Nothing by itself: this connection had broken before.",
       .checks = {},
       .fix_now = "The first completion with another status, in every rank's log, is the cause.",
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
                 {"Got async event : GID table change"},
                 {"async event GID table change"}},
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
       .texts = {{"unable to set memops for cuda ptr"},
                 {"NCCL WARN NET/OFI Unable to register memory"},
                 {"NET/OFI{}Unable to register memory"},
                 {"NET/OFI{}Couldn't register memory region"},
                 {"NET/OFI{}Could not register memory"}},
       .cause = "With 'Invalid argument' for type 2 (GPU memory): libfabric of EFA installers "
                "before 1.29.1 with NCCL 2.19 or later.",
       .consequence = "The program fails while it connects.",
       .checks = {"locked-memory"},
       .fix_now = "`export FI_EFA_SET_CUDA_SYNC_MEMOPS=0`",
       .fix_for_good = "EFA installer 1.29.1 or later.",
       .sources = {{"https://github.com/awslabs/awsome-distributed-ai/issues/203",
                    Stated::kCauseAndFix},
                   {"https://github.com/aws/aws-ofi-nccl/issues/584", Stated::kSymptom}},
       .explains = {"mr-invalid-argument", "mr-refused"}},
  };
  return table;
}

}  // namespace gdr::explain
