// GPUs that are parts of one: MIG instances and vGPUs.
#include "doctor/checks/all.h"
#include "doctor/checks/gpu/each_gpu.h"

namespace gdr::doctor {
namespace gpu_parts_check {

constexpr const char* kExplanation =
    "A MIG instance and a vGPU are parts of a GPU. We found no statement of NVIDIA that GPUDirect "
    "RDMA works on MIG instances; on vGPUs it works with some types and guests only. The check "
    "registration tries whether it works here. NVML reports what each GPU is.";

Finding judge(const NvmlGpu& gpu) {
  const std::string subject = "GPU " + gpu.pci_address;
  const Evidences evidence = {{"nvmlDeviceGetMigMode", on_or_off(gpu.mig)},
                              {"nvmlDeviceGetVirtualizationMode, vGPU", on_or_off(gpu.vgpu)}};
  const std::string consequence =
      "GPUDirect RDMA may not work here; the check registration tries it.";
  if (gpu.vgpu == Tri::kYes) {
    return warn(subject, "it is a vGPU", evidence, consequence,
                {{}, to_do("pass the whole GPU into the virtual machine")});
  }
  if (gpu.mig == Tri::kYes) {
    return warn(subject, "MIG is on", evidence, consequence,
                {to_type(text::Command("sudo nvidia-smi -i {} -mig 0", gpu.pci_address),
                         "while no program uses the GPU"),
                 {}});
  }
  if (gpu.mig == Tri::kUnknown && gpu.vgpu == Tri::kUnknown) {
    return unknown(subject, "NVML reports neither MIG nor vGPU mode", evidence);
  }
  return ok(subject, "a whole GPU", evidence);
}

Findings find(const Host& host) { return of_each_gpu(host, judge); }

}  // namespace gpu_parts_check

const Check kGpuParts{"gpu-parts",
                      Area::kGpu,
                      "Whole GPUs, MIG instances and vGPUs",
                      gpu_parts_check::kExplanation,
                      34,
                      Cost::kProbe,
                      gpu_parts_check::find};

}  // namespace gdr::doctor
