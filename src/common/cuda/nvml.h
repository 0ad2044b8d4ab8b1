// Nvml: NVIDIA's management library, loaded at run time and never linked: what only the driver
// knows of a GPU. Starting it may take seconds where no persistence daemon runs, so only who needs
// it does.
//
//   Result<cuda::Nvml> nvml = cuda::Nvml::start();
//   if (!nvml) return nvml.error();
//   for (const cuda::Nvml::Gpu& gpu : *nvml->gpus()) {
//     if (Result<cuda::NvmlBar1Memory> bar1 = nvml->bar1(gpu.device)) use(bar1->total);
//   }
//
// Returns an Error for what this driver cannot tell: ENOSYS if the library lacks the function,
// ENOTSUP if the GPU lacks the feature.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace gdr::cuda {

using NvmlDevice = void*;

// nvmlPciInfo_t of version 3, and of nvmlDeviceGetNvLinkRemotePciInfo_v2.
struct NvmlPciInformation {
  char legacy_address[16];
  unsigned domain, bus, device;
  unsigned pci_device, pci_subsystem;
  char address[32];  // "00000000:3B:00.0"
};
static_assert(sizeof(NvmlPciInformation) == 68 && offsetof(NvmlPciInformation, domain) == 16 &&
              offsetof(NvmlPciInformation, address) == 36);

// nvmlBAR1Memory_t; bytes.
struct NvmlBar1Memory {
  unsigned long long total, free, used;
};

// What is at the other end of an NVLink.
struct NvLinkEnd {
  enum class Kind { kGpu, kSwitch, kOther };
  Kind kind = Kind::kOther;
  std::string pci_address;  // empty: not told, as of switches that a guest does not see
};

class Nvml {
 public:
  static Result<Nvml> start(const char* path = "libnvidia-ml.so.1");
  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&&) = delete;
  ~Nvml();

  struct Gpu {
    NvmlDevice device = nullptr;
    std::string pci_address;  // as sysfs writes it, "0000:3b:00.0"
    std::string name;         // "NVIDIA H200"
  };
  Result<std::vector<Gpu>> gpus() const;
  Result<std::string> driver_version() const;

  Result<NvmlBar1Memory> bar1(NvmlDevice device) const;
  Result<bool> persistence(NvmlDevice device) const;
  Result<bool> mig(NvmlDevice device) const;
  // It is a part of a GPU, made by vGPU software: nvmlDeviceGetVirtualizationMode says VGPU.
  Result<bool> vgpu(NvmlDevice device) const;
  // The other ends of those of its NVLinks that are up.
  Result<std::vector<NvLinkEnd>> nvlinks(NvmlDevice device) const;

 private:
  Nvml() = default;
  template <typename Function, typename... Arguments>
  Result<void> call(const char* symbol, Function function, Arguments... arguments) const;

#define GDR_NVML_FUNCTION(member, symbol, parameters) int(*member##_) parameters = nullptr;
#include "cuda/nvml_functions.inc"
#undef GDR_NVML_FUNCTION
  bool started_ = false;
};

// "00000000:3B:00.0" as sysfs writes it, "0000:3b:00.0"; empty where there is none.
std::string pci_address_of(const NvmlPciInformation& information);

}  // namespace gdr::cuda
