// Neighbours of GPUDirect RDMA: NVLink between hosts, SHARP, CUDA IPC.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& topic_symptoms() {
  static const Symptoms table = {
      {.id = "sharp",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "SHARP (reductions in InfiniBand switches) cannot be used: NCCL goes on without it",
       .texts = {{"SHARP coll init error"},
                 {"Cannot create SHARP job"},
                 {"SHARP{}group create{}fail"},
                 {"SHARP group create: "},
                 {"sharp_get_{word}{}{fails}"},
                 {"sharp_coll_{word}{}{fails}"},
                 {"sharp_create_job{}{fails}"},
                 {"sharp_alloc_groups{}{fails}"},
                 {"sharp_connect_tree{}{fails}"},
                 {"Failed to lock SAT tree"},
                 {"Streaming Tree lock failed"},
                 {"collect_ports_data: "},
                 {"failed to connect to {}sharp"},
                 {"sharpd && {fails}"},
                 {"sharp_am{}{fails}"},
                 {"SHARPD && {fails}"},
                 {"SHARP && error"},
                 {"sharp_plugin.c{}NCCL WARN"},
                 {"SHARP && {fails} && tree"},
                 {"Cannot initialize CollNet"},
                 {"CollNet{}not supported{}falling"},
                 {"libsharp_coll.so{}cannot open"}},
       .cause =
           "SHARP needs InfiniBand switches that have it, an aggregation manager (`sharp_am`, in "
           "UFM or beside the subnet manager) that this host reaches, and a resource that no "
           "other job holds: a streaming tree is locked by one job at a time. A port that is "
           "used by the subnet manager, or is Ethernet, is left out.",
       .consequence = "NCCL reduces on the GPUs as it does without SHARP; nothing fails.",
       .checks = {"subnet-manager", "port-state"},
       .fix_now =
           "`export NCCL_COLLNET_ENABLE=0`; goes on without it and without the messages; else "
           "`sharp_hello -d mlx5_0:1 -v 3` on the host, and the log of the aggregation "
           "manager",
       .fix_for_good = "The aggregation manager with enough trees and jobs for those who share the "
                       "fabric.",
       .sources = {{"https://docs.nvidia.com/networking/display/sharpv300", Stated::kCause},
                   {"https://github.com/Mellanox/nccl-rdma-sharp-plugins/issues/151",
                    Stated::kSymptom},
                   {"https://github.com/NVIDIA/nccl/issues/1219", Stated::kSymptom}},
       .explains = {}},
      {.id = "mnnvl-imex",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "NVLink between hosts (MNNVL, IMEX): GPU memory of another host cannot be mapped",
       .texts = {{"cuMemCreate && not permitted"},
                 {"MNNVL (cliqueSize"},
                 {"cuMemImportFromShareableHandle && {fails}"},
                 {"cuMemExportToShareableHandle && {fails}"},
                 {"cuMemSetAccess && {fails}"},
                 {"cuMemSetAccess && invalid argument"},
                 {"cuMemSetAccess && CUDA_ERROR"},
                 {"cuMemCreate && {fails} && fabric"},
                 {"CU_MEM_HANDLE_TYPE_FABRIC && {fails}"},
                 {"fabric handle && {fails}"},
                 {"nvidia-imex{}{fails}"},
                 {"IMEX && {fails}"},
                 {"IMEX && not {}running"},
                 {"imex channel && {fails}"},
                 {"/dev/nvidia-caps-imex-channels"},
                 {"MNNVL && {fails}"},
                 {"MNNVL && not supported"},
                 {"NVLink domain && {fails}"},
                 {"cliqueId && {fails}"},
                 {"ComputeDomain && {fails}"}},
       .cause =
           "Hosts of one NVLink domain (GB200, GB300) map each other's GPU memory by fabric "
           "handles, for which the service nvidia-imex must run on all of them with the same "
           "list of nodes, and the process needs a channel (`/dev/nvidia-caps-imex-channels`). "
           "GPUs of different domains or cliques cannot map each other; on other hosts the "
           "way does not exist.",
       .consequence = "The job stops, or goes by RDMA where the program can.",
       .checks = {"gpus"},
       .fix_now =
           "`nvidia-smi -q | grep -A6 Fabric`; state Completed, and the same ClusterUUID and "
           "CliqueId on all hosts; `systemctl status nvidia-imex`; `nvidia-imex-ctl -N`; "
           "`ls /dev/nvidia-caps-imex-channels`; without it: `NCCL_MNNVL_ENABLE=0`, "
           "`UCX_CUDA_IPC_ENABLE_MNNVL=n`, `NVSHMEM_DISABLE_MNNVL=1`",
       .fix_for_good =
           "The same nodes in every `/etc/nvidia-imex/nodes_config.cfg`; in Kubernetes a "
           "ComputeDomain for the job.",
       .sources = {{"https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/index.html",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nvbandwidth/issues/44", Stated::kSymptom},
                   {"https://github.com/NVIDIA/TensorRT-LLM/pull/6085", Stated::kSymptom}},
       .explains = {}},
      {.id = "cuda-ipc",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title =
           "GPUs of one host do not reach each other (CUDA IPC, peer access): no NIC is involved",
       .texts = {{"cuIpcOpenMemHandle && {fails}"},
                 {"cuIpcGetMemHandle && {fails}"},
                 {"cudaIpcOpenMemHandle && {fails}"},
                 {"cudaIpcGetMemHandle && {fails}"},
                 {"cudaIpcOpenEventHandle && {fails}"},
                 {"cuIpcOpenEventHandle && {fails}"},
                 {"cuda_ipc && {fails}"},
                 {"ipc mem handle && {fails}"},
                 {"IpcMemHandle && {fails}"},
                 {"cuIpcCloseMemHandle"},
                 {"rocm_ipc{}error"},
                 {"ipc-cache: {}{fails}"},
                 {"hipIpc{word} && {fails}"},
                 {"zeMemOpenIpcHandle && {fails}"},
                 {"transport/p2p.cc{}NCCL WARN"},
                 {"peer access && {fails}"},
                 {"peer access is not supported between"},
                 {"CUDA_ERROR_PEER_ACCESS"},
                 {"cudaErrorPeerAccess"},
                 {"enablePeerAccess && {fails}"},
                 {"cuCtxEnablePeerAccess && {fails}"},
                 {"cudaDeviceEnablePeerAccess && {fails}"}},
       .cause =
           "Two processes share GPU memory by handles of CUDA: they must be on one host, see both "
           "GPUs (not hidden by `CUDA_VISIBLE_DEVICES` or by containers with separate IPC and "
           "PID namespaces), and the memory must come from `cudaMalloc` (handles of "
           "`cuMemCreate` and of pools are others). The GPUs must reach each other by NVLink "
           "or PCIe without ACS and a translating IOMMU in the way.",
       .consequence = "Copies inside the host go through host memory, or the program stops.",
       .checks = {"acs", "iommu", "gpus"},
       .fix_now = "`nvidia-smi topo -p2p r`; containers: `docker run --gpus all --ipc=host "
                  "--pid=host`; PyTorch: no `expandable_segments:True`; without it: "
                  "`NCCL_P2P_DISABLE=1`, UCX: `UCX_TLS=^cuda_ipc`",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/"
                    "troubleshooting.html",
                    Stated::kFix},
                   {"https://docs.nvidia.com/cuda/cuda-c-programming-guide/", Stated::kCause}},
       .explains = {}},
      {.id = "cma-copy",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "Two processes of one host may not copy from each other (CMA): no NIC is involved",
       .texts = {general("process_vm_readv && {EPERM}"), general("process_vm_writev && {EPERM}"),
                 general("process_vm_readv && {ENOSYS}"), general("cma_ep.c && {fails}"),
                 general("pidfd_getfd && {fails}"), general("pidfd_open && {fails}"),
                 general("ptrace_scope && {fails}"), general("CMA support is not available")},
       .cause =
           "The kernel forbids it: containers in different PID or user namespaces, without the "
           "capability `SYS_PTRACE`, or `kernel.yama.ptrace_scope` above 0.",
       .consequence = "Copies within the host go another way, or the program stops.",
       .checks = {},
       .fix_now = "`docker run --cap-add SYS_PTRACE --ipc=host --pid=host`; `sudo sysctl "
                  "kernel.yama.ptrace_scope=0`; without it: `UCX_TLS=^cma`, Open MPI: "
                  "`mpirun --mca btl_vader_single_copy_mechanism none PROGRAM`",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man2/process_vm_readv.2.html",
                    Stated::kCause}},
       .explains = {}},
      {.id = "gpu-pointer-to-sockets",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "A program sends GPU memory through a socket: the kernel cannot read GPU addresses",
       .texts = {{"tcp_transport{}{EFAULT}"},
                 {"Session::write{word} {}{EFAULT}"},
                 {"Session::read{word} {}{EFAULT}"},
                 {"{socket-call} && {fails} && {EFAULT}"},
                 {"{socket-call} && {EFAULT}"}},
       .cause =
           "RDMA is not used here (no NIC was found, or TCP was asked for), and the transport for "
           "sockets was given a buffer in GPU memory as it is. The processor cannot read it: "
           "it has to be copied to host memory first, or go by RDMA.",
       .consequence = "The transfer fails.",
       .checks = {"rdma-nics"},
       .fix_now =
           "Use the program's RDMA transport (Mooncake: `protocol=rdma` and a `device_name`; "
           "`MC_FORCE_TCP` unset), or buffers in host memory; `gdr list`; shows the NICs",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/issues/383", Stated::kSymptom}},
       .explains = {"kv-transfer"}},
      {.id = "multicast",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "A multicast group of InfiniBand or RoCE could not be joined",
       .texts = {general("mcast && {fails}"), general("multicast && join && {fails}"),
                 general("multicast join failed"), general("MultiCast group && {fails}"),
                 general("attach {}mcast"), general("attach_mcast{}{fails}")},
       .cause =
           "The subnet manager answers who may join, at which rate and MTU; it is absent, or the "
           "group was made with another rate, MTU or partition. IP over InfiniBand needs its "
           "broadcast group. GPUDirect RDMA needs none.",
       .consequence = "What wants the group (IPoIB, UD multicast tests) does not work.",
       .checks = {"subnet-manager", "port-state"},
       .fix_now = "`sudo saquery -g`; `sudo sminfo`; `ip -s link show ib0`",
       .fix_for_good = "",
       .sources = {{"https://docs.kernel.org/infiniband/ipoib.html", Stated::kCause}},
       .explains = {}},
      {.id = "nvswitch-error",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "NVLink or an NVSwitch reports an error (SXid): no NIC is involved",
       .texts = {{"NVLink RLW"},
                 {"Xid (PCI:{word}): 145"},
                 {"Xid (PCI:{word}): 149"},
                 {"previous Xid 145"},
                 {"previous Xid 149"},
                 {"Unable to retrieve NVLink information as all links"},
                 general("nvidia-nvswitch && SXid"),
                 general("SXid (PCI:"),
                 {"NVRM: Xid (PCI:{word}): 74,"},
                 {"NVRM: Xid (PCI:{word}): 144,"},
                 {"NVRM: Xid (PCI:{word}): 145,"},
                 {"NVRM: Xid (PCI:{word}): 146,"},
                 {"NVRM: Xid (PCI:{word}): 147,"},
                 {"NVRM: Xid (PCI:{word}): 148,"},
                 {"NVRM: Xid (PCI:{word}): 149,"},
                 {"NVRM: Xid (PCI:{word}): 150,"},
                 {"NVRM: Xid (PCI:{word}): 155,"},
                 {"NVRM: Xid (PCI:{word}): 137,"},
                 {"caused by previous Xid 74{end}"},
                 {"caused by previous Xid 14{number}{end}"},
                 general("NVSwitch && fatal error"),
                 general("NVLink && {fails}"),
                 general("Unable to retrieve NVLink information")},
       .cause =
           "A link, GPU baseboard or NVSwitch fails or was trained badly, or the fabric manager "
           "was restarted while GPUs were in use. The number says which: 'fatal' needs a reset "
           "of all GPUs of the board.",
       .consequence = "Transfers between the GPUs of this host fail or are slow.",
       .checks = {"gpus"},
       .fix_now =
           "`nvidia-smi nvlink -s`; `nvidia-smi nvlink -e`; `sudo dmesg | grep -i sxid | tail`; "
           "then a reset of all GPUs, or a reboot",
       .fix_for_good = "The vendor, with the number, where it comes back.",
       .sources = {{"https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
                    Stated::kCauseAndFix}},
       .explains = {"gpu-xid", "gpu-program-fault", "gpu-needs-reset"}},
  };
  return table;
}

}  // namespace gdr::explain
