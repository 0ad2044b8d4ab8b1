// cuInit, versions, error texts.
#include "softgpu/process.h"

namespace gdr::softgpu {

using namespace cuda;

GDR_CU cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return guarded([] { return Process::instance().initialise(); });
}

GDR_CU cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

GDR_CU cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (error) {
#define GDR_CUDA_RESULT(name, number, message) \
  case name:                                   \
    *text = #name;                             \
    return CUDA_SUCCESS;
#include "cuda/driver_results.inc"
#undef GDR_CUDA_RESULT
  }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

GDR_CU cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (error) {
#define GDR_CUDA_RESULT(name, number, message) \
  case name:                                   \
    *text = message;                           \
    return CUDA_SUCCESS;
#include "cuda/driver_results.inc"
#undef GDR_CUDA_RESULT
  }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace gdr::softgpu
