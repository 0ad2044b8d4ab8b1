#include "doctor/probe/nvml_facts.h"

#include "cuda/nvml.h"

namespace gdr::doctor {
namespace {

Tri tri(const Result<bool>& asked) {
  if (!asked) return Tri::kUnknown;
  return *asked ? Tri::kYes : Tri::kNo;
}

}  // namespace

NvmlFacts ask_nvml(const char* library) {
  NvmlFacts facts;
  Result<cuda::Nvml> nvml = cuda::Nvml::start(library);
  if (!nvml) {
    facts.problem = nvml.error().message;
    return facts;
  }
  if (Result<std::string> version = nvml->driver_version()) facts.driver_version = *version;
  Result<std::vector<cuda::Nvml::Gpu>> gpus = nvml->gpus();
  if (!gpus) {
    facts.problem = gpus.error().message;
    return facts;
  }
  for (const cuda::Nvml::Gpu& gpu : *gpus) {
    NvmlGpu told{.name = gpu.name, .pci_address = gpu.pci_address};
    if (Result<cuda::NvmlBar1Memory> bar1 = nvml->bar1(gpu.device)) {
      told.bar1_total = bar1->total;
      told.bar1_free = bar1->free;
    }
    told.persistence = tri(nvml->persistence(gpu.device));
    told.mig = tri(nvml->mig(gpu.device));
    told.vgpu = tri(nvml->vgpu(gpu.device));
    facts.gpus.push_back(std::move(told));
  }
  return facts;
}

}  // namespace gdr::doctor
