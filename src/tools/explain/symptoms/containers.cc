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
                 {"no healthy devices present; cannot allocate unhealthy devices"}},
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
      {.id = "sriov-pod",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The pod cannot be given its virtual function or RDMA network",
       .texts = {{"SRIOV-CNI failed to"},
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
