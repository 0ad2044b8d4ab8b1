// NICs that a program does not find, cannot open, or finds down.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& rdma_device_symptoms() {
  static const Symptoms table = {
      {.id = "no-rdma-device",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "No InfiniBand or RoCE device is found",
       .texts = {{"Unable to find the Infiniband/RoCE device"},
                 {"NET/IB : No device found."},
                 {"No IB devices found"}},
       .cause = "The NIC's driver is not loaded, the container was not given `/dev/infiniband`, "
                "its rdma-core is too old for the host's kernel, or there is no such NIC.",
       .consequence = "Programs stop or go over TCP.",
       .checks = {"rdma-nics", "devices"},
       .fix_now = "`ibv_devinfo` on the host and in the container; containers: `--device "
                  "/dev/infiniband`, or the RDMA device plugin and its resource in the pod.",
       .fix_for_good = "rdma-core in the image at least as new as the host's.",
       .sources = {{"https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/106",
                    Stated::kCause},
                   {"https://github.com/NVIDIA/nccl/issues/958", Stated::kCauseAndFix},
                   {"https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/169",
                    Stated::kSymptom}},
       .explains = {}},
      {.id = "no-rdma-provider",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "libibverbs has no driver for a NIC that the kernel has",
       .texts = {{"libibverbs: Warning: no userspace device-specific driver found for"},
                 {"libibverbs: Warning: couldn't load driver '{word}'"},
                 {"libibverbs: Warning: couldn't open config directory"}},
       .cause = "The package with the providers is not installed, mostly in a container image, or "
                "is of another release than libibverbs. A second NIC that nobody uses is harmless.",
       .consequence = "The NIC is not seen by any RDMA program here.",
       .checks = {"rdma-nics"},
       .fix_now = "`sudo apt-get install ibverbs-providers`",
       .fix_for_good = "Install it in the image, from the same source as libibverbs (distribution "
                       "or DOCA-OFED, not mixed).",
       .sources = {{"https://github.com/ofiwg/libfabric/issues/975", Stated::kCause},
                   {"https://github.com/SoftRoCE/rxe-dev/issues/65", Stated::kCauseAndFix},
                   {"https://github.com/nminoru/pib/issues/2", Stated::kSymptom}},
       .explains = {"no-rdma-device"}},
      {.id = "rdma-device-closed",
       .program = Program::kContainers,
       .certainty = Certainty::kLikely,
       .title = "The RDMA device is there and cannot be opened",
       .texts = {{"NET/IB : Unable to open device {word}"},
                 {"Call to ibv_open_device failed"},
                 {"Failed to open device{end}"}},
       .cause = "The container sees the NIC in /sys but was not given its "
                "`/dev/infiniband/uverbsN`, or the user may not open it.",
       .consequence = "NCCL goes over TCP sockets, or uses the NICs that are left.",
       .checks = {"devices"},
       .fix_now = "`ls -l /dev/infiniband`; `docker run --device /dev/infiniband --cap-add "
                  "IPC_LOCK --ulimit memlock=-1`",
       .fix_for_good = "In Kubernetes the RDMA device plugin's resource in the pod.",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/2428", Stated::kCause},
                   {"https://github.com/NVIDIA/nccl/issues/451", Stated::kSymptom},
                   {"https://github.com/hustcat/k8s-rdma-device-plugin/issues/8",
                    Stated::kSymptom}},
       .explains = {"no-rdma-device"}},
      {.id = "port-not-active",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "The NIC's port is not active",
       .texts = {{"Port number {number} state is Down"},
                 {"Port number {number} state is Init"},
                 {"Port number {number} state is Armed"}},
       .cause = "Down: no cable, the other end is off, or the interface is not up. Init or Armed: "
                "the InfiniBand fabric has no subnet manager.",
       .consequence = "perftest stops, or the other port of the NIC was meant.",
       .checks = {"port-state"},
       .fix_now = "`ip link set dev INTERFACE up`, or another NIC (`-d`) or port (`-i`); "
                  "InfiniBand: `sminfo`, and `opensm` on one host or the switch.",
       .fix_for_good = "",
       .sources = {{"https://github.com/lsgunth/perftest/issues/1", Stated::kSymptom},
                   {"https://github.com/linux-rdma/perftest/blob/master/src/perftest_parameters.c",
                    Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
