#include "softgpu/runtime/call.h"

#include <dlfcn.h>

#include <array>
#include <mutex>
#include <string>

#include "softgpu/device_config.h"

namespace gdr::softgpu::runtime {
namespace {

thread_local cudaError_t kept = cudaSuccess;

std::string beside_this_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&beside_this_library), &info) == 0) return "libcuda.so.1";
  std::string path = info.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "libcuda.so.1" : path.substr(0, slash + 1) + "libcuda.so.1";
}

const cuda::Driver* find_driver() {
  if (const cuda::Driver* present = cuda::Driver::already_loaded()) return present;
  for (const std::string& path : {beside_this_library(), std::string("libcuda.so.1")}) {
    if (Result<const cuda::Driver*> loaded = cuda::Driver::load(path.c_str())) return *loaded;
  }
  return nullptr;
}

// The runtime holds one reference to each primary context that it made.
std::mutex primaries_lock;
std::array<cuda::CUcontext, kMostDevices> primaries{};

}  // namespace

const cuda::Driver* driver() {
  static const cuda::Driver* found = find_driver();
  return found;
}

cudaError_t error_of(CUresult result) {
  switch (static_cast<int>(result)) {
#define GDR_CUDART_ERROR(number, name, text) case number:
#include "softgpu/runtime/errors.inc"
#undef GDR_CUDART_ERROR
    return static_cast<cudaError_t>(result);
    default:
      return cudaErrorUnknown;
  }
}

cudaError_t keep(cudaError_t error) {
  if (error != cudaSuccess) kept = error;
  return error;
}

cudaError_t last_error(bool clear) {
  const cudaError_t error = kept;
  if (clear) kept = cudaSuccess;
  return error;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

CUresult initialise(const cuda::Driver& cu) {
  thread_local bool done = false;
  if (done) return cuda::CUDA_SUCCESS;
  CUresult r = cu.init(0);
  done = r == cuda::CUDA_SUCCESS;
  return r;
}

CUresult retain_primary(const cuda::Driver& cu, int device, cuda::CUcontext* context) {
  int count = 0;
  if (CUresult r = cu.device_get_count(&count)) return r;
  if (device < 0 || device >= count || device >= kMostDevices) {
    return cuda::CUDA_ERROR_INVALID_DEVICE;
  }
  std::lock_guard guard(primaries_lock);
  cuda::CUcontext& held = primaries[static_cast<std::size_t>(device)];
  if (held == nullptr) {
    if (CUresult r = cu.device_primary_ctx_retain(&held, device)) return r;
  }
  *context = held;
  return cuda::CUDA_SUCCESS;
}

void forget_primary(int device) {
  std::lock_guard guard(primaries_lock);
  primaries[static_cast<std::size_t>(device)] = nullptr;
}

CUresult enter_context(const cuda::Driver& cu) {
  if (CUresult r = initialise(cu)) return r;
  cuda::CUcontext context = nullptr;
  if (CUresult r = cu.ctx_get_current(&context)) return r;
  // A context made through the driver API stays in charge; a reset primary one is made anew.
  if (context != nullptr) {
    std::lock_guard guard(primaries_lock);
    for (cuda::CUcontext held : primaries) {
      if (held == context) return cuda::CUDA_SUCCESS;
    }
    cuda::CUdevice device = 0;
    if (cu.ctx_get_device(&device) == cuda::CUDA_SUCCESS) return cuda::CUDA_SUCCESS;
  }
  if (CUresult r = retain_primary(cu, current_device(), &context)) return r;
  return cu.ctx_set_current(context);
}

}  // namespace gdr::softgpu::runtime
