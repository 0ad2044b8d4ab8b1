// Libraries that move data for engines: how they are built, set and started.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& engine_setup_symptoms() {
  static const Symptoms table = {
      {.id = "mori-provider",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "MoRI lacks the user-space library of this NIC (libmlx5, libbnxt_re, libionic)",
       .texts = {{"device detected but lib{word} not available at runtime"}},
       .cause = "MoRI builds its own queues and loads the maker's library for that; the image does "
                "not have it, or not where the loader looks.",
       .consequence = "This NIC is left out; without another one there is no RDMA between hosts.",
       .checks = {"rdma-nics"},
       .fix_now = "`ldconfig -p | grep -E 'libmlx5|libbnxt_re|libionic'`; `sudo apt-get install "
                  "ibverbs-providers`; Broadcom and Pensando: the library of the driver's own "
                  "package, the same release as on the host",
       .fix_for_good = "",
       .sources =
           {{"https://github.com/ROCm/mori/blob/main/src/application/transport/rdma/rdma.cpp",
             Stated::kCause}},
       .explains = {"library-absent"}},
      {.id = "mori-bootstrap",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "MoRI's processes do not find each other by TCP before any RDMA (bootstrap)",
       .texts = {{"MORI_SOCKET_IFNAME={}not found"},
                 {"set MORI_SOCKET_IFNAME"},
                 {"PhoneHomeProtocol failed"},
                 {"create PhoneHome socket"},
                 {"bind PhoneHome socket"},
                 {"failed to connect to root after {number} retries"},
                 {"failed to connect to next rank"},
                 {"failed to accept ring connection"},
                 {"Failed to setup communication ring"},
                 {"Failed to find non-loopback network interface"},
                 {"LocalBootstrapNetwork::Barrier"}},
       .cause = "The interface that was chosen, or that `MORI_SOCKET_IFNAME` names, is not on this "
                "host or does not reach the others (a container bridge), a rank is missing, or a "
                "firewall stands between them.",
       .consequence = "MoRI does not start. RDMA is not involved yet.",
       .checks = {},
       .fix_now = "`ip -brief address`; `export MORI_SOCKET_IFNAME=INTERFACE`; on every host the "
                  "one by which they reach each other; `env | grep -E 'MASTER_|RANK|WORLD_SIZE'`",
       .fix_for_good = "",
       .sources = {{"https://github.com/ROCm/mori/blob/main/src/application/bootstrap/"
                    "socket_bootstrap.cpp",
                    Stated::kCause}},
       .explains = {"job-rendezvous", "nccl-bootstrap"}},
      {.id = "mori-heap",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "MoRI's symmetric heap is too small",
       .texts = {{"Out of heap memory! Requested"},
                 {"Increase via MORI_SHMEM_HEAP_SIZE"},
                 {"VA allocation failed for size"}},
       .cause = "All buffers of the job come from one heap, 4 GB by default (16 GB with virtual "
                "memory); this job asks for more.",
       .consequence = "The job stops; no NIC is concerned.",
       .checks = {},
       .fix_now = "`export MORI_SHMEM_HEAP_SIZE=16G`; on all ranks the same",
       .fix_for_good = "",
       .sources = {{"https://github.com/ROCm/mori/blob/main/src/application/memory/va_manager.cpp",
                    Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "mscclpp-nics",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "MSCCL++ asks for more InfiniBand devices than it finds or was told of: it wants "
                "one for each GPU",
       .texts = {{"IB transport out of range: {number} >= {number}"},
                 {"IB transport out of range"},
                 {"IB device index out of range"},
                 {"Not enough HCA devices are defined with MSCCLPP_HCA_DEVICES"},
                 {"No usable port found (device:"}},
       .cause = "Its tests and its default give GPU N the device IB N. This host has fewer devices "
                "with an active port, or `MSCCLPP_HCA_DEVICES` lists fewer.",
       .consequence = "The program stops.",
       .checks = {"rdma-nics", "port-state"},
       .fix_now = "`ibv_devinfo | grep -E 'hca_id|state'`; `export "
                  "MSCCLPP_HCA_DEVICES=mlx5_0,mlx5_1`; one entry for each GPU, the same device may "
                  "stand there again; within one host it needs none",
       .fix_for_good = "",
       .sources = {{"https://github.com/microsoft/mscclpp/issues/254", Stated::kCause},
                   {"https://github.com/microsoft/mscclpp/issues/323", Stated::kFix}},
       .explains = {"no-active-port", "port-not-active"}},
      {.id = "nixl-peer-metadata",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "NIXL's agents do not reach each other by TCP to exchange their descriptions",
       .texts = {{"P2P backend could not connect to IP"},
                 {"poll timed out for ip_addr"},
                 {"poll failed for ip_addr"},
                 {"inet_pton failed for ip_addr"},
                 {"getsockopt gave error for ip_addr"},
                 {"Failed to send message to peer, disconnecting"},
                 {"Failed to receive message from peer, disconnecting"},
                 {"Received socket message with bad header"},

                 {"Handshake send to {}{fails}"},
                 {"notifSendPriv: failed to establish connection"}},
       .cause = "Before any transfer each agent sends its description to the other's listener. The "
                "address is not one that this host reaches (a pod's or a name), no agent listens "
                "there yet, or a firewall stands between.",
       .consequence = "No transfer between these two agents.",
       .checks = {},
       .fix_now = "`nc -vz PEER PORT`; the address and port that the peer listens on (vLLM: "
                  "`VLLM_NIXL_SIDE_CHANNEL_HOST` and `VLLM_NIXL_SIDE_CHANNEL_PORT`); start the "
                  "listening side first",
       .fix_for_good = "",
       .sources =
           {{"https://github.com/ai-dynamo/nixl/blob/main/src/core/nixl_p2p_metadata_backend.cpp",
             Stated::kCause}},
       .explains = {"nixl-error", "nixl-not-found"}},
      {.id = "engine-host-address",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title = "The engine's own message queue gave out an address that the other host does not "
                "reach: both wait for ever",
       .texts = {{"CustomAllreduce is disabled because this process group spans across nodes", 1},
                 {"Custom allreduce is disabled because this process group spans across nodes", 1},
                 {"hang indefinitely", 2},
                 {"freezes at NCCL init", 2},
                 {"hangs forever", 2},
                 {"hang forever", 2},
                 {"gets stuck", 2},
                 {"is stuck at", 2},
                 {"freezes", 2}},
       .cause = "NCCL is well when this is the last line. SGLang and vLLM send small messages by "
                "ZeroMQ sockets of their own, by the address of the first interface (Wi-Fi, a "
                "bridge) unless they are told another one.",
       .consequence = "Start-up stops without an error, before the weights are loaded.",
       .checks = {},
       .fix_now =
           "`ip -brief address`; SGLang: `export SGLANG_HOST_IP=ADDRESS`; vLLM: `export "
           "VLLM_HOST_IP=ADDRESS`; on each host its own address in the network that both reach; "
           "besides `NCCL_SOCKET_IFNAME` and `GLOO_SOCKET_IFNAME` of the same interface",
       .fix_for_good = "",
       .sources = {{"https://github.com/MiaAI-Lab/Qwen3.8-Flash-Next-Dual-DGX-Sparks/issues/3",
                    Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "nvshmem-link",
       .program = Program::kShmem,
       .certainty = Certainty::kCertain,
       .title = "Two definitions of NVSHMEM's device state are linked: NVSHMEM 3.5 or later with "
                "code of the host compiler",
       .texts = {{"multiple definition of 'nvshmemi_ibgda_device_state_d'"},
                 {"multiple definition of 'nvshmemi_"}},
       .cause = "Since 3.5.19 the header declares that variable extern only where relocatable "
                "device code is compiled (`-rdc=true`, nvcc). A .cpp of DeepEP that includes it "
                "defines it again.",
       .consequence = "The program is not linked.",
       .checks = {},
       .fix_now = "A newer DeepEP; or add `-D__NVSHMEM_NUMBA_SUPPORT__` to the C++ compiler's "
                  "flags; or `pip install 'nvidia-nvshmem-cu12<3.5'`",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/pull/557", Stated::kCauseAndFix},
                   {"https://github.com/deepseek-ai/DeepEP/pull/581", Stated::kCauseAndFix}},
       .explains = {"nvshmem-without-ibgda"}},
      {.id = "ucx-tls-without-cuda",
       .program = Program::kMpi,
       .certainty = Certainty::kCertain,
       .title = "UCX_TLS leaves UCX's CUDA transports out: it takes GPU memory for host memory",
       .texts = {{"UCX_TLS=tcp", 1},
                 {"UCX_TLS=rc{end}", 1},
                 {"UCX_TLS=ud,self,sm", 1},
                 {"UCX_TLS=rc,sm,self", 1},
                 {"UCX CUDA support was not found", 2},
                 {"VRAM memory is detected as host", 2},
                 {"memory is detected as host by UCX", 2}},
       .cause =
           "The variable lists transports without `cuda_copy` (and `cuda_ipc`, `gdr_copy`). It is "
           "often set by the cluster's MPI module or Slurm and handed on into the container.",
       .consequence = "GPU memory cannot be registered; NIXL ends, MPI crashes.",
       .checks = {"ucx-variables"},
       .fix_now = "`env | grep ^UCX_`; `unset UCX_TLS`; or add the CUDA ones: `export "
                  "UCX_TLS=rc,cuda_copy,cuda_ipc,sm,self`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/TensorRT-LLM/pull/18373", Stated::kCauseAndFix}},
       .explains = {"ucx-transport-absent", "nixl-without-rdma", "nixl-vram", "ucx-gpu-memory"}},
      {.id = "expandable-segments",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title =
           "PyTorch's expandable segments: this memory cannot be registered by its plain address",
       .texts = {{"expandable_segments:True && {fails}"},
                 {"expandable_segments:True", 1},
                 {"{register} && {fails}", 2}},
       .cause =
           "With `expandable_segments:True` PyTorch takes memory by CUDA's virtual memory calls "
           "(cuMemCreate, cuMemMap). What registers it by its address and `ibv_reg_mr` is refused, "
           "mostly with Bad address; only a dma-buf of memory that was made RDMA-capable works.",
       .consequence =
           "Registration fails although nvidia-peermem is loaded and plain CUDA memory registers.",
       .checks = {"environment", "registration-path"},
       .fix_now = "`unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF`; or take "
                  "`expandable_segments:True` out of them; start again",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/issues/2511", Stated::kCauseAndFix},
                   {"https://github.com/uccl-project/uccl/issues/839", Stated::kCauseAndFix}},
       .explains = {"mr-refused", "mr-bad-address", "mr-invalid-argument", "kv-transfer"}},
      {.id = "pkey-index",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "The usable partition key (P_Key) is not at the index that this program takes (0)",
       .texts = {{"hardcoded pkey_index"},
                 {"hard-coded pkey_index"},
                 {"pkey_index = 0 && hang"},
                 {"default partition key is not at index 0"},
                 {"pkey && index 1 && not work"},
                 {"pkey with index 1"},
                 {"--pkey_index={above-zero}", 1},
                 {"NCCL && pkey", 2},
                 general("partition key && index && hang"),
                 {"pkey0=0x7fff"},
                 {"limited membership && pkey"},
                 {"limited member && pkey"}},
       .cause =
           "NCCL, UCX and NVSHMEM take entry 0 of the port's table unless they are told another "
           "index. Where the job's partition stands elsewhere, or entry 0 is a limited membership "
           "(0x7fff: two limited members do not speak with each other), nothing arrives.",
       .consequence = "Connections are made and the first transfer hangs or times out.",
       .checks = {},
       .fix_now = "`grep . /sys/class/infiniband/*/ports/*/pkeys/{0,1,2}`; then the index: NCCL: "
                  "`export NCCL_IB_PKEY=1`; UCX by value: `export UCX_IB_PKEY=0x8001`; perftest: "
                  "`--pkey_index=1`; NVSHMEM: 3.7 or later",
       .fix_for_good =
           "The partition at index 0, with full membership, in the subnet manager's configuration.",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/1323", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nvshmem/issues/82", Stated::kCauseAndFix},
                   {"https://github.com/vllm-project/vllm/pull/44919", Stated::kCause}},
       .explains = {"qp-init-refused", "peer-never-answers"}},
      {.id = "uccl-limits",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "UCCL-EP was built for fewer ranks, experts or tokens than this job has",
       .texts = {{"[RDMA ERROR] {word} exceeds {number}-bit limit"},
                 {"exceeds {number}-bit limit (max"}},
       .cause = "These numbers travel in the few bits of an RDMA immediate value; the line names "
                "the one that does not fit and its largest value.",
       .consequence = "The program stops; no NIC is at fault.",
       .checks = {},
       .fix_now = "Fewer tokens for a batch (`num_max_dispatch_tokens_per_rank`), ranks or "
                  "experts; or a newer UCCL, whose limits are larger",
       .fix_for_good = "",
       .sources = {{"https://github.com/uccl-project/uccl/blob/main/ep/include/rdma.hpp",
                    Stated::kCause}},
       .explains = {"verbs-call"}},
      {.id = "irdma-reset",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "Intel's E810 (irdma) refuses to set a queue pair to INIT that the program had "
                "moved to RESET before",
       .texts = {{"E810 && QP state to INIT"},
                 {"E810 && to INIT && {EINVAL}"},
                 {"already being in the **RESET"},
                 {"E810 && QP && INIT"},
                 {"irdma && QP && INIT && {fails}"},
                 {"rocep && [Handshake] Failed to modify QP to INIT"},
                 {"Intel && E810", 1},
                 {"E810 && RDMA", 1},
                 {"vendor_id: 0x8086", 1},
                 {"Failed to modify QP to INIT", 2}},
       .cause = "The program moves a fresh queue pair to RESET, in which it is already. mlx5 takes "
                "that; irdma then refuses INIT with Invalid argument. Port and P_Key are right.",
       .consequence = "No connection by this NIC. The network has no part in it.",
       .checks = {},
       .fix_now =
           "Mooncake: a release with the step to RESET left out for a new queue pair (pull request "
           "722); an own program: `ibv_modify_qp` straight to INIT after `ibv_create_qp`",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/pull/722", Stated::kCauseAndFix},
                   {"https://github.com/kvcache-ai/Mooncake/issues/1143", Stated::kSymptom}},
       .explains = {"qp-state-order", "qp-init-refused", "qp-values", "qp-not-connected"}},
      {.id = "ibgda-renamed-nic",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "NVSHMEM leaves NICs out because their names do not begin with mlx5",
       .texts = {{"device roce{word} is not enumerated as an mlx5"},
                 {"device rail{word} is not enumerated as an mlx5"},
                 {"device ib{word} is not enumerated as an mlx5"},
                 {"device nic{word} is not enumerated as an mlx5"},
                 {"device rdma{number} is not enumerated as an mlx5"},
                 {"device roce{word} is not supported (expected HCA"},
                 {"device rail{word} is not supported (expected HCA"},
                 {"device ib{word} is not supported (expected HCA"}},
       .cause = "It knows ConnectX NICs by their name. A udev rule or the distribution renames "
                "them (roce_rail1, rocep23s0, ibp24s0).",
       .consequence = "IBGDA or IBRC has no NIC; DeepEP's counts stay at -1.",
       .checks = {"nvshmem-variables"},
       .fix_now = "`ls -l /sys/class/infiniband/*/device/driver`; if it is mlx5_core: NVSHMEM 3.4 "
                  "or later with `export NVSHMEM_HCA_PREFIX=roce` (the beginning of the names); "
                  "before that: rename them back, `sudo rdma dev set roce_rail1 name mlx5_1`",
       .fix_for_good = "",
       .sources =
           {{"https://github.com/deepseek-ai/DeepEP/issues/386", Stated::kCause},
            {"https://github.com/NVIDIA/nvshmem/blob/main/src/modules/transport/common/env_defs.h",
             Stated::kFix}},
       .explains = {"ibgda-other-nic", "nvshmem-no-nic", "nvshmem-no-transport", "deepep-timeout"}},
      {.id = "nvshmem-one-nic",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "All of NVSHMEM's processes of a host use the same NIC",
       .texts = {{"ranks only selected the first NIC"},
                 {"all && ranks && select && same NIC"},
                 {"NVSHMEM_ENABLE_NIC_PE_MAPPING=1", 1},
                 {"far below expect", 2},
                 {"lower than expected", 2},
                 {"low bandwidth", 2}},
       .cause = "`NVSHMEM_ENABLE_NIC_PE_MAPPING` assigns NICs by the number of the process in its "
                "host. In DeepEP's normal mode each NVSHMEM job has one process of a host, so that "
                "all of them are number 0 and take the first NIC.",
       .consequence = "Bandwidth between hosts is that of one NIC.",
       .checks = {"nvshmem-variables"},
       .fix_now = "`unset NVSHMEM_ENABLE_NIC_PE_MAPPING NVSHMEM_HCA_PE_MAPPING`; NVSHMEM then "
                  "takes the NIC nearest to the GPU; or `NVSHMEM_HCA_LIST` for each rank by itself",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/issues/336", Stated::kCause}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
