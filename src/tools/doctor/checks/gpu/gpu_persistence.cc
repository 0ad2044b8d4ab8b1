// A GPU that shuts down between programs starts slowly.
#include "doctor/checks/all.h"
#include "doctor/checks/gpu/each_gpu.h"

namespace gdr::doctor {
namespace gpu_persistence_check {

constexpr const char* kExplanation =
    "Without persistence the driver shuts a GPU down when its last user ends and starts it again "
    "for the next one: each program waits for seconds, and settings are lost. NVML reports which "
    "GPUs have it. NVIDIA recommends the daemon nvidia-persistenced instead of nvidia-smi -pm.";

Finding judge(const NvmlGpu& gpu) {
  const std::string subject = "GPU " + gpu.pci_address;
  const Evidence evidence{"nvmlDeviceGetPersistenceMode", on_or_off(gpu.persistence)};
  if (gpu.persistence == Tri::kUnknown) {
    return unknown(subject, "NVML does not report the persistence mode", {evidence});
  }
  if (gpu.persistence == Tri::kYes) return ok(subject, "persistence is on", {evidence});
  return warn(
      subject, "persistence is off", {evidence},
      "The first program waits for seconds until the GPU has started.",
      {by_gdr_fix("persistence", text::Command("sudo nvidia-smi -pm 1")),
       by_gdr_fix_for_good("persistence",
                           text::Command("sudo systemctl enable --now nvidia-persistenced"))});
}

Findings find(const Host& host) { return of_each_gpu(host, judge); }

}  // namespace gpu_persistence_check

const Check kGpuPersistence{"gpu-persistence",
                            Area::kGpu,
                            "GPUs stay started between programs",
                            gpu_persistence_check::kExplanation,
                            80,
                            Cost::kProbe,
                            gpu_persistence_check::find};

}  // namespace gdr::doctor
