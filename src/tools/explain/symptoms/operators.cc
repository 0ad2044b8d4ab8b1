// The operators of Kubernetes that install drivers and make virtual functions, and what keeps them
// from it.
#include "explain/symptoms/advice.h"
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& operator_symptoms() {
  static const Symptoms table = {
      {.id = "gpu-operator-validation",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The GPU operator's validator finds the node's driver, toolkit or plugin not ready",
       .texts = {{"error validating driver"},
                 {"error validating toolkit"},
                 {"error validating cuda workload"},
                 {"error validating plugin"},
                 {"error validating gdrcopy"},
                 {"error validating nvidia-fs"},
                 {"GPU resources are not discovered by the node"},
                 {"toolkit is not ready"},
                 {"driver daemons are not ready"},
                 {"failed to validate driver"},
                 {"failed to validate the driver"},
                 {"pre-compiled driver daemonset not ready"},
                 {"gdrcopy driver is not ready"},
                 {"nvidia-fs driver is not ready"},
                 {"failed to locate driver libraries"},
                 {"failed to locate nvidia-smi"},
                 {"NVIDIA kernel module not loaded"},
                 {"unable to find any allocatable GPU resource"},
                 {"failed to find an executable 'nvidia-smi' on the host"},
                 {"waiting for nvidia container stack to be setup"}},
       .cause = "The steps come one after another: driver, toolkit, CUDA, plugin. The one in the "
                "line is not there yet (its pod is still building or restarting), or a driver on "
                "the host was taken for the operator's. 'cuda workload' on a board with NVSwitch: "
                "the fabric manager does not run.",
       .consequence = "The operator's pods on this node wait in Init, and the node offers no GPU.",
       .checks = {"gpus", "gpu-driver"},
       .fix_now = "`kubectl get pods -n gpu-operator -o wide --field-selector spec.nodeName=NODE`; "
                  "the log of the first of them that is not ready; `nvidia-smi -L`; on the node; a "
                  "driver of the host's own: `driver.enabled=false`",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/"
                    "troubleshooting.html",
                    Stated::kCause}},
       .explains = {}},
      {.id = "sriov-operator-infiniband",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title =
           "The SR-IOV operator sets what an InfiniBand port refuses: a MAC address, or a GUID",
       .texts = {{"lastSyncError: operation not supported"},
                 {"fail to configure VF admin mac address"},
                 {"SetVfAdminMac{}{fails}"},
                 {"ConfigureVfGUID{}{fails}"},
                 {"LinkSetVfNodeGUID && {fails}"},
                 {"LinkSetVfPortGUID && {fails}"},
                 {"LinkType && is not equal to the LinkType for the PF"}},
       .cause = "A policy without `linkType: ib` treats the port as Ethernet and sets a MAC "
                "address. With it, the kernel refuses the GUID: the driver of the distribution is "
                "too old for it or the port is not in InfiniBand mode.",
       .consequence =
           "The node's SriovNetworkNodeState stays in InProgress and offers no functions.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`kubectl get sriovnetworknodepolicies -A -o yaml | grep -E 'linkType|pfNames|isRdma'`; "
           "`linkType: ib` and `isRdma: true` there. On the node: `sudo ip link set dev PF vf 0 "
           "node_guid 02:00:00:00:00:00:00:01`; is refused as well: a newer kernel or DOCA-OFED",
       .fix_for_good = "",
       .sources = {{"https://github.com/k8snetworkplumbingwg/sriov-network-operator/issues/265",
                    Stated::kCause},
                   {"https://github.com/k8snetworkplumbingwg/sriov-network-operator/issues/274",
                    Stated::kSymptom}},
       .explains = {"sriov-vfs-not-created", "sriov-pod"}},
      {.id = "sriov-operator-drain",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The operator waits for the node to be drained, and a pod does not leave",
       .texts = {{"lastSyncError: timed out waiting for the condition"},
                 {"Draining failed with"},
                 {"drainNode(){}{fails}"},
                 {"error when waiting for pod {}terminating"},
                 {"Cannot evict pod as it would violate the pod's disruption budget"}},
       .cause = "Before it changes virtual functions or the driver, the operator moves all pods "
                "off the node. A PodDisruptionBudget, a pod that ends slowly, or a cluster of one "
                "node keeps it from that.",
       .consequence = "The node stays cordoned, and its functions or driver stay as they were.",
       .checks = {},
       .fix_now = "`kubectl get pdb -A`; `kubectl get pods -A -o wide --field-selector "
                  "spec.nodeName=NODE`; end the pod that stays; one node only: `disableDrain: "
                  "true` in the SriovOperatorConfig",
       .fix_for_good = "",
       .sources = {{"https://github.com/k8snetworkplumbingwg/sriov-network-operator/issues/306",
                    Stated::kCause}},
       .explains = {}},
      {.id = "nic-tools-lockdown",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title =
           "Secure Boot keeps the operator from changing the NIC's firmware settings (lockdown)",
       .texts = {{"Mellanox device detected when in lockdown mode"},
                 {"Lockdown mode detected, failing"},
                 general("lockdown && mstconfig"),
                 general("lockdown && mlxconfig"),
                 general("lockdown && mstflint")},
       .cause = "With Secure Boot the kernel forbids what mstconfig does: it writes to the card's "
                "registers. The operator therefore cannot set `SRIOV_EN` and `NUM_OF_VFS`.",
       .consequence = "Policies for NICs of NVIDIA or Mellanox are not carried out.",
       .checks = {"lockdown"},
       .fix_now = "`cat /sys/kernel/security/lockdown`; once with Secure Boot off: `sudo mstconfig "
                  "-d ADDRESS set SRIOV_EN=1 NUM_OF_VFS=16`; a cold boot, Secure Boot on again, "
                  "and `disablePlugins: [mellanox]` in the SriovOperatorConfig",
       .fix_for_good = "",
       .sources = {{"https://github.com/openshift/openshift-docs/pull/85440", Stated::kFix},
                   {"https://github.com/k8snetworkplumbingwg/sriov-network-operator/pull/103",
                    Stated::kCause}},
       .explains = {"sriov-vfs-not-created", "mst-tools"}},
      {.id = "sriov-nic-unsupported",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The SR-IOV operator refuses the policy: it knows no such NIC here, or too few "
                "functions",
       .texts = {{"vendor/device {word} is not supported"},
                 {"no supported NIC is selected by the nicSelector"},
                 {"vendor and device ID is not in supported list"},
                 {"numVfs({number}) in CR {word} exceed"},
                 {"interface not selected && sriovnetworknodepolicy"}},
       .cause = "The nicSelector fits no NIC of the nodes, its model is not in the operator's list "
                "(ConfigMap supported-nic-ids), or `numVfs` is above what the card's firmware "
                "allows (`NUM_OF_VFS`).",
       .consequence = "No virtual function is made.",
       .checks = {"rdma-nics"},
       .fix_now = "`kubectl get configmap supported-nic-ids -A -o yaml`; `lspci -Dnn | grep -i -E "
                  "'mellanox|nvidia.*(connectx|bluefield)'`; `cat "
                  "/sys/class/net/INTERFACE/device/sriov_totalvfs`; then the selector, the list, "
                  "or the firmware's setting",
       .fix_for_good = "",
       .sources = {{"https://github.com/k8snetworkplumbingwg/sriov-network-operator/blob/master/"
                    "doc/supported-hardware.md",
                    Stated::kCause}},
       .explains = {}},
      {.id = "operator-node-labels",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The network or GPU operator deploys nothing: no node has its label for NVIDIA's "
                "devices",
       .texts = {{"Could not get any nodes to match pci-"},
                 {"DriverToolkitEnabledNfdTooOld"},
                 {"No nodes with Mellanox NICs"},
                 {"No nodes with NVIDIA NICs"},
                 general("label && pci-15b3 && not "),
                 general("label && pci-15b3 && missing"),
                 general("pci-15b3.present && not ")},
       .cause =
           "Its pods go to nodes with the label "
           "`feature.node.kubernetes.io/pci-15b3.present=true`, which Node Feature Discovery sets. "
           "NFD does not run on the node (a taint, `nfd.enabled=false`), is the GPU operator's "
           "with another form of label (`pci-0200_15b3`), or the node has no such NIC.",
       .consequence = "Neither driver nor device plugins start on that node.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`kubectl get nodes -L feature.node.kubernetes.io/pci-15b3.present`; `kubectl get pods "
           "-A -o wide | grep -i node-feature`; `lspci -d 15b3:`; then one NFD in the cluster, "
           "with the network operator's rules (`nfd.deployNodeFeatureRules=true`), or `kubectl "
           "label node NODE feature.node.kubernetes.io/pci-15b3.present=true`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/gpu-operator/issues/114", Stated::kCause},
                   {"https://github.com/Mellanox/network-operator/issues/211", Stated::kSymptom}},
       .explains = {"kubernetes-no-device"}},
      {.id = "driver-reload-network",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title =
           "Reloading the RDMA drivers cuts the node's own network, which runs over the same NIC",
       .texts = {general("openibd restart && mlnx"), general("openibd && NotReady"),
                 general("openibd && lost {}connect"), general("doca && NotReady"),
                 general("mofed && NotReady"), general("ofed && node {}unreachable")},
       .cause = "The driver container (or `/etc/init.d/openibd restart`) unloads and loads the "
                "drivers of all NICs of NVIDIA or Mellanox. A node whose management network, bond "
                "or storage is on one of them loses it, and often does not get its addresses back.",
       .consequence = "The node is NotReady until it is rebooted, and then again.",
       .checks = {"rdma-nics"},
       .fix_now = "`ip -br addr`; `ls -l /sys/class/net/*/device/driver`; then no driver container "
                  "on such nodes: DOCA-OFED on the host itself before it joins, or the "
                  "distribution's drivers; leave `ofedDriver` out of the NicClusterPolicy",
       .fix_for_good = "The management network on a NIC of another maker.",
       .sources = {{"https://github.com/Mellanox/network-operator/issues/2176", Stated::kCause}},
       .explains = {"rdma-stack-in-use", "operator-waits"}},
      {.id = "vf-restore",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title =
           "Virtual functions could not be put back as they were after the driver was reloaded",
       .texts = {general("bind VF && {fails}"), general("restore VF && {fails}"),
                 general("set VF && {fails}"), general("VF admin && {fails}"),
                 general("PF admin state && {fails}"), general("VF link && {fails}"),
                 general("rebind VFs && {fails}")},
       .cause = "A reload of the NIC's driver takes its virtual functions away. The driver "
                "container, or the SR-IOV operator, makes them anew and sets address, MTU, state "
                "and driver of each; here one of them had another name or address than before, is "
                "held by a pod or virtual machine, or was not ready yet.",
       .consequence = "Pods that had these functions have lost them, and new ones wait.",
       .checks = {"rdma-nics"},
       .fix_now = "`ip link show dev PF`; `ls -l /sys/bus/pci/devices/ADDRESS/driver`; then "
                  "restart the SR-IOV operator's sriov-network-config-daemon pod on the node, and "
                  "the pods that use functions",
       .fix_for_good = "Drain the node before its driver is changed.",
       .sources = {{"https://github.com/Mellanox/doca-driver-build", Stated::kCause}},
       .explains = {"kubernetes-no-device"}},
      {.id = "operator-waits",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The GPU operator's peer-memory or driver container waits for the RDMA drivers",
       .texts = {{"waiting for mellanox ofed and nvidia drivers to be installed"},
                 {"waiting for mellanox ofed"},
                 {"waiting for mofed to be installed"},
                 {"waiting for MOFED"},
                 {"waiting for OFED drivers to be loaded"},
                 {"mofed driver is not ready"},
                 {"error validating MOFED driver"},
                 {"error validating nvidia-peermem"},
                 {"nvidia-peermem driver is not ready"},
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
