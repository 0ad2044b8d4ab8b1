#include "participants/gpu.h"

#include <ctype.h>

namespace gdr::participants {
namespace {

Error failed(const cuda::Driver& driver, const char* call, cuda::CUresult result) {
  return {EIO, std::string(call) + ": " + driver.describe(result)};
}

}  // namespace

Result<Gpu> open_gpu(const std::string& library, int ordinal) {
  Result<const cuda::Driver*> driver = cuda::Driver::load(library.c_str());
  if (!driver) return driver.error();
  const cuda::Driver& cuda = **driver;
  Gpu gpu;
  if (auto result = cuda.init(0)) return failed(cuda, "cuInit", result);
  if (auto result = cuda.device_get(&gpu.device, ordinal)) {
    return failed(cuda, "cuDeviceGet", result);
  }
  if (auto result = cuda.device_primary_ctx_retain(&gpu.context, gpu.device)) {
    return failed(cuda, "cuDevicePrimaryCtxRetain", result);
  }
  gpu.driver = *driver;
  if (Result<void> current = make_current(gpu); !current) return current.error();
  return gpu;
}

Result<void> make_current(const Gpu& gpu) {
  if (!gpu.driver) return {};
  if (auto result = gpu.driver->ctx_set_current(gpu.context)) {
    return failed(*gpu.driver, "cuCtxSetCurrent", result);
  }
  return {};
}

std::string pci_address_of(const cuda::Driver& driver, cuda::CUdevice device) {
  char text[64] = "";
  if (driver.device_get_pci_bus_id(text, sizeof text, device)) return {};
  for (char& c : text) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace gdr::participants
