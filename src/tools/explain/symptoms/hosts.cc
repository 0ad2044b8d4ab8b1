// The host, its GPUs or its cluster withhold something before RDMA has a part in it.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& host_symptoms() {
  static const Symptoms table = {
      {.id = "iommu-board-device",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The IOMMU stopped a device of the board itself (graphics, USB): not GPU or NIC",
       .texts = {{"DMAR: {}Request device [00:02.0]"},
                 {"DMAR: {}Request device [00:14.0]"},
                 {"DMAR: {}Request device [00:16.{number}]"},
                 {"DMAR: {}Request device [00:1a.0]"},
                 {"DMAR: {}Request device [00:1d.0]"},
                 {"DMAR: {}Request device [00:1f.{number}]"}},
       .cause = "The address in the line is that of a device in the chipset: 00:02.0 is the "
                "processor's graphics, 00:14.0 USB, 00:1f the sound and storage controllers. Its "
                "firmware (at boot) or driver reached for memory that it may not use.",
       .consequence = "None for transfers between NIC and GPU: that device alone is concerned.",
       .checks = {},
       .fix_now =
           "`lspci -s 00:02.0`; with the address in the line; then new firmware of the board. "
           "The IOMMU's mode for NICs need not be changed for it.",
       .fix_for_good = "",
       .sources = {{"https://github.com/Dasharo/dasharo-issues/issues/641", Stated::kSymptom}},
       .explains = {}},
      {.id = "gpu-dma-range",
       .program = Program::kCuda,
       .certainty = Certainty::kLikely,
       .title = "The GPU cannot reach the addresses that this host's IOMMU gives it",
       .texts = {{"NVRM: {}is not addressable by GPU"},
                 {"NVRM: {}DMA address not in addressable range of device"},
                 {"NVRM: {}not in addressable range"}},
       .cause =
           "A GPU has 40 to 52 bits for addresses of the bus, and the host's IOMMU (POWER, some "
           "Arm and virtual machines) gives addresses above them; the line names both.",
       .consequence = "The GPU does not start, or memory cannot be mapped for it.",
       .checks = {"iommu", "gpu-driver"},
       .fix_now =
           "`sudo dmesg | grep -iE 'iommu|dma|NVRM' | head -40`; boot with `iommu=pt`; POWER: "
           "the driver that the platform's vendor names (the open kernel modules have no "
           "support for it)",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "nvidia/nv-dma.c",
                    Stated::kCause},
                   {"https://github.com/NVIDIA/open-gpu-kernel-modules/issues/683",
                    Stated::kSymptom}},
       .explains = {"driver-assertion"}},
      {.id = "cuda-not-started",
       .program = Program::kCuda,
       .certainty = Certainty::kLikely,
       .title = "CUDA does not start: its device files or nvidia_uvm are missing (unknown error)",
       .texts = {general("Test CUDA failure{}'unknown error'"),
                 general("Kernel module nvidia_uvm is not loaded"),
                 general("CUDA unknown error - this may be due to"), general("CUDA_ERROR_UNKNOWN"),
                 general("cudaErrorUnknown"), general("CUDA error 999"),
                 general("cuInit{}unknown error"), general("cudaGetDeviceCount{}unknown error"),
                 general("cudaSetDevice{}unknown error"), general("cudaErrorInitializationError"),
                 general("Test CUDA failure{}'initialization error'"),
                 general("CUDA_ERROR_NOT_INITIALIZED")},
       .cause =
           "The module `nvidia_uvm` is not loaded or `/dev/nvidia-uvm` is not there: they come "
           "with the first CUDA program that root, or one with the setuid nvidia-modprobe, "
           "runs on the host, and a container that starts before it has neither. After a "
           "suspend or a fallen GPU the same is said of a driver that has to be reloaded.",
       .consequence = "No CUDA program runs here; no NIC has been asked yet.",
       .checks = {"gpus", "gpu-driver", "devices"},
       .fix_now = "`sudo nvidia-modprobe -u -c=0`; `ls -l /dev/nvidia-uvm`; both on the host, then "
                  "start the container anew",
       .fix_for_good = "`sudo systemctl enable --now nvidia-persistenced`; and `nvidia_uvm` in "
                       "`/etc/modules-load.d`.",
       .sources = {{"https://github.com/NVIDIA/pyxis/issues/81", Stated::kCauseAndFix}},
       .explains = {"job-rendezvous"}},
      {.id = "nccl-socket-interfaces",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "NCCL uses interfaces that other hosts do not reach (container bridges)",
       .texts = {{"]pod-id-link && <0>", 1},
                 {"returned Connection refused, retrying", 2},
                 {"]br-{word}:{word} && <0>", 1},
                 {"]docker{word}:{word} && <0>", 1},
                 {"]veth{word}:{word} && <0>", 1},
                 {"]virbr{word}:{word} && <0>", 1},
                 {"]cni{word}:{word} && <0>", 1},
                 {"]flannel{word}:{word} && <0>", 1},
                 {"ncclSystemError", 2},
                 {"unhandled system error", 2},
                 {"ncclRemoteError", 2},
                 {"NCCL WARN{}Connect{}{fails}", 2},
                 {"NCCL WARN{}socket{}{fails}", 2}},
       .cause = "Without RDMA NCCL opens its sockets on each interface that it finds. Bridges of "
                "Docker, Kubernetes and virtual machines (br-, veth, virbr, cni) have addresses "
                "that only their own host reaches.",
       .consequence = "Connections to the other hosts fail or time out.",
       .checks = {"rdma-nics"},
       .fix_now = "`export NCCL_SOCKET_IFNAME=INTERFACE`; with the one that all hosts share (`^` "
                  "before a name leaves it out: `^docker,br-,veth`)",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/697", Stated::kCauseAndFix}},
       .explains = {"nccl-class", "nccl-bootstrap"}},
      {.id = "nccl-allocation",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title = "NCCL could not allocate memory of its own",
       .texts = {{"NCCL WARN{}Allocation failed"},
                 {"NCCL WARN Failed to malloc"},
                 {"NCCL WARN Failed to CUDA"},
                 {"NCCL WARN Cuda failure{}out of memory"},
                 {"NCCL WARN Cuda failure 2 "}},
       .cause =
           "'malloc': the host's or the container's memory is used up. 'CUDA': the GPU's, which "
           "the framework has taken before NCCL asked. Where there is room enough, it is a "
           "fault of that NCCL release: another one goes on.",
       .consequence = "The job stops.",
       .checks = {"nccl-version"},
       .fix_now = "`free -g`; `nvidia-smi`; leave the GPU a few hundred MB "
                  "(`NCCL_BUFFSIZE=1048576` needs less); then another release of NCCL",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/844", Stated::kFix},
                   {"https://github.com/NVIDIA/nccl/blob/master/src/include/alloc.h",
                    Stated::kCause}},
       .explains = {"nccl-class"}},
      {.id = "macvlan-infiniband",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "A macvlan network cannot be made upon this interface: IP over InfiniBand has none",
       .texts = {{"failed to create macvlan: invalid argument"},
                 {"failed to create macvlan{}{EOPNOTSUPP}"}},
       .cause = "macvlan gives each pod an Ethernet address of its own, which an interface of IP "
                "over InfiniBand (ib0) cannot have.",
       .consequence = "The pod stays in ContainerCreating.",
       .checks = {"rdma-nics"},
       .fix_now = "`ip -d link show dev INTERFACE`; link/infiniband: a network of the kind "
                  "IPoIBNetwork (network operator), or ipvlan, in place of MacvlanNetwork",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/network-operator/issues/1017",
                    Stated::kCauseAndFix}},
       .explains = {"sriov-pod"}},
      {.id = "pod-resources",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "Multus cannot ask the kubelet which devices the pod was given",
       .texts = {{"unknown service v1.PodResourcesLister"},
                 {"unknown service v1alpha1.PodResourcesLister"},
                 {"getKubeletClient: error getting pod resources"},
                 {"failed to list pod resources"}},
       .cause =
           "Multus asks the kubelet's pod-resources service for the device that belongs to the "
           "network. 'Unimplemented' or 'unknown service': this kubelet is older than the "
           "Multus or has the service's feature gate (KubeletPodResources) off. Else its "
           "socket below `/var/lib/kubelet/pod-resources` is not mounted into Multus's pod.",
       .consequence = "The pod stays in ContainerCreating; the NIC's functions are in order.",
       .checks = {},
       .fix_now =
           "`sudo ls -l /var/lib/kubelet/pod-resources`; `kubectl version`; then a Multus of "
           "the age of the cluster, or the feature gate on",
       .fix_for_good = "",
       .sources = {{"https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/"
                    "388",
                    Stated::kSymptom}},
       .explains = {"sriov-pod"}},
      {.id = "pod-address",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The pod's second network has no IP address to give (IPAM)",
       .texts = {{"failed to set up IPAM plugin"},
                 {"Could not allocate IP in range"},
                 general("whereabouts && {fails}"),
                 general("IPAM && cni && {fails}"),
                 {"nv-ipam{}{fails}"},
                 {"no free addresses in the allocated chunk"}},
       .cause =
           "The range of the network attachment is used up (addresses of pods that are gone may "
           "still be held), or the IPAM plugin does not reach its store.",
       .consequence = "The pod stays in ContainerCreating; the NIC's functions are in order.",
       .checks = {},
       .fix_now =
           "`kubectl get ippools.whereabouts.cni.cncf.io -A -o yaml`; "
           "`kubectl get network-attachment-definitions -A -o yaml`; then a larger range, or "
           "the entries of pods that are gone removed",
       .fix_for_good = "",
       .sources = {{"https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/"
                    "420",
                    Stated::kCause}},
       .explains = {"sriov-pod"}},
      {.id = "driver-reload-storage",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "The driver container does not reload the RDMA drivers: storage modules use them",
       .texts = {{"UNLOAD_STORAGE_MODULES not set"},
                 {"Storage modules are loaded for current driver"}},
       .cause = "Modules for storage over RDMA (nvme_rdma, ib_iser, ib_isert, ib_srp, rpcrdma) are "
                "loaded and would hold the old driver, and the container was not told that it may "
                "remove them.",
       .consequence = "The node keeps its old RDMA driver, and the pod is not ready.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`lsmod | grep -E 'nvme_rdma|ib_iser|ib_isert|ib_srp|rpcrdma'`; nothing mounted by "
           "them: the variable `UNLOAD_STORAGE_MODULES=true` for the driver container "
           "(NicClusterPolicy: ofedDriver.env)",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/network-operator/issues/1084",
                    Stated::kCauseAndFix}},
       .explains = {"rdma-stack-in-use", "operator-waits"}},
      {.id = "pci-device-gone",
       .program = Program::kPci,
       .certainty = Certainty::kLikely,
       .title = "A PCI device does not answer any more: it has left the bus or has no power",
       .texts = {{"Unable to change power state from {}device inaccessible"},
                 {"can't change power state from {}inaccessible"},
                 {"Refused to change power state, currently in D"},
                 {"Device config space inaccessible"},
                 {"not ready {number}ms after {}giving up"},
                 {"not ready after {number}ms; giving up"},
                 {"Unknown header type 7f"}},
       .cause =
           "The line names the device. Its registers read as all ones: the card lost its link or "
           "its power (seating, riser, power cable), hangs after a reset, or was put to sleep "
           "(D3cold) and does not wake up.",
       .consequence = "Driver and programs lose the device until the host is powered off and on.",
       .checks = {"gpus", "rdma-nics", "pcie-link"},
       .fix_now =
           "`sudo lspci -vvs ADDRESS`; `(rev ff)` or unknown header type says that it is gone; "
           "then power the host off and on, a warm reboot is not enough",
       .fix_for_good = "Reseat the card and its power cables; new firmware; boot with "
                       "`pcie_port_pm=off` where it is gone after idling.",
       .sources = {{"https://github.com/torvalds/linux/blob/v6.1/drivers/pci/pci.c",
                    Stated::kCause}},
       .explains = {"nic-firmware", "nic-driver-error"}},
      {.id = "vfio-passthrough",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "A device cannot be given to a virtual machine (vfio)",
       .texts = {{"ineligible for IOMMU domain attach"},
                 {"group {number} is not viable"},
                 {"VFIO_MAP_DMA && {fails}"},
                 {"vfio_dma_map({}) = -"},
                 {"vfio{}RLIMIT_MEMLOCK ({number}) exceeded"},
                 {"No interrupt remapping support. Use the module param"},
                 {"MSI interrupts are not secure, they cannot be isolated"},
                 {"exists in vfio-pci device denylist"},
                 {"vfio-pci {word}: BAR {number}: can't reserve"},
                 {"vfio-pci {word}: BAR {number} [{}: can't reserve"},
                 {"this device have a 1:1 IOMMU mapping"},
                 {"No device request channel registered, blocked"},
                 general("vfio && {fails}")},
       .cause =
           "'not viable': another device of the same IOMMU group is still held by the host. "
           "'RMRR': the firmware keeps the device's memory for itself. VFIO_MAP_DMA with Cannot "
           "allocate memory: the limit of locked memory is below the guest's; with Invalid "
           "argument: memory of a GPU that this host cannot map for the NIC.",
       .consequence = "The virtual machine does not start, or its devices do not reach each other.",
       .checks = {"iommu", "locked-memory", "acs"},
       .fix_now =
           "`for g in /sys/kernel/iommu_groups/*/devices/*; do echo $g; done | sort -V`; all "
           "devices of the group to vfio-pci; `ulimit -l`",
       .fix_for_good = "",
       .sources = {{"https://docs.kernel.org/driver-api/vfio.html", Stated::kCauseAndFix},
                   {"https://github.com/torvalds/linux/blob/v6.1/drivers/iommu/intel/iommu.c",
                    Stated::kCause}},
       .explains = {}},
      {.id = "nccl-warning",
       .program = Program::kNccl,
       .certainty = Certainty::kPossible,
       .title = "NCCL warns; no known cause has these words: the file in the line says which part",
       .texts = {last("NCCL WARN")},
       .cause =
           "The words behind WARN are the reason. net_ib, ibvwrap: the RDMA NIC. socket, "
           "bootstrap: TCP between the hosts. p2p, shm, nvls: GPUs of one host. graph, topo, xml: "
           "the topology that was found or given. init, argcheck, enqueue: how the program "
           "calls NCCL, or ranks that do not agree. cuda, alloc: GPU and its memory.",
       .consequence = "The call that printed it fails; often the job stops.",
       .checks = {"nccl-version", "rdma-nics"},
       .fix_now =
           "`export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV`; run again, and give "
           "`gdr explain` the log of the rank that warned first",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
                    Stated::kFix}},
       .explains = {"nccl-class", "verbs-call"}},
  };
  return table;
}

}  // namespace gdr::explain
