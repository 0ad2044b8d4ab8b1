// RDMA devices, libraries and modules that the host has and a container or pod does not see.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& visibility_symptoms() {
  static const Symptoms table = {
      {.id = "container-some-devices",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title =
           "The container has the device files of some NICs only, and sees all of them in /sys",
       .texts = {general("rdma_get_devices && {ENODEV}"),
                 general("rdma_get_devices && {fails} && container"),
                 general("sees all && infiniband && container"),
                 general("only {}uverbs && container && /sys/class/infiniband")},
       .cause = "`/sys/class/infiniband` shows every NIC of the host in every container; "
                "`/dev/infiniband` has the files of those that were given to it. librdmacm before "
                "rdma-core 38 gives up at the first NIC that it cannot open, others leave it out "
                "with a warning.",
       .consequence = "Programs with rdma_cm find no device at all.",
       .checks = {"devices"},
       .fix_now = "`ls /sys/class/infiniband /dev/infiniband`; then all files in the container "
                  "(`--device /dev/infiniband`), or rdma-core 38 or later in the image; with "
                  "`NCCL_IB_HCA` or `UCX_NET_DEVICES` the NICs that it was given",
       .fix_for_good = "The host's RDMA subsystem in exclusive mode (`rdma system set netns "
                       "exclusive`), and the RDMA CNI: a container then sees its own NICs only.",
       .sources = {{"https://github.com/linux-rdma/rdma-core/pull/1060", Stated::kCauseAndFix}},
       .explains = {"rdma-cm", "no-rdma-device"}},
      {.id = "container-sees-no-nic",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The host has RDMA NICs, and the container sees none",
       .texts = {general("inside {}container && {rdma-tool} && {nothing}"),
                 general("in {}container && {rdma-tool} && {nothing}"),
                 general("inside {}pod && {rdma-tool} && {nothing}"),
                 general("in the pod && {rdma-tool} && {nothing}"),
                 general("in a pod && {rdma-tool} && {nothing}"),
                 general("inside {}docker && {rdma-tool} && {nothing}"),
                 general("inside {}container && {nic-files} && {nothing}"),
                 general("in {}container && {nic-files} && {nothing}"),
                 general("inside {}pod && {nic-files} && {nothing}"),
                 general("in the pod && {nic-files} && {nothing}"),
                 general("in a pod && {nic-files} && {nothing}"),
                 general("{nic-files} && not mounted in && container"),
                 general("{nic-files} && were not mounted && container"),
                 general("rootless && infiniband && {fails}"),
                 general("rootless && ibv_{word} && {fails}"),
                 general("rootless && ibv_{word} && fails")},
       .cause =
           "A container gets no device files by itself: `/dev/infiniband` was not given to it "
           "(Docker `--device`, the pod's RDMA resource, enroot's `MELLANOX_VISIBLE_DEVICES`), or "
           "its image lacks the NIC's library (`ibverbs-providers`) and the tools. A folder that "
           "is only mounted (`-v`) can be seen and not be opened.",
       .consequence = "NCCL, UCX and others go over TCP.",
       .checks = {"devices", "rdma-nics"},
       .fix_now =
           "`ls -l /dev/infiniband /sys/class/infiniband`; in the container; nothing in /dev: "
           "`docker run --device /dev/infiniband --cap-add IPC_LOCK --ulimit memlock=-1 --network "
           "host IMAGE`; pyxis: `export MELLANOX_VISIBLE_DEVICES=all`; rootless podman: `--device` "
           "for each file and `--group-add keep-groups`; files there: `apt-get install "
           "ibverbs-providers ibverbs-utils` in the image",
       .fix_for_good =
           "In Kubernetes the RDMA device plugin, and its resource in the pod's limits.",
       .sources = {{"https://github.com/microsoft/pai/pull/2657", Stated::kFix},
                   {"https://github.com/eth-cscs/sarus/issues/28", Stated::kFix},
                   {"https://github.com/MrBr-github/lshca/issues/83", Stated::kCause}},
       .explains = {"no-rdma-device", "tool-absent", "verbs-call", "rdma-device-closed"}},
      {.id = "plugin-pci-ids",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "The device plugin finds no pci.ids file and stops",
       .texts = {{"/usr/share/misc/pci.ids: no such file"},
                 {"/usr/share/hwdata/pci.ids: no such file"},
                 {"No pci-ids files found"},
                 {"pci.ids && {fails} && plugin"},
                 {"pci.ids && CrashLoopBackOff"},
                 {"error getting PCI info: && pci.ids"}},
       .cause = "The plugin reads the names of PCI devices from `pci.ids`, mounted from the node "
                "(`/usr/share/misc` or `/usr/share/hwdata`). The node does not have the file, or "
                "the DaemonSet mounts the other place; without it the plugin would fetch it from "
                "the network.",
       .consequence = "The RDMA plugin's pod is in CrashLoopBackOff, and the resource is missing.",
       .checks = {},
       .fix_now = "`sudo apt-get install pci.ids` on the nodes (RHEL: `sudo dnf install hwdata`); "
                  "then a hostPath volume of that file at `/usr/share/misc/pci.ids` in the "
                  "DaemonSet",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/151",
                    Stated::kCauseAndFix}},
       .explains = {"rdma-plugin-config", "kubernetes-no-device"}},
      {.id = "pod-host-network-devices",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "A pod on the host's network cannot be given a NIC of its own (DRA)",
       .texts = {{"using host network can not claim host devices"}},
       .cause = "DRANET moves the NIC into the pod's network namespace; with `hostNetwork: true` "
                "the pod has none, and uses the host's NICs anyway.",
       .consequence = "The pod does not start.",
       .checks = {},
       .fix_now = "Take either `hostNetwork: true` or the ResourceClaim out of the pod.",
       .fix_for_good = "",
       .sources = {{"https://github.com/google/dranet", Stated::kCause}},
       .explains = {"dra-device"}},
      {.id = "peermem-not-at-boot",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "The peer-memory module is installed and not loaded after a reboot",
       .texts = {general("{peermem} && reboot && lsmod"),
                 general("reboot && load {peermem} && again"),
                 general("{peermem} && after {}reboot && not loaded"),
                 general("{peermem} && disappear && reboot"),
                 general("{peermem} && dissapear && reboot"),
                 general("{peermem} && not {}automatically && load"),
                 general("{peermem} && does not load && boot")},
       .cause = "Nothing loads it by itself: it depends on the GPU's driver and the RDMA stack, "
                "and no device asks for it. `nvidia-peermem` is not started by the driver's "
                "package, and the service of the old `nv_peer_mem` is gone with it.",
       .consequence = "After each boot no GPUDirect RDMA until somebody loads it.",
       .checks = {"peer-memory", "peer-memory-loading"},
       .fix_now = "`sudo modprobe nvidia-peermem`; `lsmod | grep peermem`",
       .fix_for_good =
           "`sudo gdr fix peer-memory --persist --apply`; or `echo nvidia-peermem | sudo "
           "tee /etc/modules-load.d/nvidia-peermem.conf`",
       .sources = {{"https://github.com/Mellanox/nv_peer_memory/issues/46", Stated::kCauseAndFix}},
       .explains = {"peermem-not-loaded"}},
      {.id = "doca-build",
       .program = Program::kTransfer,
       .certainty = Certainty::kCertain,
       .title = "A program cannot be built: DOCA's headers are missing or of another release",
       .texts = {{"doca_{word}.h: No such file"},
                 {"doca_{word}.h' file not found"},
                 {"'struct doca_{word}' has no member"},
                 {"'doca_{word}' was not declared"},
                 {"'DOCA_{word}' was not declared"},
                 {"'doca_{word}' undeclared"},
                 {"'DOCA_{word}' undeclared"},
                 {"implicit declaration of function 'doca_"},
                 {"unknown type name 'doca_"},
                 {"undefined reference to 'doca_"},
                 {"doca_gpunetio_{word}.h', needed by"},
                 {"doca-gpunetio dependency not found"},
                 {"No package 'doca-"},
                 {"Package doca-{word} was not found"},
                 {"Dependency 'doca-{word}' not found"},
                 general("cannot find -ldoca"),
                 {"Failed to update GPUNetIO submodule"}},
       .cause = "DOCA's interface changes between its releases (2.8, 2.10, 3.0, 3.2): the program "
                "was written for another one than is installed, or only DOCA-OFED is (drivers, no "
                "SDK). UCX 1.23 and later take GPUNetIO's headers from a git submodule, which was "
                "not fetched.",
       .consequence = "The program, or its part that uses GPUNetIO, is not built.",
       .checks = {},
       .fix_now =
           "`pkg-config --modversion doca-common doca-gpunetio`; `dpkg -l | grep doca-sdk`; "
           "then the release that the program names (`sudo apt-get install doca-sdk-gpunetio "
           "libdoca-sdk-gpunetio-dev`); UCX: `git submodule update --init --recursive` and "
           "`./autogen.sh` again, or `--without-gda`",
       .fix_for_good = "",
       .sources = {{"https://github.com/ai-dynamo/nixl/pull/2147", Stated::kCauseAndFix},
                   {"https://github.com/nvidia-holoscan/holohub/pull/1118", Stated::kCauseAndFix}},
       .explains = {"transport-build", "ibgda-refused"}},
  };
  return table;
}

}  // namespace gdr::explain
