// The rest of the driver's interface: kernels, modules, graphs, arrays, textures, graphics.
// Present, so that programs which name these functions load, and answered with
// CUDA_ERROR_NOT_SUPPORTED. Arguments are not looked at, hence one signature serves all.
#include "softgpu/process.h"

namespace gdr::softgpu {

#define GDR_CU_UNSUPPORTED(name) \
  GDR_CU name() { return gdr::cuda::CUDA_ERROR_NOT_SUPPORTED; }
#include "softgpu/unsupported.inc"
#undef GDR_CU_UNSUPPORTED

}  // namespace gdr::softgpu
