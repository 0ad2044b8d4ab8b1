// NCCL at its start: its interfaces, plugins, picture of the machine and settings.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& nccl_setup_symptoms() {
  static const Symptoms table = {
      {.id = "nccl-interface-name",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "NCCL finds no network interface of the name that it was given",
       .texts = {{"Bootstrap : no socket interface"},
                 {"Bootstrap: no socket interface"},
                 {"verify NCCL_OOB_NET_IFNAME"},
                 {"NET/Socket : no interface found"},
                 {"NCCL WARN{}No usable listening interface found"},
                 {"NCCL WARN Invalid NCCL_COMM_ID"}},
       .cause =
           "`NCCL_SOCKET_IFNAME` or `NCCL_OOB_NET_IFNAME` names an interface that this host or "
           "container does not have, or one without an address (also in `/etc/nccl.conf` and in "
           "images; names differ among hosts). Without these: only lo and docker0 are there.",
       .consequence = "NCCL stops at its start; no RDMA is involved yet.",
       .checks = {},
       .fix_now =
           "`ip -br addr`; `env | grep NCCL_`; `cat /etc/nccl.conf`; then `export "
           "NCCL_SOCKET_IFNAME=PREFIX`; the beginning of a name is enough (`eth`, `en`), and "
           "`^docker,lo` leaves names out",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
                    Stated::kFix}},
       .explains = {"nccl-bootstrap", "nccl-class", "nccl-warning"}},
      {.id = "nccl-network-absent",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "NCCL does not have the network that it is told to use: mostly, the container has "
                "no NIC",
       .texts = {{"Error: network {word} not found"},
                 {"Failed to initialize any NET plugin"},
                 {"NCCL WARN Comm config netName"},
                 {"NCCL WARN{}NCCL_DEVICE_UNPACK plugin has incompatible version"}},
       .cause = "`NCCL_NET=IB` (or a plugin's name) allows nothing else, and that network did not "
                "start. Mostly the container was not given `/dev/infiniband` (`docker inspect` "
                "shows `Devices: []`) or its image lacks the NIC's library; else `NCCL_IB_HCA` "
                "fits none, `NCCL_IB_DISABLE=1` is set, or the plugin's library is not found. The "
                "INFO lines before this one say which.",
       .consequence = "NCCL stops at its start.",
       .checks = {"rdma-nics", "devices"},
       .fix_now =
           "`env | grep NCCL_`; `ls -l /dev/infiniband`; `ibv_devices`; both in the container; "
           "then `docker run --device /dev/infiniband --cap-add IPC_LOCK --ulimit memlock=-1`; "
           "`unset NCCL_NET NCCL_NET_PLUGIN`; lets NCCL choose, with `NCCL_DEBUG=INFO` to see what",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/blob/master/src/plugin/net.cc", Stated::kCause},
                   {"https://github.com/getainode/ainode/pull/87", Stated::kCauseAndFix}},
       .explains = {"nccl-class", "nccl-warning", "no-rdma-device"}},
      {.id = "nccl-ranks-mixed",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "NCCL's ranks do not agree: two have one number, or call different operations",
       .texts = {{"NCCL WARN{}Message truncated"},
                 {"message truncated : receiving"},
                 {"NCCL WARN{}has already checked in"},
                 {"NCCL WARN Bootstrap Root : mismatch in info"},
                 {"posted incorrect receive info"},
                 {"Comm {}mismatch in number of ranks"}},
       .cause =
           "At the start: two processes have the same rank, ranks of two jobs or of an earlier run "
           "meet at one address, or ranks have different releases of NCCL. Later: ranks call "
           "collectives of different sizes or in another order.",
       .consequence = "NCCL stops; neither the NIC nor the network is at fault.",
       .checks = {"nccl-version"},
       .fix_now =
           "`env | grep -E '^(RANK|LOCAL_RANK|WORLD_SIZE|MASTER_)'`; on every rank; one NCCL "
           "everywhere (`NCCL_DEBUG=VERSION`); `TORCH_DISTRIBUTED_DEBUG=DETAIL` names the "
           "operation that differs",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/blob/master/src/bootstrap.cc", Stated::kCause}},
       .explains = {"nvshmem-messages-mixed", "nccl-bootstrap", "nccl-class", "nccl-warning"}},
      {.id = "nccl-merged-nics",
       .program = Program::kNccl,
       .certainty = Certainty::kCertain,
       .title = "NCCL cannot join NICs to one as NCCL_NET_FORCE_MERGE or its policy asks",
       .texts = {{"TOPO/NET : Could not force merge"},
                 {"TOPO/NET : Tried to merge too many"},
                 {"TOPO/NET : Only matched"},
                 {"Specified fused NIC"},
                 {"Fusing NET devices from different NUMA"},
                 {"NCCL_NET_MERGE_POLICY: unknown value"},
                 {"Invalid NCCL_NET_FORCE_MERGE"},
                 {"Can't make virtual NIC with 0 devices"}},
       .cause =
           "NICs can be joined if they are ports of one card or lie below one PCIe switch, up to "
           "4 together, and have one link layer. The line names those that do not fit, or a "
           "value that is written wrongly.",
       .consequence = "NCCL uses each NIC by itself, or stops.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`unset NCCL_NET_FORCE_MERGE NCCL_NET_MERGE_POLICY`; or groups as in "
           "`NCCL_NET_FORCE_MERGE=\"mlx5_0,mlx5_1;mlx5_2,mlx5_3\"`; `NCCL_IB_MERGE_NICS=0` joins "
           "none",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
                    Stated::kFix}},
       .explains = {"nccl-class", "nccl-warning", "verbs-call"}},
      {.id = "nccl-topology",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "NCCL cannot make a picture of this machine (PCI tree, NUMA)",
       .texts = {{"does not loop back to start"},
                 {"NCCL WARN Could not find real path of"},
                 {"NCCL WARN Could not find any local path from gpu"},
                 {"NCCL WARN No path computed to go from"},
                 {"NCCL WARN Error : could not find CPU close"},
                 {"NCCL WARN Error : too many"},
                 {"NCCL WARN Error : XML parser is limited"},
                 {"NCCL WARN Error : ran out of room"},
                 {"NCCL WARN Add PCI Link error"},
                 {"NCCL WARN GetXmlFromCpu"},
                 {"NCCL WARN ncclTopo"},
                 {"TOPO/NET : Can't find busId"},
                 {"NCCL WARN Could not find NET with id"},
                 {"NCCL WARN Could not find net id"}},
       .cause =
           "NCCL reads the PCI tree and NUMA nodes from /sys and found a part missing: /sys is not "
           "in the container, the virtual machine hides the switches or NUMA nodes, or a "
           "`NCCL_TOPO_FILE` is of another machine. 'too many': more devices than this release "
           "holds.",
       .consequence = "NCCL stops at its start.",
       .checks = {"nccl-version"},
       .fix_now =
           "`gdr topo`; `ls /sys/class/infiniband /sys/bus/pci/devices`; `env | grep "
           "NCCL_TOPO_FILE`; in a virtual machine the provider's topology file; a newer NCCL",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/blob/master/src/graph/topo.cc",
                    Stated::kCause}},
       .explains = {"nccl-class", "nccl-warning"}},
      {.id = "nccl-gin",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "NCCL's GPU-initiated networking (GIN) is not available here",
       .texts = {{"NCCL WARN GIN is disabled"},
                 {"NCCL WARN GIN not supported"},
                 {"GIN strong signals are required"},
                 {"GIN VA signals are required"},
                 {"NCCL WARN GIN plugin does not support"},
                 {"GIN Symmetric register failed"},
                 {"requires DMABUF support with GIN"},
                 {"gdr_pin_buffer_v2 not available; GDRCopy"},
                 {"GDRCOPY lib wrapper not initialized"},
                 {"NCCL WARN DOCA failure"},
                 {"NCCL WARN DOCA Error"},
                 {"NCCL WARN Unable to use GIN"},
                 {"NCCL_GIN_TYPE_NONE"},
                 {"NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER"}},
       .cause =
           "GIN needs NCCL 2.28 or later, a ConnectX NIC and GPU memory that it can register "
           "(dma-buf, or `nvidia-peermem`). Of its two kinds GDAKI lets the GPU ring the NIC's "
           "doorbell (the driver's option `PeerMappingOverride`), the proxy needs GDRCopy 2.5. "
           "An argument that 'must be initialized': the program was built with another NCCL than "
           "is loaded.",
       .consequence = "Programs on NCCL's device API (DeepEP V2 and others) stop.",
       .checks = {"nccl-version", "peer-memory", "gpu-parameters"},
       .fix_now = "`export NCCL_DEBUG=INFO NCCL_GIN_TYPE=2`; the proxy in place of GDAKI; `lsmod | "
                  "grep -E 'peermem|gdrdrv'`; `gdr doctor --explain gpu-parameters`",
       .fix_for_good =
           "The line `options nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\"` in "
           "`/etc/modprobe.d/nvidia.conf`, initramfs and a reboot.",
       .sources = {{"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api/device_gin.html",
                    Stated::kCause}},
       .explains = {"mr-no-dma-buf", "gdrcopy-pin", "nccl-class", "nccl-warning",
                    "deepep-assertion"}},
      {.id = "nccl-ib-setting",
       .program = Program::kNccl,
       .certainty = Certainty::kCertain,
       .title = "A setting of NCCL's InfiniBand transport does not fit this NIC or the other side",
       .texts = {{"NET/IB{}is out of range ["},
                 {"OOO RQ is force enabled but"},
                 {"remote FLID configured as zero"},
                 {"NET/IB{}Resiliency is enabled on"}},
       .cause =
           "The line names the setting: `NCCL_IB_OOO_RQ` needs adaptive routing and a NIC that "
           "has it on both sides; `NCCL_IB_SUBNET_PREFIX_LEN` is 1 to 32; FLID: InfiniBand hosts "
           "on two "
           "subnets without a router's LID.",
       .consequence = "The setting has no effect, or NCCL stops.",
       .checks = {},
       .fix_now = "`env | grep NCCL_IB_`; unset the one that the line names, on every rank",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
                    Stated::kFix}},
       .explains = {"verbs-call"}},
      {.id = "nccl-local-sockets",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "NCCL cannot hand GPU memory to another process of this host (unix sockets)",
       .texts = {{"NCCL WARN UDS: "}},
       .cause =
           "Handles of GPU memory go through a socket whose name belongs to a network namespace: "
           "ranks in two containers of one host do not reach each other by it.",
       .consequence = "NCCL stops; no NIC is involved.",
       .checks = {},
       .fix_now =
           "`docker run --gpus all --network host --ipc host`; for all ranks of the host; or "
           "`NCCL_CUMEM_ENABLE=0`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/blob/master/src/misc/ipcsocket.cc",
                    Stated::kCause}},
       .explains = {"nccl-class", "nccl-warning"}},
  };
  return table;
}

}  // namespace gdr::explain
