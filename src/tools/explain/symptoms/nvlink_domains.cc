// NVLink between GPUs and hosts does not start: the fabric manager, the IMEX service.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& nvlink_domain_symptoms() {
  static const Symptoms table = {
      {.id = "imex-daemon",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The IMEX service of an NVLink domain does not start, or does not reach all its "
                "nodes",
       .texts = {{"No matching network interface found for any IP addresses in the node conf"},
                 {"IMEX daemon not ready"},
                 {"IMEX daemon check failed"},
                 {"ensure IMEX daemon is started"},
                 {"(re)starting IMEX daemon"},
                 {"nvidia-imex daemon readiness check failed"},
                 {"imex configuration validation failed"},
                 {"writeIMEXConfig failed"},
                 {"maxNodesPerIMEXDomain"},
                 {"error asserting ComputeDomain Ready"},
                 {"node not ready in ComputeDomain"},
                 {"is not an allocatable IMEX channel device"},
                 {"channel {number} out of range (node has"},
                 {"nvidia-imex.service{}{fails}"},
                 {"Domain State: DOWN"},
                 {"Domain State: DEGRADED"}},
       .cause = "Every node of the domain runs nvidia-imex with the same list of addresses "
                "(`/etc/nvidia-imex/nodes_config.cfg`), one of which must be its own. Where "
                "Kubernetes' DRA driver starts the service for a ComputeDomain, a service on the "
                "host holds its port, and the domain waits until as many nodes have joined as it "
                "was made for. All nodes want one release of the driver.",
       .consequence = "GPU memory of another host is not mapped by NVLink; pods of the "
                      "ComputeDomain do not start.",
       .checks = {"gpus"},
       .fix_now =
           "`nvidia-imex-ctl -N`; `hostname -I`; `cat /etc/nvidia-imex/nodes_config.cfg`; on "
           "every "
           "node the same list, its own address among them, TCP port 50000 open; with the DRA "
           "driver: `sudo systemctl disable --now nvidia-imex.service`, and a `numNodes` that "
           "the "
           "job reaches; without NVLink between hosts: `export NCCL_MNNVL_ENABLE=0`",
       .fix_for_good = "",
       .sources = {{"https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/524",
                    Stated::kCauseAndFix},
                   {"https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/289",
                    Stated::kCause}},
       .explains = {"mnnvl-imex", "dra-device"}},
      {.id = "imex-health",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "A health check asks for the IMEX service on a host that has no NVLink between "
                "hosts (DCGM 122)",
       .texts = {{"DCGMHealthCode122"},
                 {"DCGM_FR_IMEX_UNHEALTHY"},
                 {"health check system with error code 122"}},
       .cause = "Newer releases of DCGM report the state of IMEX (error 122). Only GB200 and GB300 "
                "NVL72 and other MNNVL systems have that service; on all others it is rightly "
                "absent.",
       .consequence = "The node is called unhealthy although nothing is wrong with it; on an MNNVL "
                      "system GPU memory of other hosts cannot be mapped.",
       .checks = {"gpus"},
       .fix_now =
           "`nvidia-smi -q | grep -A6 Fabric`; without ClusterUUID: leave code 122 out of the "
           "health check; on MNNVL: `systemctl status nvidia-imex`; `nvidia-imex-ctl -N`",
       .fix_for_good = "",
       .sources = {{"https://github.com/aws/eks-node-monitoring-agent/pull/63",
                    Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "fabric-manager-start",
       .program = Program::kCuda,
       .certainty = Certainty::kLikely,
       .title = "The fabric manager starts and does not finish: a GPU or NVSwitch did not answer "
                "it in time",
       .texts = {{"not all local fabric manager instances finished"},
                 {"fabric manager error handler is called"},
                 {"failed to configure all the available GPUs or NVSwitches"},
                 {"fabric manager never reported Completed"},
                 {"State : In Progress{end}"}},
       .cause = "It was started before all GPUs and NVSwitches were ready (from cloud-init, within "
                "a minute of boot), or one of them has an error of its own, which the kernel's log "
                "names (Xid, SXid).",
       .consequence = "CUDA does not start on hosts with NVSwitch: error 802. No NIC is concerned.",
       .checks = {"fabric-manager", "gpus"},
       .fix_now = "`sudo systemctl restart nvidia-fabricmanager`; `nvidia-smi -q | grep -A4 "
                  "Fabric`; State must be Completed; `sudo dmesg | grep -iE 'xid|nvswitch|nvlink'`",
       .fix_for_good = "`sudo systemctl enable nvidia-fabricmanager`: let systemd start it, no "
                       "script of the first boot.",
       .sources = {{"https://github.com/pytorch/ci-infra/pull/552", Stated::kCauseAndFix}},
       .explains = {"fabric-manager", "cuda-not-started"}},
      {.id = "nccl-nics-differ",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "NCCL finds another number of NICs in some ranks than in others",
       .texts = {{"Detected mixed local Net device counts"},
                 {"Detected mixed local CollNet device counts"}},
       .cause = "Processes of one job see different NICs: a port is down on one host, containers "
                "were given different devices, or `NCCL_IB_HCA` differs.",
       .consequence = "NCCL stops at its start, unless it is told to go on.",
       .checks = {"rdma-nics", "port-state"},
       .fix_now = "`ibv_devinfo | grep -E 'hca_id|state|link_layer'`; on every host and in every "
                  "container the same; `env | grep NCCL_IB_HCA`; to go on as it is: `export "
                  "NCCL_IGNORE_NET_MISMATCH=1`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/blob/master/src/init.cc",
                    Stated::kCauseAndFix}},
       .explains = {"nccl-warning", "nccl-class"}},
      {.id = "nccl-shared-gpu",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "Two ranks of NCCL were given the same GPU",
       .texts = {{"Duplicate GPU detected"}, {"Multiple Ranks are using the same GPU"}},
       .cause = "Each rank wants a GPU of its own: `LOCAL_RANK` is not used to choose one "
                "(`torch.cuda.set_device`), more ranks than GPUs run on this host, "
                "`CUDA_VISIBLE_DEVICES` shows the same one to all, or containers share a host name "
                "and identifiers.",
       .consequence = "NCCL stops at its start; no NIC is concerned.",
       .checks = {},
       .fix_now = "`nvidia-smi -L`; `env | grep -E 'LOCAL_RANK|CUDA_VISIBLE_DEVICES'`; as many "
                  "ranks on a host as it has GPUs",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/blob/master/src/init.cc", Stated::kCause}},
       .explains = {"nccl-warning", "nccl-class"}},
      {.id = "nccl-plugin-mixed",
       .program = Program::kNccl,
       .certainty = Certainty::kPossible,
       .title = "Some ranks of NCCL use a network plugin and others NCCL's own transport",
       .texts = {{"NET/Plugin: Could not find: libnccl-net.so", 1},
                 {"NET/Plugin : No plugin found", 1},
                 {"Plugin Path : {}libnccl-net", 2},
                 {"NET/Plugin: Loaded net plugin", 2}},
       .cause = "One host or image has a plugin (HPC-X's nccl_rdma_sharp_plugin, aws-ofi-nccl) in "
                "its library path and the other has not. The two do not speak with each other.",
       .consequence = "The first collective hangs or fails, and no line names a reason.",
       .checks = {},
       .fix_now = "`ldconfig -p | grep nccl-net`; `echo $LD_LIBRARY_PATH`; the same image and "
                  "variables on all hosts; or everywhere without: `export NCCL_NET_PLUGIN=none`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/1634", Stated::kCause}},
       .explains = {}},
      {.id = "ascend-hccl",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "HCCL of Huawei's Ascend NPUs: a rank or its RoCE port does not answer (not "
                "GPUDirect RDMA)",
       .texts = {{"EI0006: "},
                 {"EI0002: "},
                 {"EI0009: "},
                 {"EI0013: "},
                 {"Communication_Error_{word}(EI"},
                 {"Execution_Error_ROCE_CQE"},
                 {"[ERROR] HCCL("},
                 {"HCCL watchdog thread terminated"},
                 {"hccl fftsplus task timeout"},
                 {"HcclAllreduce, error code"},
                 {"HCCL function error"}},
       .cause = "NPUs have RoCE ports of their own, which the host's RDMA tools do not show. "
                "EI0006 and EI0009: a rank did not connect in time, mostly since another one "
                "failed or started later. EI0002: a rank waits in an operation. EI0013: the NPU's "
                "RoCE lost its peer (link, TLS setting, the peer's end).",
       .consequence = "The job stops.",
       .checks = {},
       .fix_now = "The first error of every rank decides; then for each NPU `hccn_tool -i 0 -link "
                  "-g`, `hccn_tool -i 0 -net_health -g`, `hccn_tool -i 0 -tls -g` (equal on all), "
                  "`hccn_tool -i 0 -ping -g address PEER`; ranks that start late: `export "
                  "HCCL_CONNECT_TIMEOUT=1200 HCCL_EXEC_TIMEOUT=3600`",
       .fix_for_good = "",
       .sources = {{"https://github.com/vllm-project/afd-plugin/issues/229", Stated::kFix},
                   {"https://github.com/vllm-project/vllm-ascend/issues/7384", Stated::kSymptom}},
       .explains = {"nccl-watchdog", "qp-timed-out", "job-rendezvous"}},
      {.id = "ofi-plugin-releases",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "NCCL's libfabric plugin: the two sides have another number of EFAs, or another "
                "release of it",
       .texts = {{"Unexpected number of remote rails"},
                 {"Unexpected number of remote control rails"},
                 {"NET/OFI Received an invalid communicator ID"},
                 {"is larger than supplied buffer length"},
                 {"Number of forced rails && not a multiple"}},
       .cause = "Both sides of a connection must see the same number of EFAs for a GPU and speak "
                "the same protocol of aws-ofi-nccl. One host has another instance type, was given "
                "fewer devices, or runs another image.",
       .consequence = "NCCL stops when it connects.",
       .checks = {"rdma-nics"},
       .fix_now = "`ls /sys/class/infiniband | wc -l`; `strings "
                  "/opt/amazon/ofi-nccl/lib/*/libnccl-net.so | grep 'aws-ofi-nccl [0-9]'`; the "
                  "same on all hosts and in all containers; `env | grep -E '^(OFI_NCCL|FI)_'`",
       .fix_for_good = "",
       .sources = {{"https://github.com/aws/aws-ofi-nccl/blob/master/src/nccl_ofi_rdma.cpp",
                    Stated::kCause}},
       .explains = {"nccl-warning", "nccl-class", "ofi-call"}},
      {.id = "ucx-all-nics",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "UCX takes every NIC of the host, also those for management and storage, and fails "
                "on one of them",
       .texts = {{"UCX && binds extra management"},
                 {"UCX_NET_DEVICES && management && NIC"},
                 {"NIXL_ERR_BACKEND && UCX_NET_DEVICES"},
                 {"UCX_NET_DEVICES=all", 1},
                 {"NIXL_ERR_BACKEND", 2}},
       .cause = "`UCX_NET_DEVICES=all` is the default. A BlueField or an Ethernet port that the "
                "other host does not reach is then one of the rails.",
       .consequence = "NIXL ends with NIXL_ERR_BACKEND, or some transfers fail.",
       .checks = {"management-nics", "ucx-variables"},
       .fix_now = "`gdr topo`; `export UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1` with the NICs that "
                  "belong to the GPUs, on each host its own",
       .fix_for_good = "",
       .sources = {{"https://github.com/ai-dynamo/dynamo/pull/10852", Stated::kCauseAndFix}},
       .explains = {"nixl-error", "nixl-vram"}},
      {.id = "ucx-efa-transport",
       .program = Program::kMpi,
       .certainty = Certainty::kCertain,
       .title = "UCX has no transport named efa: EFA's is srd",
       .texts = {{"UCX_TLS=efa"}, {"transport 'efa' is not available"}},
       .cause = "In UCX efa is the name of the memory domain; the transports upon it are `srd` and "
                "`ud`.",
       .consequence = "UCX finds no transport, or takes TCP.",
       .checks = {"ucx-variables"},
       .fix_now = "`export UCX_TLS=srd,cuda_copy,cuda_ipc,sm,self`; `ucx_info -d | grep -i srd`; "
                  "a UCX that was built with EFA",
       .fix_for_good = "",
       .sources = {{"https://github.com/openucx/ucx/issues/10692", Stated::kCauseAndFix}},
       .explains = {"ucx-transport-absent", "ucx-gpu-memory"}},
      {.id = "wsl2-rdma-memory",
       .program = Program::kCuda,
       .certainty = Certainty::kLikely,
       .title = "WSL2: memory that is asked for as RDMA-capable cannot be mapped, although the "
                "driver says that it can",
       .texts = {{"WSL2 && expandable segments"},
                 {"WSL2 && gpuDirectRDMACapable"},
                 {"under WSL2", 1},
                 {"gpuDirectRDMACapable", 2}},
       .cause = "There is no GPUDirect RDMA in WSL2. The driver reports support for it with "
                "virtual memory all the same; PyTorch then asks for it in its expandable segments, "
                "and cuMemSetAccess fails with error 999.",
       .consequence = "The first allocation fails. No NIC and no setting of the host is concerned.",
       .checks = {},
       .fix_now = "`unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF`: no expandable segments on "
                  "WSL2, or a newer PyTorch and driver",
       .fix_for_good = "",
       .sources = {{"https://github.com/pytorch/pytorch/issues/192330", Stated::kCause}},
       .explains = {"mnnvl-imex", "cuda-not-started", "expandable-segments", "cuda-error"}},
  };
  return table;
}

}  // namespace gdr::explain
