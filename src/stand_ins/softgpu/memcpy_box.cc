// cuMemcpy2D*, cuMemcpy3D*.
#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

CUDA_MEMCPY3D as_box(const CUDA_MEMCPY2D& copy) {
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = copy.srcXInBytes;
  box.srcY = copy.srcY;
  box.srcMemoryType = copy.srcMemoryType;
  box.srcHost = copy.srcHost;
  box.srcDevice = copy.srcDevice;
  box.srcArray = copy.srcArray;
  box.srcPitch = copy.srcPitch;
  box.dstXInBytes = copy.dstXInBytes;
  box.dstY = copy.dstY;
  box.dstMemoryType = copy.dstMemoryType;
  box.dstHost = copy.dstHost;
  box.dstDevice = copy.dstDevice;
  box.dstArray = copy.dstArray;
  box.dstPitch = copy.dstPitch;
  box.WidthInBytes = copy.WidthInBytes;
  box.Height = copy.Height;
  box.Depth = 1;
  return box;
}

CUresult copy_2d(const CUDA_MEMCPY2D* copy, CUstream stream, Completion completion) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(as_box(*copy), stream, completion);
}

CUresult copy_3d(const CUDA_MEMCPY3D* copy, CUstream stream, Completion completion) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(*copy, stream, completion);
}

}  // namespace

GDR_CU_SYNC(cuMemcpy2D_v2, (const CUDA_MEMCPY2D* copy), (copy),
            return copy_2d(copy, stream, Completion::kOnReturn);)
GDR_CU_SYNC(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D* copy), (copy),
            return copy_2d(copy, stream, Completion::kOnReturn);)
GDR_CU_SYNC(cuMemcpy3D_v2, (const CUDA_MEMCPY3D* copy), (copy),
            return copy_3d(copy, stream, Completion::kOnReturn);)
GDR_CU_ASYNC(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D* copy), (copy),
             return copy_2d(copy, stream, Completion::kOnStream);)
GDR_CU_ASYNC(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D* copy), (copy),
             return copy_3d(copy, stream, Completion::kOnStream);)

}  // namespace gdr::softgpu
