// Containers and Kubernetes.
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
       .texts = {{"nodes are available: {}nsufficient nvidia.com/"},
                 {"nodes are available: {}nsufficient rdma/"}},
       .cause =
           "The device plugin does not run on the node or found nothing, the container runtime "
           "there is not NVIDIA's, another pod has the devices, or the node has a taint.",
       .consequence = "The pod stays pending.",
       .checks = {"gpus", "rdma-nics"},
       .fix_now = "`kubectl describe node NODE | grep -A8 Allocatable`; `kubectl logs` of the "
                  "device plugin's pod on that node.",
       .fix_for_good = "The GPU operator (`driver.rdma.enabled=true`) and the network operator.",
       .sources = {{"https://github.com/NVIDIA/k8s-device-plugin/issues/33", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/k8s-device-plugin/issues/165", Stated::kSymptom},
                   {"https://github.com/NVIDIA/k8s-device-plugin/issues/159", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain
