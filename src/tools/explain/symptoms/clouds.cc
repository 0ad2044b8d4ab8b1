// Machines of clouds, and desktop ones with a ConnectX: EFA, TCPXO, Broadcom's NICs, DGX Spark.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& cloud_symptoms() {
  static const Symptoms table = {
      {.id = "efa-remote-address",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "EFA: the peer's device refuses the address or key of a remote access (4111)",
       .texts = {{"RMA address verification failed"},
                 {"EFA internal error: (4111)"},
                 {"libfabric error: ({number}) permission denied"},
                 {"Libfabric error: (-13) Permission denied"}},
       .cause =
           "The remote address is not, or no longer, in memory that the peer registered with this "
           "EFA: the buffer was freed or registered anew, the key belongs to another of its EFAs "
           "(rails) or to an earlier process, or the registration does not allow remote access.",
       .consequence = "libfabric ends the process.",
       .checks = {},
       .fix_now = "Exchange descriptors anew after every registration and restart; keys by rail: "
                  "the peer's key of the EFA that the connection goes to; the same release of "
                  "libfabric and of the program on both sides",
       .fix_for_good = "",
       .sources = {{"https://github.com/ai-dynamo/nixl/pull/2278", Stated::kCause}},
       .explains = {"ofi-call", "mr-permission", "nixl-error"}},
      {.id = "efa-not-used",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "The libfabric plugin of NCCL found no EFA here and took another provider",
       .texts = {{"NET/OFI Disabling shared memory failed"},
                 {"NET/OFI Selected provider is tcp"},
                 {"NET/OFI Selected provider is sockets"},
                 {"tcp/sockets fallback provider"}},
       .cause = "The container was not given the EFA devices (`/dev/infiniband/uverbs*`; in "
                "Kubernetes the resource `vpc.amazonaws.com/efa`), or the instance has none. The "
                "plugin goes on with libfabric's TCP, which lacks what it asks for.",
       .consequence = "NCCL is slow, hangs, or stops at its start.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`ls /dev/infiniband`; `fi_info -p efa`; `docker run --device=/dev/infiniband --ulimit "
           "memlock=-1`; in Kubernetes: `vpc.amazonaws.com/efa` in the limits of the container; "
           "once: `export FI_PROVIDER=efa`, so that a missing EFA is an error",
       .fix_for_good = "",
       .sources = {{"https://github.com/aws/aws-ofi-nccl/issues/803", Stated::kCauseAndFix}},
       .explains = {"efa-endpoint", "nccl-warning", "nccl-class", "no-rdma-device"}},
      {.id = "efa-no-rc",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "The NIC is an EFA, which has no reliable connections (RC): this program cannot "
                "use it as it is",
       .texts = {{"{queue} && {EOPNOTSUPP}", 1},
                 {"queue pair && {EOPNOTSUPP}", 1},
                 {"{make}{}{queue-pair} && {EOPNOTSUPP}", 1},
                 {"Connection type {}RC", 1},
                 {"rdmap && rdmap{number}s{number}", 2},
                 {"vendor_id: 0x1d0f", 2},
                 {"libefa-rdmav", 2},
                 {"MR registration failed: Invalid argument", 3},
                 {"Unknown link layer", 3},
                 {"rdmap && rdmap{number}s", 4},
                 {"rdma_io.cc:", 4},
                 general("EFA && RC && not support"),
                 general("EFA && reliable connection && not")},
       .cause = "Amazon's EFA knows unreliable datagrams (UD) and its own reliable datagrams "
                "(SRD), by libfabric or `efadv`. What asks for RC or for mlx5's own queues, or "
                "registers memory with rights that EFA does not know, is refused: Operation not "
                "supported, Invalid argument.",
       .consequence = "The program has no RDMA here. The EFA itself is well.",
       .checks = {"rdma-nics"},
       .fix_now =
           "A build or backend of the program for EFA: NCCL by aws-ofi-nccl, NIXL by its LIBFABRIC "
           "backend, NVSHMEM by `NVSHMEM_REMOTE_TRANSPORT=libfabric`, UCCL built on a host with "
           "`/opt/amazon/efa`, perftest by `ib_write_bw -c SRD`; else TCP in this program",
       .fix_for_good = "",
       .sources = {{"https://github.com/meta-pytorch/torchforge/issues/626", Stated::kCause},
                   {"https://github.com/uccl-project/uccl/issues/937", Stated::kCauseAndFix},
                   {"https://github.com/linux-rdma/rdma-core/pull/779", Stated::kCause}},
       .explains = {"queue-unsupported", "qp-not-created", "verbs-call", "mr-invalid-argument",
                    "qp-values", "mr-refused"}},
      {.id = "tcpxo-gpus",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "TCPXO's daemon (RxDM) sees fewer GPUs with their NICs than CUDA does (no RDMA is "
                "involved)",
       .texts = {{"GPUs detected in the PCI tree"}},
       .cause =
           "It looks for each GPU's NIC in the PCI tree: the pod is not in the host's network "
           "(`hostNetwork: false`), so that the control NIC hides one of them, or the node pool "
           "has one network more than the machine has slots, which displaces a GPU's NIC.",
       .consequence = "The daemon ends, and NCCL's ranks are refused (Connection refused).",
       .checks = {},
       .fix_now = "`hostNetwork: true` for the pod and its daemon; a node pool of a3-megagpu-8g "
                  "with the eight GPU networks only; `lspci | grep -c Ethernet`",
       .fix_for_good = "",
       .sources =
           {{"https://github.com/NVIDIA/aicr/pull/1662", Stated::kCauseAndFix},
            {"https://github.com/GoogleCloudPlatform/container-engine-accelerators/issues/580",
             Stated::kCause}},
       .explains = {"gpudirect-tcpx", "job-rendezvous", "mpi-launch", "nccl-bootstrap"}},
      {.id = "queue-bad-address",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A queue cannot be created: Bad address (14): the NIC's user-space library does "
                "not fit its kernel driver",
       .texts = {general("{queue} && {EFAULT}"),
                 general("{make}{}{queue-pair} && {fails} && {EFAULT}")},
       .unless = {"gds_create_", "(opcode 14)"},
       .cause = "The library hands the kernel a command that it cannot read. With Broadcom's NICs "
                "(bnxt_re) libraries of rdma-core before 60 do so when several threads create "
                "queues at once; else library and driver come from different packages (MLNX_OFED "
                "or the maker's driver on the host, the distribution's rdma-core in the image). "
                "GPU memory has no part in it.",
       .consequence = "Connections are missing, at random, or all of them.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`ldd $(which ibv_devinfo) | grep ibverbs`; `dpkg -l | grep -E 'ibverbs|rdma-core'`; "
           "the provider of the driver's own package, or a newer rdma-core, in the image too",
       .fix_for_good = "",
       .sources = {{"https://github.com/ROCm/MAD/pull/200", Stated::kCauseAndFix}},
       .explains = {"qp-not-created", "verbs-call"}},
      {.id = "gpu-atomics",
       .program = Program::kPci,
       .certainty = Certainty::kLikely,
       .title = "RDMA atomics into GPU memory do not complete: the GPU or PCIe path to it takes "
                "none from this NIC",
       .texts = {general("RDMA{}atomics && GPU && hang"),
                 general("atomics && VRAM && hang"),
                 general("atomic && GPU memory && {fails}"),
                 general("PCIe atomic-completer && no "),
                 {"AtomicOpsCap: 32bit- 64bit-", 1},
                 {"atomic && hang", 2}},
       .cause = "A NIC that carries out atomics by PCIe needs a target and bridges with AtomicOps "
                "(`AtomicOpsCap: 32bit+ 64bit+`). Without them the request is lost or refused, "
                "while writes and reads work.",
       .consequence =
           "Kernels that wait for a signal hang, or the peer reports remote access errors.",
       .checks = {},
       .fix_now = "`sudo lspci -vvv | grep -E 'AtomicOpsC|^[0-9a-f]'`; a mode of the program "
                  "without atomics (MoRI: the `async_ll` kernels; Open MPI: `btl_openib_flags` "
                  "without ATOMIC_FOPS), or signals by RDMA write",
       .fix_for_good = "",
       .sources = {{"https://github.com/ROCm/MAD/pull/191", Stated::kCauseAndFix},
                   {"https://github.com/open-mpi/ompi/issues/1241", Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "vm-peer-to-peer",
       .program = Program::kPci,
       .certainty = Certainty::kLikely,
       .title =
           "In a virtual machine a passed-through GPU and NIC do not reach each other directly",
       .texts = {{"PIX-adjacent"},
                 {"no IOMMU translation in the guest"},
                 general("passthrough && GPUDirect RDMA && {fails}"),
                 general("passthrough && GPUDirect && slow"),
                 general("passed through && GPUDirect && {fails}"),
                 general("GPUDirect RDMA && KVM && {fails}")},
       .cause = "The guest gives both devices its own addresses. What one sends to the other below "
                "the same PCIe switch never passes the host's IOMMU, which alone could translate "
                "them, unless the NIC asks for translations (ATS) and the switch lets translated "
                "requests pass (ACS direct translation).",
       .consequence =
           "Transfers fail or deliver wrong data; by another NIC, over the host bridge, they work.",
       .checks = {"virtualisation", "ats", "acs"},
       .fix_now =
           "On the host: `sudo mlxconfig -d DEVICE set ATS_ENABLED=true`, ACS direct translation "
           "on the switch's ports, then restart it; until then a NIC that is not below the GPU's "
           "switch (`UCX_NET_DEVICES`, `NCCL_IB_HCA`), or `export NCCL_NET_GDR_LEVEL=LOC`",
       .fix_for_good = "",
       .sources = {{"https://github.com/ai-dynamo/dynamo/issues/12463", Stated::kCause},
                   {"https://docs.nvidia.com/ai-enterprise/planning-resource/"
                    "optimizing-vm-configuration-ai-inference/latest/appendix.html",
                    Stated::kFix}},
       .explains = {"verbs-call", "gpu-access-fails", "nccl-data-direct"}},
      {.id = "azure-ethernet-nic",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "On Azure a mlx5 device that is the Ethernet function (accelerated networking) was "
                "taken for the InfiniBand NIC",
       .texts = {{"mlx5_an{number} && {fails}"},
                 {"differing IB device names"},
                 {"Partition keys moved from mlx5"},
                 {"mlx5_{number}/ports/1/pkeys/1: No such file"},
                 {"inconsistent IB device naming"},
                 {"mlx5_an{number}:1/RoCE", 1},
                 {"NCCL WARN NET/IB", 2},
                 {"NCCL WARN Call to ibv_", 2}},
       .cause = "These machines have a virtual function for Ethernet (mlx5_an0, or mlx5_0) beside "
                "the InfiniBand ones (mlx5_ib0, or mlx5_1 and up). Which number or name a device "
                "gets differs by machine size, image and even between nodes of one job, where the "
                "renaming did not run.",
       .consequence =
           "A name that was set for all nodes (`UCX_NET_DEVICES`, `NCCL_IB_HCA`) fits some of them "
           "only; the Ethernet function does not reach the other nodes by RDMA.",
       .checks = {"rdma-nics", "management-nics"},
       .fix_now = "`ibv_devinfo | grep -E 'hca_id|link_layer'`; on each node take those of link "
                  "layer InfiniBand; NCCL: `export NCCL_IB_HCA=mlx5_ib`, or `^mlx5_an0`; UCX: set "
                  "`UCX_NET_DEVICES` in a wrapper on each node",
       .fix_for_good = "One udev rule for the names in the image of all nodes.",
       .sources = {{"https://github.com/Azure/azhpc-images/issues/491", Stated::kCauseAndFix},
                   {"https://github.com/MicrosoftDocs/azure-docs/issues/69185",
                    Stated::kCauseAndFix}},
       .explains = {"verbs-call", "nccl-warning", "devx-unavailable", "mpi-network"}},
      {.id = "spark-half-port",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title =
           "DGX Spark: one QSFP port is two NICs of about 100 Gb/s each, and one of them is used",
       .texts = {{"DGX Spark", 1},
                 {"two Sparks", 1},

                 {"GB/s busbw", 2},
                 {"half of the 200", 2},
                 {"Half of the line rate", 2},
                 {"NCCL playbook && slow", 2},
                 {"Gbit/s. Half", 2},
                 {"% of link", 2},
                 {"only ~ && GB/s", 2}},
       .cause = "Each port of its ConnectX-7 is wired by two PCIe x4 links, so that it shows as "
                "two functions (rocep1s0f1 and roceP2p1s0f1, enp1s0f1np1 and enP2p1s0f1np1). One "
                "of them, one TCP path, or an MTU of 1500 reaches half of the 200 Gb/s at most. "
                "Near 13 Gb/s it is another fault: the NIC started in a reduced state.",
       .consequence = "Bandwidth is half or less of what the cable could do. Nothing fails.",
       .checks = {"mtu", "rdma-nics"},
       .fix_now = "`export NCCL_IB_HCA=rocep1s0f1,roceP2p1s0f1`; an address of its own subnet and "
                  "`sudo ip link set enp1s0f1np1 mtu 9000` for both; `ib_write_bw` by each: about "
                  "100 Gb/s; tests of 16 GB need 32 GB of the shared memory on each side",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/dgx-spark-playbooks/issues/102",
                    Stated::kCauseAndFix},
                   {"https://catharsis.net.au/blog/nvidea-dgx-spark-benchmarking/",
                    Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "spark-nic-reduced",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "DGX Spark: the ConnectX-7 started in a reduced state (about 13 Gb/s, although "
                "link and PCIe look right)",
       .texts = {{"DGX Spark && 13 Gb"},
                 {"capped near 13 Gb"},
                 {"capped at 13 Gb"},
                 {"Inter-Spark link capped"},
                 {"ConnectX-7 && 13 Gb"}},
       .cause = "After some boots or when a cable was plugged in late the NIC stays slow with "
                "clean counters, a link of 200 Gb/s and PCIe Gen5 x4. The kernel's note of 27 W of "
                "slot power is no sign of it: healthy machines print it too.",
       .consequence = "RDMA and TCP reach 8 to 25 Gb/s.",
       .checks = {"rdma-nics"},
       .fix_now =
           "Shut both down and start them cold with the cable in place; then `ib_write_bw` by each "
           "function: about 100 Gb/s is right; the newest firmware: `sudo fwupdmgr update`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/dgx-spark-playbooks/pull/108", Stated::kCause}},
       .explains = {"spark-half-port", "pcie-slot-power"}},
      {.id = "spark-no-cma",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "This kernel has reserved no contiguous memory (CmaTotal 0): registration fails "
                "for any size",
       .texts = {{"CmaTotal: 0 kB && {register}"},
                 {"CmaTotal: 0 kB", 1},
                 {"{register} && {ENOMEM}", 2}},
       .cause = "On DGX Spark some releases of NVIDIA's kernel (7.0.0-1019-nvidia) start without "
                "the area that the driver takes such memory from, so that even 1 kB is refused: "
                "Cannot allocate memory. The limit of locked memory is not the cause.",
       .consequence = "No memory can be registered.",
       .checks = {"locked-memory"},
       .fix_now = "`grep Cma /proc/meminfo`; start the kernel before it (6.17.0-1031-nvidia); not: "
                  "the limits of locked memory",
       .fix_for_good = "",
       .sources = {{"https://github.com/luxingcom/aicad-nccl-optimization/issues/1",
                    Stated::kCauseAndFix}},
       .explains = {"locked-memory", "nic-resources", "mr-refused"}},
      {.id = "efa-foreign-devices",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "EFA is not found beside other RDMA devices: a pod has all of /dev/infiniband, or "
                "a NIC that is none",
       .texts = {{"hostPath && EFA && /dev/infiniband"},
                 {"ibp{} && NVLink controllers"},
                 {"NVLink controllers && EFA"},
                 {"ibp{number}s{number}f{number} && fi_info"},
                 {"mountPath: /dev/infiniband", 1},
                 {"path: /dev/infiniband", 1},
                 {"hostPath for /dev/infiniband", 1},
                 {"provider efa {}No data available", 2},
                 {"fi_info -p efa && -61", 2},
                 {"NET/OFI No eligible providers", 2}},
       .cause = "libfabric's EFA provider opens every RDMA device that it sees. Instances such as "
                "p6-b200 have two mlx5 devices (ibp...) for NVLink's control besides: a hostPath "
                "of the whole folder, or EFA's device plugin before 0.5.10, hands them into the "
                "pod, where they cannot be opened, and EFA gives up (-61).",
       .consequence = "NCCL goes over TCP without an error.",
       .checks = {"devices", "rdma-nics"},
       .fix_now = "Take the hostPath of `/dev/infiniband` out of the pod and ask for "
                  "`vpc.amazonaws.com/efa` alone; the EFA device plugin 0.5.10 or later; in the "
                  "pod: `ls /dev/infiniband`; `fi_info -p efa`",
       .fix_for_good = "",
       .sources = {{"https://github.com/aws-samples/aws-do-eks/pull/63", Stated::kCauseAndFix},
                   {"https://github.com/aws/sagemaker-hyperpod-cli/pull/282",
                    Stated::kCauseAndFix}},
       .explains = {"efa-no-provider", "ofi-no-provider", "efa-not-used", "ofi-call"}},
      {.id = "roce-one-subnet",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "Several NICs of a host are in one IP subnet: Linux answers and sends by any of "
                "them (ARP flux)",
       .texts = {{"ARP flux"},
                 {"NICs on same subnet"},
                 {"NICs && same subnet && {fails}"},
                 {"interfaces in a single subnet"},
                 {"NICs && single && subnet"},
                 {"NICs are placed in same broadcast domain"},
                 {"packets will be routed through the wrong"},
                 {"routed through a single interface"}},
       .cause = "With addresses of one subnet the kernel takes the first route for all of them, "
                "and each interface answers ARP for the others' addresses. RoCE v2 follows these "
                "addresses, so that packets leave or arrive by the wrong NIC.",
       .consequence = "Connections time out at random, or all traffic goes by one NIC.",
       .checks = {"roce-subnets", "roce-gid"},
       .fix_now = "`ip -brief address`; `ip route`; a subnet for each NIC (rail), the same on all "
                  "hosts, with routes between the rails; or in one subnet: `sudo sysctl -w "
                  "net.ipv4.conf.all.arp_ignore=2 net.ipv4.conf.all.arp_announce=2` and a routing "
                  "table for each source address (`ip rule add from ADDRESS`); within rails only: "
                  "`export NCCL_CROSS_NIC=0`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/1269", Stated::kFix},
                   {"https://github.com/openucx/ucx/issues/5598", Stated::kCause},
                   {"https://github.com/NVIDIA/nccl/issues/1109", Stated::kSymptom}},
       .explains = {"qp-timed-out"}},
      {.id = "ucx-pinned-to-tcp",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "UCX was told to use TCP (UCX_TLS=tcp, or an Ethernet interface): KV transfers do "
                "not go by RDMA",
       .texts = {{"UCX_TLS=tcp && UCX_NET_DEVICES=eth"},
                 {"UCX_TLS=tcp && RDMA"},
                 {"UCX_TLS=tcp && KV"},
                 {"UCX_TLS=tcp", 1},
                 {"UCX_NET_DEVICES=eth", 1},
                 {"NixlConnector", 2},
                 {"KV transfer && slow", 2},
                 {"lose RDMA", 2}},
       .unless = {"VRAM memory is detected as host", "UCX CUDA support was not found"},
       .cause = "These variables are meant for MPI's start beside NCCL. An image, a webhook or the "
                "cluster's profile sets them for all programs, and NIXL moves its data by UCX.",
       .consequence = "Everything works, many times slower than by RDMA, and nothing is reported.",
       .checks = {"ucx-variables"},
       .fix_now =
           "`env | grep ^UCX_`; `unset UCX_TLS UCX_NET_DEVICES`; or `export "
           "UCX_TLS=rc,cuda_copy,cuda_ipc,sm,self UCX_NET_DEVICES=mlx5_0:1`; the proof: `grep . "
           "/sys/class/infiniband/*/ports/1/counters/port_xmit_data` before and after",
       .fix_for_good = "",
       .sources = {{"https://github.com/ome-projects/ome/issues/837", Stated::kCauseAndFix}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
