// Kubernetes: virtual functions that a pod is given, dynamic resource allocation, device plugins,
// and pods that have the NIC without its network interface.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& kubernetes_symptoms() {
  static const Symptoms table = {
      {.id = "ib-vf-guid",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "The virtual function of an InfiniBand NIC has no valid GUID",
       .texts = {{"GUID is not valid"},
                 {"failed to set node GUID"},
                 {"failed to set port GUID"},
                 {"Failed to set IB GUIDs"},
                 {"failed to generate GUID"},
                 {"invalid guid range"},
                 {"invalid GUID address"},
                 {"failed to set pod network guid"},
                 {"failed to add port guid"},
                 {"failed to add node guid"},
                 {"failed to allocate guid"},
                 {"failed to allocate requested guid"},
                 {"failed to get GUID from IB GUID pool"},
                 {"GUID pool is exhausted"},
                 {"out of range guid"},
                 {"failed to connect to ufm subnet manager"}},
       .cause = "On InfiniBand a virtual function needs a GUID of its own before a pod can take "
                "it, and nobody has set one: it is all zeros or all ones. ib-kubernetes with UFM "
                "sets it, the SR-IOV operator does for a policy with `linkType: ib`, or you by "
                "hand. 'pool is exhausted': ib-kubernetes' range is too small.",
       .consequence = "The pod stays in ContainerCreating.",
       .checks = {"rdma-nics", "port-state"},
       .fix_now = "`ip link show dev PF`; shows the GUIDs of its functions. By hand, a different "
                  "one for each: `sudo ip link set dev PF vf 0 node_guid 02:00:00:00:00:00:00:01`; "
                  "`sudo ip link set dev PF vf 0 port_guid 02:00:00:00:00:00:00:01`; `sudo ip link "
                  "set dev PF vf 0 state auto`; then bind the function to its driver anew",
       .fix_for_good = "`linkType: ib` in the SriovNetworkNodePolicy, or ib-kubernetes.",
       .sources = {{"https://github.com/k8snetworkplumbingwg/ib-sriov-cni", Stated::kFix},
                   {"https://github.com/k8snetworkplumbingwg/sriov-network-operator/issues/307",
                    Stated::kSymptom}},
       .explains = {"sriov-pod", "kubernetes-no-device"}},
      {.id = "ib-vf-down",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "Ports of virtual functions are down while the NIC's own port is up",
       .texts = {{"==> {word}v{number} (Down)"},
                 general("VF{}port is down"),
                 general("VF{}PORT_DOWN"),
                 general("virtual function && PORT_DOWN"),
                 general("VF is down state")},
       .cause = "A virtual function's port follows its NIC only after its link state is `auto` or "
                "`enable`. On InfiniBand it also needs a node and a port GUID, and the subnet "
                "manager must know virtual ports (opensm: `virt_enabled 2`).",
       .consequence = "No program can use these functions; the NIC itself can be used. An Ethernet "
                      "function that no pod has yet may be down: harmless.",
       .checks = {"port-state", "subnet-manager"},
       .fix_now =
           "`ip link show dev PF`; then for each function `sudo ip link set dev PF vf 0 state "
           "auto`; InfiniBand: its GUIDs in the same way (`node_guid`, `port_guid`), then bind it "
           "to its driver anew; in Kubernetes `linkState: auto` of the SriovIBNetwork",
       .fix_for_good = "",
       .sources = {{"https://github.com/openshift/sriov-network-operator/issues/635",
                    Stated::kSymptom}},
       .explains = {"no-active-port", "port-not-active"}},
      {.id = "sriov-cni-vf",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The SR-IOV or InfiniBand CNI does not find the pod's virtual function, or cannot "
                "move it",
       .texts = {{"PF network device not found"},
                 {"shared PF not found"},
                 general("PF directory information && {fails}"),
                 general("error getting PF "),
                 general("error reading VF directories"),
                 general("for vf {number} && {fails}"),
                 general("vf pci address && {fails}"),
                 general("VF {word} name && {fails}"),
                 general("interface && to init netns && {fails}"),
                 general("failed to open netns"),
                 general("get VF device information"),
                 general("VF name && {fails}"),
                 general("VF altname && {fails}"),
                 general("failed to down vf device"),
                 {"could not find VF PCI device"},
                 {"found more than one VF PCI device"},
                 {"failed to derive PCI device ID from mac"},
                 {"error getting VF netdevice"},
                 {"Failed to get VF netdevice"},
                 {"failed to lookup vf "},
                 {"failed to find vf {number}"},
                 {"failed to find VF {word} for PF"},
                 {"failed to determine if device {word} is VF"},
                 {"VF device {word} has no entries"},
                 {"VF device {word} sysfs path"},
                 {"no symbolic link for the virtfn"},
                 {"symbolic link of virtfn{number}"},
                 {"is not bound to vfio-pci driver"},
                 {"requires vfioPciMode to be enabled"},
                 {"failed to find interface with any of the possible names"},
                 {"LinkSetNsFd failed when trying to move"},
                 {"failed to restore original {}MAC address"},
                 {"failed to set link state to {word} for vf"},
                 {"cannot read symbolic link between virtual function"},
                 general("error adding container to network && VF "),
                 general("FailedCreatePodSandBox && VF ")},
       .cause =
           "The device plugin gave out a function whose network interface is not on the host: it "
           "is still in a pod before, is bound to vfio-pci (or the reverse: `vfioPciMode` and "
           "driver do not fit), lost its driver, or functions were made anew after the plugin "
           "listed them. The RDMA CNI must come behind another one in a list of plugins.",
       .consequence = "The pod stays in ContainerCreating.",
       .checks = {"rdma-nics"},
       .fix_now = "`ls /sys/bus/pci/devices/ADDRESS/net`; `lspci -k -s ADDRESS`; `ip link show dev "
                  "PF`; with the address in the line. Then end pods that are left over, and "
                  "restart the device plugin's pod so that it lists them anew",
       .fix_for_good = "",
       .sources = {{"https://github.com/k8snetworkplumbingwg/sriov-cni", Stated::kCause},
                   {"https://github.com/k8snetworkplumbingwg/rdma-cni", Stated::kCause}},
       .explains = {"sriov-pod"}},
      {.id = "cni-plugin-missing",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "A network plugin's program or attachment that the pod names is not there",
       .texts = {{"failed to find plugin '{word}' in path"},
                 {"cannot find a network-attachment-definition"},
                 {"cannot find network-attachment-definition"},
                 {"cni plugin {word} not found"}},
       .cause = "'find plugin': the node's `/opt/cni/bin` has no program of that name (rdma, "
                "ib-sriov, sriov, macvlan, host-device, whereabouts): the DaemonSet that copies it "
                "there does not run on the node. 'network-attachment-definition': there is none of "
                "this name in the pod's namespace.",
       .consequence = "The pod stays in ContainerCreating.",
       .checks = {},
       .fix_now = "`ls /opt/cni/bin`; on the node; `kubectl get network-attachment-definitions "
                  "-A`; then `secondaryNetwork.cniPlugins` in the NicClusterPolicy, or "
                  "NAMESPACE/NAME in the pod's annotation `k8s.v1.cni.cncf.io/networks`",
       .fix_for_good = "",
       .sources =
           {{"https://github.com/k8snetworkplumbingwg/multus-cni/blob/master/docs/how-to-use.md",
             Stated::kCause}},
       .explains = {"sriov-pod", "sriov-cni-vf"}},
      {.id = "dra-device",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "Dynamic resource allocation (DRA) could not prepare the pod's GPU or NIC",
       .texts = {{"FailedPrepareDynamicResources"},
                 {"NodePrepareResources failed"},
                 {"Failed to prepare dynamic resources"},
                 {"not allowed to use resource claim"},
                 {"cannot allocate all claims"},
                 {"RunPodSandbox error moving"},
                 {"error moving device {word} to namespace"},
                 {"is not supported for RDMA-only devices"},
                 {"list of registered DRA drivers"},
                 general("dranet && {fails}"),
                 general("ResourceClaim && {fails} && rdma")},
       .cause = "The words at the end of the line come from the driver of the device. 'not allowed "
                "to use', 'cannot allocate': claim and device class do not fit, or all devices are "
                "given away. 'registered DRA drivers': that driver's pod does not run on the node. "
                "'moving device', 'no network interface present': the interface is still in the "
                "namespace of a pod before (the kubelet tries again), is in use by the host, or "
                "the RDMA subsystem is in the other namespace mode.",
       .consequence = "The pod waits; the kubelet tries again.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`kubectl get resourceclaims,resourceslices -A`; `kubectl get pods -A -o wide | grep "
           "-iE 'dra|dranet'`; the log of that driver's pod on the node; `rdma system`; `ip link`",
       .fix_for_good = "",
       .sources = {{"https://github.com/kubernetes-sigs/dranet/issues/342", Stated::kCause},
                   {"https://github.com/google/dranet/issues/30", Stated::kSymptom}},
       .explains = {"mnnvl-imex"}},
      {.id = "pod-no-gid",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The container has the RoCE NIC and no address on it: the NIC's interface is not "
                "in here",
       .texts = {general("gids are zero"), general("gids are all zero"),
                 general("all GIDs are zero"), general("gid is all zero"),
                 general("show_gids && empty"), general("show_gids && nill")},
       .cause = "A GID of RoCE is made of the address of the NIC's own network interface, and is "
                "seen only where that interface is. A pod with the shared RDMA device plugin and "
                "an ordinary network (calico, flannel: a veth) has the device and no interface of "
                "it. InfiniBand needs none.",
       .consequence = "Every connection fails: there is no GID to connect by.",
       .checks = {"roce-gid"},
       .fix_now = "`rdma link`; `show_gids`; both on the host and in the pod. Then a second "
                  "network upon the NIC's interface (Multus with macvlan, or a virtual function), "
                  "or `hostNetwork: true`",
       .fix_for_good =
           "MacvlanNetwork or SriovNetwork of the network operator, named in the pod's annotation.",
       .sources = {{"https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/101",
                    Stated::kCauseAndFix},
                   {"https://github.com/projectcalico/calico/issues/8482", Stated::kCause}},
       .explains = {"wrong-gid", "rdma-cm"}},
      {.id = "device-plugin-no-nvml",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "NVIDIA's device plugin finds no GPU: its pod does not run with NVIDIA's runtime",
       .texts = {{"If this is a GPU node, did you"},
                 {"could not load NVML library"},
                 {"Incompatible strategy detected"},
                 {"Incompatible platform detected"},
                 {"NVML not detected: {}fail"},
                 {"No devices found. Waiting indefinitely"},
                 {"RuntimeHandler 'nvidia' not supported"}},
       .cause = "containerd or CRI-O starts the plugin's pod with runc, so that it has neither the "
                "driver's library nor the device files; or the driver is not loaded. On a node "
                "without GPUs the lines are right, and harmless.",
       .consequence = "The node offers no `nvidia.com/gpu`.",
       .checks = {"gpus", "gpu-driver"},
       .fix_now = "`nvidia-smi -L`; on the node; `sudo nvidia-ctk runtime configure "
                  "--runtime=containerd --set-as-default`; `sudo systemctl restart containerd`; or "
                  "a RuntimeClass `nvidia`, named as `runtimeClassName` of the plugin's pod",
       .fix_for_good = "The GPU operator, which does this on each node.",
       .sources = {{"https://github.com/NVIDIA/k8s-device-plugin#prerequisites",
                    Stated::kCauseAndFix}},
       .explains = {"kubernetes-no-device", "gpu-driver-absent"}},
      {.id = "peermem-in-container",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "The peer-memory module belongs to the host: a container has no such service and "
                "needs none",
       .texts = {{"{peermem}: unrecognized service"},
                 {"{peermem}.service could not be found"},
                 {"Unit {peermem}.service not found"},
                 general("{peermem} && inside {}container"),
                 general("{peermem} && inside {}docker")},
       .cause = "A kernel module serves the host and all of its containers. Inside of one there is "
                "nothing to start; `/sys/kernel/mm/memory_peers`, or `lsmod`, shows there too "
                "whether the host has it. On a host: nv_peer_mem is not installed, or "
                "nvidia-peermem took its place, which has no service.",
       .consequence = "None by itself: GPUDirect RDMA works in the container if it works on the "
                      "host and the container has the NIC.",
       .checks = {"peer-memory", "devices", "locked-memory"},
       .fix_now = "`lsmod | grep -E 'peermem|peer_mem'`; it is loaded: `docker run --gpus all "
                  "--network host --device /dev/infiniband --cap-add IPC_LOCK --ulimit memlock=-1 "
                  "IMAGE`; and the NIC's library in the image (`ibverbs-providers` or OFED's); not "
                  "loaded: `sudo modprobe nvidia-peermem` on the host",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/nv_peer_memory/issues/41", Stated::kCause}},
       .explains = {"peermem-not-loaded", "peermem-not-found"}},
  };
  return table;
}

}  // namespace gdr::explain
