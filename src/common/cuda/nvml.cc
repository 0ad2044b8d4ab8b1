#include "cuda/nvml.h"

#include <dlfcn.h>

#include <cstdio>

namespace gdr::cuda {
namespace {

constexpr int kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kDriverNotLoaded = 9;
constexpr unsigned kMostGpus = 256;
// NVML_NVLINK_MAX_LINKS is 18 in this generation.
constexpr unsigned kMostLinks = 64;
constexpr unsigned kRemoteGpu = 0, kRemoteSwitch = 2;  // nvmlIntNvLinkDeviceType_t

int errno_of(int result) {
  switch (result) {
    case kNotSupported:
      return ENOTSUP;
    case kNoPermission:
      return EPERM;
    case kDriverNotLoaded:
      return ENODEV;
    default:
      return EIO;
  }
}

}  // namespace

std::string pci_address_of(const NvmlPciInformation& information) {
  // A guest sees this at the other end of an NVLink to a switch of its host.
  if (information.domain == ~0u) return {};
  char text[32];
  // NVML knows physical functions only.
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", information.domain, information.bus & 0xff,
                information.device & 0x1f);
  return text;
}

template <typename Function, typename... Arguments>
Result<void> Nvml::call(const char* symbol, Function function, Arguments... arguments) const {
  if (function == nullptr) return Error{ENOSYS, std::string("NVML has no ") + symbol};
  const int result = function(arguments...);
  if (result == kSuccess) return {};
  return Error{errno_of(result), std::string(symbol) + ": error " + std::to_string(result)};
}

Result<Nvml> Nvml::start(const char* path) {
  // Never closed: it keeps threads and file descriptors of its own.
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return Error{ENOENT, std::string("cannot load NVML: ") + (reason != nullptr ? reason : path)};
  }
  Nvml nvml;
#define GDR_NVML_FUNCTION(member, symbol, parameters) \
  nvml.member##_ = reinterpret_cast<decltype(nvml.member##_)>(dlsym(library, #symbol));
#include "cuda/nvml_functions.inc"
#undef GDR_NVML_FUNCTION
  if (Result<void> begun = nvml.call("nvmlInit_v2", nvml.init_); !begun) return begun.error();
  nvml.started_ = true;
  return nvml;
}

Nvml::Nvml(Nvml&& other) noexcept {
#define GDR_NVML_FUNCTION(member, symbol, parameters) member##_ = other.member##_;
#include "cuda/nvml_functions.inc"
#undef GDR_NVML_FUNCTION
  started_ = std::exchange(other.started_, false);
}

Nvml::~Nvml() {
  if (started_ && shutdown_ != nullptr) shutdown_();
}

Result<std::vector<Nvml::Gpu>> Nvml::gpus() const {
  unsigned count = 0;
  if (auto asked = call("nvmlDeviceGetCount_v2", device_count_, &count); !asked) {
    return asked.error();
  }
  std::vector<Gpu> found;
  for (unsigned i = 0; i < count && i < kMostGpus; ++i) {
    Gpu gpu;
    // One that has fallen off the bus is counted, and has no handle.
    if (!call("nvmlDeviceGetHandleByIndex_v2", device_by_index_, i, &gpu.device)) continue;
    NvmlPciInformation information{};
    if (auto asked = call("nvmlDeviceGetPciInfo_v3", pci_information_, gpu.device, &information);
        !asked) {
      return asked.error();
    }
    gpu.pci_address = pci_address_of(information);
    char name[96] = "";
    if (call("nvmlDeviceGetName", name_, gpu.device, name, unsigned{sizeof name})) {
      name[sizeof name - 1] = '\0';
      gpu.name = name;
    }
    found.push_back(std::move(gpu));
  }
  return found;
}

Result<std::string> Nvml::driver_version() const {
  char text[80] = "";
  if (auto asked = call("nvmlSystemGetDriverVersion", driver_version_, text, unsigned{sizeof text});
      !asked) {
    return asked.error();
  }
  text[sizeof text - 1] = '\0';
  return std::string(text);
}

Result<NvmlBar1Memory> Nvml::bar1(NvmlDevice device) const {
  NvmlBar1Memory memory{};
  auto asked = call("nvmlDeviceGetBAR1MemoryInfo", bar1_memory_, device, &memory);
  if (!asked) return asked.error();
  return memory;
}

Result<bool> Nvml::persistence(NvmlDevice device) const {
  int enabled = 0;
  auto asked = call("nvmlDeviceGetPersistenceMode", persistence_mode_, device, &enabled);
  if (!asked) return asked.error();
  return enabled != 0;
}

Result<bool> Nvml::mig(NvmlDevice device) const {
  unsigned now = 0, after_reset = 0;
  auto asked = call("nvmlDeviceGetMigMode", mig_mode_, device, &now, &after_reset);
  if (!asked) return asked.error();
  return now != 0;
}

Result<bool> Nvml::vgpu(NvmlDevice device) const {
  constexpr unsigned kVgpu = 2;  // NVML_GPU_VIRTUALIZATION_MODE_VGPU
  unsigned mode = 0;
  auto asked = call("nvmlDeviceGetVirtualizationMode", virtualization_mode_, device, &mode);
  if (!asked) return asked.error();
  return mode == kVgpu;
}

Result<std::vector<NvLinkEnd>> Nvml::nvlinks(NvmlDevice device) const {
  if (link_state_ == nullptr) return Error{ENOSYS, "NVML has no nvmlDeviceGetNvLinkState"};
  std::vector<NvLinkEnd> ends;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    int active = 0;
    // Beyond the last link the argument is invalid; a GPU without any supports none of this.
    if (link_state_(device, link, &active) != kSuccess || active == 0) continue;
    NvLinkEnd end;
    unsigned type = ~0u;
    if (call("nvmlDeviceGetNvLinkRemoteDeviceType", link_remote_type_, device, link, &type)) {
      if (type == kRemoteGpu) end.kind = NvLinkEnd::Kind::kGpu;
      if (type == kRemoteSwitch) end.kind = NvLinkEnd::Kind::kSwitch;
    }
    NvmlPciInformation information{};
    if (call("nvmlDeviceGetNvLinkRemotePciInfo_v2", link_remote_pci_, device, link, &information)) {
      end.pci_address = pci_address_of(information);
    }
    ends.push_back(std::move(end));
  }
  return ends;
}

}  // namespace gdr::cuda
