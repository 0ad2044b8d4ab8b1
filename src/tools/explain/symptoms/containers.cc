// Containers and Kubernetes.
#include "explain/symptoms/advice.h"
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& container_symptoms() {
  static const Symptoms table = {
      {.id = "container-lost-gpu",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "A container lost its GPUs: Failed to initialize NVML: Unknown Error",
       .texts = {{"Failed to initialize NVML: Unknown Error"}},
       .cause = "systemd manages the container's cgroup and was reloaded (`systemctl "
                "daemon-reload`, a package update); the GPUs' device rules were dropped.",
       .consequence = "CUDA programs in this container fail until it is started anew.",
       .checks = {"devices"},
       .fix_now = "Restart the container.",
       .fix_for_good = "The container toolkit's CDI mode, or its links below `/dev/char` "
                       "(`nvidia-ctk system create-dev-char-symlinks --create-all`).",
       .sources = {{"https://github.com/NVIDIA/nvidia-container-toolkit/issues/48",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gpu-operator/issues/430", Stated::kSymptom}},
       .explains = {}},
      {.id = "kubernetes-no-device",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "Kubernetes has no node with the GPU or NIC that the pod asks for",
       .texts = {{"nsufficient nvidia.com/"},
                 {"nsufficient rdma/"},
                 {"nsufficient mellanox.com/"},
                 {"nsufficient openshift.io/{}rdma"},
                 {"nsufficient amd.com/gpu"},
                 {"nsufficient vpc.amazonaws.com/efa"},
                 {"nsufficient hugepages"},
                 {"UnexpectedAdmissionError"},
                 {"no healthy devices present"}},
       .cause =
           "The device plugin does not run on the node or found nothing, the container runtime "
           "there is not NVIDIA's, another pod has the devices, or the node has a taint.",
       .consequence = "The pod stays pending.",
       .checks = {"gpus", "rdma-nics"},
       .fix_now = "`kubectl describe node NODE | grep -A8 Allocatable`; the log of the device "
                  "plugin's pod on that node",
       .fix_for_good = "The GPU operator (`driver.rdma.enabled=true`) and the network operator.",
       .sources = {{"https://github.com/NVIDIA/k8s-device-plugin/issues/33", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/k8s-device-plugin/issues/165", Stated::kSymptom},
                   {"https://github.com/NVIDIA/k8s-device-plugin/issues/159", Stated::kSymptom}},
       .explains = {}},
      {.id = "rdma-plugin-device",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The RDMA device plugin leaves a NIC out: a module of the host is not loaded",
       .texts = {{"non-Rdma Device {word}"},
                 {"missing RDMA device spec for device"},
                 {"no Rdma Devices were found for resource"},
                 {"error creating new device: 'error getting driver info for device"},
                 {"Warning: non-Rdma Device"},
                 {"RDMA device '{word}' not found"}},
       .cause = "The plugin wants `uverbs`, `umad`, `issm` and `rdma_cm` of each NIC. 'issm' or "
                "'umad' missing: `ib_umad` is not loaded; 'rdma_cm': `rdma_ucm`; all of them: the "
                "NIC has no RDMA (another vendor's, or its driver was reloaded after the plugin "
                "started). Functions that nobody wants are listed, too: harmless.",
       .consequence = "The resource has fewer NICs than the node, or none.",
       .checks = {"rdma-nics", "devices"},
       .fix_now = "`sudo modprobe -a ib_umad rdma_ucm`; `ls /sys/class/infiniband`; then restart "
                  "the plugin's pod",
       .fix_for_good = "`printf '%s\\n' ib_umad rdma_ucm | sudo tee "
                       "/etc/modules-load.d/rdma-umad.conf`; and selectors in the plugin's "
                       "configuration that name the right NICs",
       .sources = {{"https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/94",
                    Stated::kFix},
                   {"https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/23",
                    Stated::kCause},
                   {"https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/192",
                    Stated::kSymptom}},
       .explains = {"kubernetes-no-device"}},
      {.id = "sriov-vfs-busy",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title =
           "The number of virtual functions cannot be changed: it is not 0, or some are in use",
       .texts = {{"sriov_numvfs && {EBUSY}"},
                 {"VFs already enabled. Disable before"},
                 {"{number} VFs already enabled"},
                 {"Can't disable SR-IOV && VFs are assigned"},
                 {"VF is assigned to"},
                 {"unloading driver while VFs are assigned"},
                 {"VFs are assigned to VMs"}},
       .cause = "The kernel changes the number of virtual functions from 0 only, and not while one "
                "is held by a virtual machine or container (vfio); the card's network function "
                "may also be in switchdev mode or about to be reset.",
       .consequence = "The virtual functions stay as they were, and pods that want them wait.",
       .checks = {"rdma-nics"},
       .fix_now = "`cat /sys/class/net/INTERFACE/device/sriov_numvfs`; stop the pods and virtual "
                  "machines that hold functions; `echo 0 | sudo tee "
                  "/sys/class/net/INTERFACE/device/sriov_numvfs`; then write the wanted number in "
                  "the same way",
       .fix_for_good = "One owner of the setting: the SR-IOV operator, or a unit of systemd, not "
                       "both.",
       .sources = {{"https://docs.kernel.org/PCI/pci-iov-howto.html", Stated::kCause},
                   {"https://github.com/torvalds/linux/blob/master/drivers/pci/pci-sysfs.c",
                    Stated::kCause},
                   {"https://github.com/Mellanox/k8s-rdma-sriov-dev-plugin/issues/12",
                    Stated::kSymptom}},
       .explains = {"sriov-pod", "sriov-vfs-not-created"}},
      {.id = "sriov-vfs-not-created",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The NIC's virtual functions cannot be created (SR-IOV)",
       .texts = {{"sriov_numvfs && {ENOMEM}"},
                 {"sriov_numvfs && {EINVAL}"},
                 {"sriov_numvfs && {ERANGE}"},
                 {"sriov_numvfs && {ENODEV}"},
                 {"sriov_numvfs && {ENOSYS}"},
                 {"sriov_numvfs && {EIO}"},
                 {"sriov_numvfs && {ENOENT}"},
                 {"sriov_numvfs && {EACCES}"},
                 {"sriov_numvfs && {ENOSPC}"},
                 {"not enough MMIO resources for SR-IOV"},
                 {"SR-IOV: bus number out of range"},
                 {"can't enable {number} VFs (bus {word} out of range"},
                 {"Failed to enable PCI sriov"},
                 {"Failed to enable SR-IOV"},
                 {"SRIOV is disabled"},
                 {"SR-IOV not supported"},
                 {"mlx5_core{}enable_hca failed"},
                 {"mlx5_sriov_enable{}{fails}"},
                 {"SR-IOV support in IOMMU and BIOS"},
                 fallback("sriov_numvfs && {fails}"),
                 fallback("sriov && {fails}")},
       .cause =
           "Cannot allocate memory, or no MMIO resources: the firmware left no addresses or bus "
           "numbers for them, since SR-IOV is off in the BIOS. Invalid argument or Numerical "
           "result out of range: more than the card is set to (`sriov_totalvfs`). No such "
           "file or Function not implemented: SR-IOV is off in the card or its driver. "
           "Permission denied: a container whose /sys cannot be written.",
       .consequence = "The functions are missing, and what is to be given one waits.",
       .checks = {"rdma-nics", "iommu"},
       .fix_now = "`cat /sys/class/net/INTERFACE/device/sriov_totalvfs`; "
                  "`sudo dmesg | grep -iE 'sr-iov|no space|VF' | tail`; "
                  "`sudo mlxconfig -d ADDRESS query | grep -E 'SRIOV_EN|NUM_OF_VFS'`",
       .fix_for_good = "BIOS: SR-IOV, VT-d or AMD-Vi and Above 4G Decoding on. Kernel: "
                       "`pci=realloc`. Card: `mlxconfig -d ADDRESS set SRIOV_EN=1 NUM_OF_VFS=8`; "
                       "then a cold boot.",
       .sources = {{"https://github.com/openshift/openshift-docs/pull/32619", Stated::kCauseAndFix},
                   {"https://docs.kernel.org/PCI/pci-iov-howto.html", Stated::kCause}},
       .explains = {"sriov-pod"}},
      {.id = "sriov-pod",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The pod cannot be given its virtual function or RDMA network",
       .texts = {{"SRIOV-CNI failed to"},
                 general("sriov && cni && {fails}"),
                 general("rdma && cni && {fails}"),
                 general("ib-sriov && {fails}"),
                 general("multus && rdma && {fails}"),
                 general("ib-kubernetes && {fails}"),
                 general("ipoib && cni && {fails}"),
                 general("resourceName && rdma && {fails}"),
                 {"infiniBand SRI-OV CNI failed"},
                 {"ib-sriov{}failed to configure VF"},
                 {"VF pci addr is required"},
                 {"Fail to configure sriov"},
                 {"Fail to config vfs for ndev"},
                 {"failed to move RDMA device"},
                 {"RDMA-CNI{}failed"},
                 {"rdma-cni{}failed"},
                 {"host-device{}failed to find host device"},
                 {"error adding container to network '{}rdma"},
                 {"error adding container to network '{}sriov"}},
       .cause =
           "The network attachment does not name the resource that the device plugin gives out "
           "(`k8s.v1.cni.cncf.io/resourceName`), the wrong plugin is used (`sriov` for "
           "Ethernet, `ib-sriov` for InfiniBand), or the RDMA subsystem is not in exclusive "
           "mode, which the RDMA plugin needs.",
       .consequence = "The pod stays in ContainerCreating.",
       .checks = {"rdma-nics"},
       .fix_now = "`rdma system`; `kubectl get network-attachment-definitions -A -o yaml`; "
                  "`kubectl describe node NODE | grep -A8 Allocatable`",
       .fix_for_good =
           "`sudo rdma system set netns exclusive` where the RDMA plugin is used; GUIDs "
           "by ib-kubernetes or UFM on InfiniBand.",
       .sources =
           {{"https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/310",
             Stated::kSymptom},
            {"https://github.com/k8snetworkplumbingwg/ib-sriov-cni/issues/66", Stated::kSymptom},
            {"https://github.com/k8snetworkplumbingwg/sriov-cni/issues/208", Stated::kSymptom}},
       .explains = {"kubernetes-no-device"}},
      {.id = "memlock-not-raised",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The limit of locked memory may not be raised here",
       .texts = {{"setting rlimit type 8"},
                 {"setrlimit && MEMLOCK && {fails}"},
                 {"set memlock limit && {fails}"},
                 {"RLIMIT_MEMLOCK && {EPERM}"},
                 {"ulimit: max locked memory: cannot modify limit"},
                 {"ulimit: {}locked memory && {fails}"},
                 {"memlock && {EPERM}"},
                 {"Can't propagate RLIMIT_MEMLOCK"}},
       .cause =
           "Nobody but root (with the capability `SYS_RESOURCE`) may raise a hard limit, and a "
           "container gets no more than its runtime has: a rootless runtime, or a dockerd, "
           "containerd or slurmd that was started with a lower limit.",
       .consequence = "The container or job does not start, or RDMA in it fails for want of locked "
                      "memory.",
       .checks = {"locked-memory"},
       .fix_now = "`systemctl show -p LimitMEMLOCK docker containerd slurmd`; `ulimit -Hl`",
       .fix_for_good = kMoreLockedForGood,
       .sources = {{"https://man7.org/linux/man-pages/man2/getrlimit.2.html", Stated::kCause}},
       .explains = {"locked-memory"}},
      {.id = "container-no-gpu",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "Docker or containerd cannot give the container GPUs",
       .texts = {{"could not select device driver {}capabilities: [[gpu]]"},
                 {"unknown or invalid runtime name: nvidia"},
                 {"Unknown runtime specified nvidia"},
                 {"no runtime for 'nvidia' is configured"},
                 {"exec: 'nvidia-container-runtime': executable file not found"},
                 {"nvidia-container-cli: {}error"},
                 {"unresolvable CDI devices nvidia.com/gpu"}},
       .cause = "The NVIDIA container toolkit is not installed, or the runtime was not told of it "
                "and restarted. With nvidia-container-cli: the driver on the host.",
       .consequence = "The container does not start.",
       .checks = {"gpus", "gpu-driver"},
       .fix_now = "`sudo apt-get install nvidia-container-toolkit`; "
                  "`sudo nvidia-ctk runtime configure --runtime=docker`; "
                  "`sudo systemctl restart docker`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/dcgm-exporter/issues/33", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nvidia-docker/issues/1637", Stated::kSymptom}},
       .explains = {}},
      {.id = "container-no-infiniband",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "The host has no /dev/infiniband to give to the container",
       .texts = {{"adding custom device '/dev/infiniband{}no such file or directory"},
                 {"error gathering device information{}/dev/infiniband"},
                 {"stat /dev/infiniband: no such file or directory"},
                 {"/dev/infiniband: no such file or directory"},
                 {"/dev/infiniband': No such file or directory"}},
       .cause = "`ib_uverbs` is not loaded on the host, or the host has no RDMA NIC.",
       .consequence = "The container does not start, or sees no NIC.",
       .checks = {"rdma-nics", "devices"},
       .fix_now = "`sudo modprobe -a ib_uverbs rdma_ucm mlx5_ib`; `ls -l /dev/infiniband`",
       .fix_for_good = "The package rdma-core, which loads them at boot.",
       .sources = {{"https://github.com/linux-rdma/rdma-core/blob/master/Documentation/udev.md",
                    Stated::kFix}},
       .explains = {}},
      {.id = "operator-waits",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The GPU operator's peer-memory or driver container waits for the RDMA drivers",
       .texts = {{"waiting for mellanox ofed and nvidia drivers to be installed"},
                 {"waiting for mellanox ofed"},
                 {"waiting for mofed to be installed"},
                 {"waiting for MOFED"},
                 {"mofed driver is not ready"},
                 {"nvidia-peermem-ctr{}CrashLoopBackOff"},
                 {"nvidia-peermem-ctr{}Back-off"},
                 {"nvidia-peermem-ctr: {}unbound variable"}},
       .cause =
           "`driver.rdma.enabled=true` wants MLNX_OFED or DOCA-OFED on the node: by the network "
           "operator, or on the host with `driver.rdma.useHostMofed=true`. On a kernel without "
           "the peer-memory interface it never becomes ready.",
       .consequence = "The driver's pod is never ready, and with it the node.",
       .checks = {"peer-memory-loading", "registration-path"},
       .fix_now =
           "`kubectl get pods -A | grep -i mofed`; `lsmod | grep -E 'ib_core|mlx5_core'`; "
           "with dma-buf (open modules) nothing of it is needed: `driver.rdma.enabled=false`",
       .fix_for_good = kEitherWay,
       .sources = {{"https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/"
                    "gpu-operator-rdma.html",
                    Stated::kCause},
                   {"https://github.com/NVIDIA/aicr/issues/2499", Stated::kCause},
                   {"https://github.com/NVIDIA/gpu-operator/issues/609", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
