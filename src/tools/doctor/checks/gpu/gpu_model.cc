// G3 for machines whose driver cannot be asked: what the GPUs' names say.
#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace {

constexpr const char* kExplanation =
    "NVIDIA's driver has GPUDirect RDMA for data-centre and professional GPUs; to GeForce boards "
    "it "
    "denies it, and nothing sets that right. Sources: docs.nvidia.com/cuda/gpudirect-rdma "
    "('GPUDirect RDMA is available on both Tesla and Quadro GPUs'), "
    "github.com/openucx/ucx/issues/8049. On this machine the driver itself is asked: see "
    "gpu-capability.";

Findings find(const Host& host) {
  if (host.inventory.gpus.empty()) return no_gpu();
  if (host.probes != nullptr) return does_not_apply("the driver is asked");
  Gathered gathered("GPUs");
  for (const host::Gpu& gpu : host.inventory.gpus) {
    const std::string subject = "GPU " + gpu.pci_address;
    if (gpu.model.empty()) {
      gathered.add(unknown(subject, "its model is not shown", {{subject, "no name"}},
                           to_type("lspci -nn -d 10de:")),
                   gpu.pci_address);
    } else if (gpu.model.find("GeForce") != std::string::npos) {
      gathered.add(fail(subject, gpu.model + ": NVIDIA's driver denies GPUDirect RDMA to GeForce",
                        {{subject, gpu.model}}, "No way of registering its memory can work.",
                        {{}, to_do("a data-centre or professional GPU is needed")}),
                   gpu.pci_address);
    } else {
      gathered.add(ok(subject, "no GeForce", {{subject, gpu.model}}), gpu.pci_address);
    }
  }
  return gathered.take();
}

}  // namespace

const Check kGpuModel{"gpu-model",  Area::kGpu, "GPUs to which the driver denies GPUDirect RDMA",
                      kExplanation, 16,         Cost::kPassive,
                      find};

}  // namespace gdr::doctor
