// Pods and containers of a cluster that have no RDMA, or not the device that they ask for.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& cluster_pod_symptoms() {
  static const Symptoms table = {
      {.id = "container-without-rdma",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title =
           "The container was started without its host's RDMA devices: programs in it go by TCP",
       .texts = {{"falls back to 'NET/Socket"},
                 {"fall back to NET/Socket"},
                 {"falling back to NET/Socket"},
                 {"falls back to NET/Socket"},
                 {"fell back to NET/Socket"},
                 {"falls back to Socket transport"},
                 {"falling back to Socket transport"},
                 {"Socket instead of InfiniBand"},
                 {"/dev/infiniband && not mounted"},
                 {"/dev/infiniband && not visible"},
                 {"/dev/infiniband && not mapped"},
                 {"/dev/infiniband && not exposed"},
                 {"/dev/infiniband && is missing"},
                 {"no /dev/infiniband inside"},
                 {"MELLANOX_VISIBLE_DEVICES=none"},
                 {"MELLANOX_VISIBLE_DEVICES=void"},

                 {"container && --privileg && cannot find {}device"},
                 {"without && --privilege && perftest"},
                 {"docker run{}--gpus", 1},
                 {"--network host --gpus all", 1},
                 {"NET/Socket", 2},
                 {"NET/IB : No device found", 2},
                 {"NCCL_IB_HCA set ", 3},
                 {"NCCL_IB_DISABLE set by environment to 0", 3},
                 {"Using network Socket", 4},
                 {"Initialized NET plugin Socket", 4}},
       .unless = {"device{}/dev/infiniband", "docker run{}--privileged", "NET/OFI"},
       .cause = "`--gpus all` and `--network host` bring no RDMA device along: `/dev/infiniband` "
                "(uverbs, rdma_cm) must be given besides, and memory must be allowed to be locked. "
                "The same is seen when the image lacks the NIC's library (ibverbs-providers), or "
                "`NCCL_IB_HCA` names no device that is here.",
       .consequence = "NCCL takes TCP sockets and says so only with `NCCL_DEBUG=INFO`: many times "
                      "the latency, a fraction of the bandwidth.",
       .checks = {"devices", "rdma-nics", "ipc-lock"},
       .fix_now =
           "`docker run --gpus all --network host --device=/dev/infiniband --cap-add=IPC_LOCK "
           "--ulimit memlock=-1 IMAGE`; in it: `ls /dev/infiniband`; `ibv_devinfo`; enroot and "
           "pyxis: `MELLANOX_VISIBLE_DEVICES=all`, or `--container-mounts=/dev/infiniband`; "
           "Kubernetes: the RDMA plugin's resource and the capability IPC_LOCK",
       .fix_for_good = "",
       .sources = {{"https://github.com/vllm-project/vllm/pull/42075", Stated::kCauseAndFix},
                   {"https://github.com/getainode/ainode/pull/87", Stated::kCauseAndFix},
                   {"https://github.com/MrBr-github/lshca/issues/83", Stated::kCause}},
       .explains = {"container-sees-no-nic", "no-rdma-device", "nccl-class", "nccl-warning",
                    "verbs-call"}},
      {.id = "topology-affinity",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "The kubelet's topology manager does not admit the pod: its CPUs, GPU and NIC are "
                "not free on one NUMA node",
       .texts = {{"TopologyAffinityError"},
                 {"Topology Affinity Error"},
                 {"cannot be allocated with Topology locality"}},
       .cause = "With the policy `single-numa-node` or `restricted` all that the pod asks for must "
                "come from one NUMA node (or as few as possible). The scheduler does not know "
                "this, so that the pod is put on a node where only other combinations are left.",
       .consequence = "The pod fails at once and is not tried again there by itself.",
       .checks = {"numa-node"},
       .fix_now = "`grep -i topologymanager /var/lib/kubelet/config.yaml`; `nvidia-smi topo -m`; "
                  "ask for fewer CPUs or for one GPU and NIC of a node; or set "
                  "`topologyManagerPolicy: best-effort` on the node and restart its kubelet",
       .fix_for_good = "A scheduler that knows the nodes' NUMA topology (NUMA-aware scheduler "
                       "plugin), or whole nodes for a job.",
       .sources = {{"https://github.com/kubernetes/kubernetes/issues/84597", Stated::kCause},
                   {"https://github.com/kubernetes/kubernetes/issues/110306", Stated::kSymptom}},
       .explains = {"sriov-vfs-not-created", "kubernetes-no-device"}},
      {.id = "dra-driver-start",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title =
           "A driver of dynamic resource allocation (DRANET, NVIDIA's) does not start on this node",
       .texts = {{"driver failed to start: start kubelet plugin"},
                 {"start registrar: start gRPC server"},
                 {"plugins_registry/{}bind: no such file"},
                 {"NRI plugin failed for {number} times"},
                 {"failed to start nri plugin"},
                 {"referenced by pod {}could not find the requested resource"},
                 {"resource.k8s.io && could not find the requested resource"}},
       .cause =
           "It registers itself with the kubelet by a socket below `/var/lib/kubelet`, and with "
           "containerd by NRI. The kubelet's folder is another one here (rootless, k0s, k3s), NRI "
           "is off (containerd before 2.0), or the cluster's version of `resource.k8s.io` "
           "(v1beta1, v1beta2, v1) is not the one that this release of the driver speaks.",
       .consequence = "No pod gets the NIC or GPU that it claims.",
       .checks = {},
       .fix_now =
           "`kubectl api-resources | grep resource.k8s.io`; `ls /var/lib/kubelet/plugins_registry "
           "/var/run/nri`; mount the kubelet's real folder into the driver's pod; containerd: "
           "`[plugins.\"io.containerd.nri.v1.nri\"] disable = false`; a release of the driver for "
           "this Kubernetes",
       .fix_for_good = "",
       .sources = {{"https://github.com/google/dranet/issues/150", Stated::kCause},
                   {"https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/766",
                    Stated::kSymptom}},
       .explains = {"dra-device", "mnnvl-imex"}},
      {.id = "rdma-shared-isolation",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "A pod sees all RDMA NICs of its host in /sys although it asked for one: the "
                "shared mode does not hide them",
       .texts = {{"rdma{}shared && isolation"},
                 {"device isolation is not being achieved"},
                 {"rdma_shared_device", 1},
                 {"rdmaSharedDevicePlugin", 1},
                 {"k8s-rdma-shared", 1},
                 {"can still see all", 2},
                 {"I see all && IB", 2},
                 {"see all && network cards", 2}},
       .cause =
           "In the RDMA subsystem's shared mode every network namespace lists all devices. The pod "
           "can open only those whose `/dev/infiniband/uverbs*` it was given; programs that pick "
           "by name from the list (NCCL, UCX) meet the others and fail to open them.",
       .consequence =
           "No fault by itself; without a filter a program may choose a NIC that is not the pod's.",
       .checks = {"devices"},
       .fix_now = "`ls /dev/infiniband`; name the pod's own: `NCCL_IB_HCA`, `UCX_NET_DEVICES`; for "
                  "isolation on the host: `sudo rdma system set netns exclusive` before any pod "
                  "runs, with virtual functions (SR-IOV) and the rdma-cni plugin",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/network-operator/issues/738",
                    Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "gds-bar-usage",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "GPUDirect Storage: the requests need more of the GPU's BAR1 than cuFile may pin",
       .texts = {{"Inc-bar-usage failed"}},
       .cause = "Each thread pins its buffer in the GPU's window; `max_device_pinned_mem_size` of "
                "`cufile.json`, or the window itself (256 MiB on many boards), is smaller than all "
                "of them together.",
       .consequence = "Reads and writes fail, or go through host memory.",
       .checks = {"gpu-bar1"},
       .fix_now = "`nvidia-smi -q | grep -A3 BAR1`; smaller requests or fewer threads; "
                  "`max_device_pinned_mem_size_kb` in `/etc/cufile.json`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/gds-nvidia-fs/issues/4", Stated::kSymptom}},
       .explains = {"mr-too-large"}},
      {.id = "mkeys-leaked",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "Memory cannot be registered: Resource temporarily unavailable (11): the NIC's "
                "memory keys are used up",
       .texts = {general("mkey && exhaust"), general("mkey && leak")},
       .cause = "Processes that were killed, or regions that nobody gave back, hold keys of the "
                "NIC; or this process has more mappings than `vm.max_map_count` allows. The limit "
                "of locked memory gives error 12, not 11.",
       .consequence = "This region and later ones fail until keys are free again.",
       .checks = {"max-map-count"},
       .fix_now =
           "`rdma resource show mr | wc -l`; `sudo dmesg | grep -i mkey`; end processes that still "
           "hold the NIC: `sudo lsof /dev/infiniband/uverbs*`; `sudo sysctl -w "
           "vm.max_map_count=1000000`; if the keys stay: reload the driver or restart the host",
       .fix_for_good = "",
       .sources = {{"https://github.com/kvcache-ai/Mooncake/pull/1765", Stated::kCauseAndFix}},
       .explains = {"mr-refused", "kv-transfer", "nic-resources"}},
      {.id = "gdr-read-hangs",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "Transfers hang only where the NIC reads from or writes to the GPU directly: the "
                "PCIe path (ACS, IOMMU, switch)",
       .texts = {{"hang && NCCL_NET_GDR_READ=1"},
                 {"hang && Direct RDMA"},
                 {"hang && GDRDMA"},
                 {"hangs && NCCL_NET_GDR_LEVEL"},
                 {"hang && GPUDirect RDMA && enable"}},
       .cause = "Without GPUDirect RDMA data goes through host memory and works, so that network "
                "and NCCL are well. Between NIC and GPU requests are redirected (ACS on the ports "
                "above them, IOMMU not in passthrough), or this bridge loses reads between "
                "devices, which are harder for it than writes.",
       .consequence = "The first large transfer never completes.",
       .checks = {"acs", "iommu", "pair-grade"},
       .fix_now = "`gdr doctor --only acs,iommu,pair-grade`; `sudo lspci -vvv | grep ACSCtl`; "
                  "SrcValid+ and ReqRedir+ must be off on the ports above GPU and NIC; `export "
                  "NCCL_NET_GDR_READ=0`; the proof: `ib_read_bw --use_cuda=0` between the same two",
       .fix_for_good =
           "`iommu=pt` on the kernel's command line, ACS off in the BIOS or at each boot.",
       .sources = {{"https://github.com/ROCm/rccl/issues/1179", Stated::kCause},
                   {"https://github.com/NVIDIA/nccl/issues/1737", Stated::kFix}},
       .explains = {}},
      {.id = "ucx-stages-over-numa",
       .program = Program::kMpi,
       .certainty = Certainty::kLikely,
       .title = "UCX copies through host memory where GPU and NIC are on different NUMA nodes",
       .texts = {{"ucx && different NUMA node"},
                 {"ucx && NUMA && bandwidth drops"},
                 {"UCX && bandwith drops"},
                 {"staging through && host memory && UCX"}},
       .cause = "UCX judges a path between sockets as slower than a copy, and takes the copy. "
                "perftest asks nobody and shows that the direct path works.",
       .consequence = "Bandwidth is about three quarters of the direct path's.",
       .checks = {"pair-grade", "numa-node"},
       .fix_now = "A NIC near the GPU (`gdr topo`, `UCX_NET_DEVICES`); or `export "
                  "UCX_IB_GPU_DIRECT_RDMA=yes UCX_RNDV_SCHEME=get_zcopy`, and measure both",
       .fix_for_good = "",
       .sources = {{"https://github.com/openucx/ucx/issues/11121", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
