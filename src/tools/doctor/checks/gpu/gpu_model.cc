// What the GPUs' names say, for machines whose driver cannot be asked.
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace gpu_model_check {

constexpr const char* kExplanation =
    "NVIDIA's driver supports GPUDirect RDMA on data-centre and professional GPUs. It denies it to "
    "GeForce boards, and nothing changes that. Sources: docs.nvidia.com/cuda/gpudirect-rdma "
    "('GPUDirect RDMA is available on both Tesla and Quadro GPUs'), "
    "github.com/openucx/ucx/issues/8049. On a live machine the driver itself is asked: see "
    "gpu-capability.";

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  if (host.probes != nullptr) return does_not_apply("the driver is asked");
  Gathered gathered("GPUs");
  for (const host::Gpu& gpu : host.inventory.gpus) {
    const std::string subject = "GPU " + gpu.pci_address;
    if (gpu.model.empty()) {
      gathered.add(unknown(subject, "cannot see its model", {{subject, "no name"}},
                           to_type("lspci -nn -d 10de:")),
                   gpu.pci_address);
    } else if (gpu.model.find("GeForce") != std::string::npos) {
      gathered.add(fail(subject, gpu.model + ": NVIDIA's driver denies GPUDirect RDMA to GeForce",
                        {{subject, gpu.model}}, "Its memory cannot be registered in any way.",
                        {{}, to_do("use a data-centre or professional GPU")}),
                   gpu.pci_address);
    } else {
      gathered.add(ok(subject, "no GeForce", {{subject, gpu.model}}), gpu.pci_address);
    }
  }
  return gathered.take();
}

}  // namespace gpu_model_check

const Check kGpuModel{"gpu-model",
                      Area::kGpu,
                      "GPUs to which the driver denies GPUDirect RDMA",
                      gpu_model_check::kExplanation,
                      16,
                      Cost::kPassive,
                      gpu_model_check::find};

}  // namespace gdr::doctor
