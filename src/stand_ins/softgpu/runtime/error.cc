// cudaGetLastError, cudaGetErrorString, versions.
#include "softgpu/identity.h"
#include "softgpu/runtime/call.h"

namespace gdr::softgpu::runtime {

GDR_RT cudaGetLastError() { return last_error(true); }
GDR_RT cudaPeekAtLastError() { return last_error(false); }

extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define GDR_CUDART_ERROR(number, name, text) \
  case name:                                 \
    return #name;
#include "softgpu/runtime/errors.inc"
#undef GDR_CUDART_ERROR
  }
  return "unrecognized error code";
}

extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorString(
    cudaError_t error) {
  switch (error) {
#define GDR_CUDART_ERROR(number, name, text) \
  case name:                                 \
    return text;
#include "softgpu/runtime/errors.inc"
#undef GDR_CUDART_ERROR
  }
  return "unrecognized error code";
}

GDR_RT cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return keep(cudaErrorInvalidValue);
  *version = GDR_CUDART_MAJOR * 1000;
  return cudaSuccess;
}

GDR_RT cudaDriverGetVersion(int* version) {
  if (version == nullptr) return keep(cudaErrorInvalidValue);
  const cuda::Driver* cu = driver();
  *version = 0;  // what the runtime says where there is no driver
  return cu == nullptr ? cudaSuccess : keep(error_of(cu->driver_get_version(version)));
}

}  // namespace gdr::softgpu::runtime
