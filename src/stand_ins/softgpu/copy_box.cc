// Copies of rows with a pitch, in two and three dimensions.
#include "softgpu/copy.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

struct Operand {
  Side side = Side::kEither;
  std::uint64_t start = 0;   // of the first row
  std::uint64_t pitch = 0;   // from row to row
  std::uint64_t slice = 0;   // from layer to layer
  std::uint64_t extent = 0;  // from the first byte to behind the last
};

// Sums and products of the caller's numbers, refused where they wrap.
bool multiply_add(std::uint64_t a, std::uint64_t b, std::uint64_t* sum) {
  std::uint64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

CUresult describe(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t pitch,
                  std::size_t height, std::size_t x, std::size_t y, std::size_t z,
                  const CUDA_MEMCPY3D& box, Operand* out) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      out->side = Side::kEither;
      out->start = reinterpret_cast<std::uint64_t>(host);
      break;
    case CU_MEMORYTYPE_DEVICE:
      out->side = Side::kDevice;
      out->start = device;
      break;
    case CU_MEMORYTYPE_UNIFIED:
      out->side = Side::kEither;
      out->start = device;
      break;
    case CU_MEMORYTYPE_ARRAY:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  out->pitch = pitch == 0 ? box.WidthInBytes + x : pitch;
  if (out->pitch < box.WidthInBytes + x) return CUDA_ERROR_INVALID_VALUE;
  if (box.Depth > 1 && height != 0 && height < box.Height + y) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t rows = height == 0 ? box.Height + y : height;
  bool fits = !__builtin_mul_overflow(out->pitch, rows, &out->slice);
  fits =
      fits && multiply_add(out->slice, z, &out->start) && multiply_add(out->pitch, y, &out->start);
  fits = fits && multiply_add(1, x, &out->start);
  out->extent = box.WidthInBytes;
  fits = fits && multiply_add(out->slice, box.Depth - 1, &out->extent);
  fits = fits && multiply_add(out->pitch, box.Height - 1, &out->extent);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult copy_box(const CUDA_MEMCPY3D& box, CUstream stream, Completion completion) {
  return in_context([&](Process& process, Context& context) -> CUresult {
    if (box.WidthInBytes == 0 || box.Height == 0 || box.Depth == 0) return CUDA_SUCCESS;
    if (box.srcLOD != 0 || box.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
    Operand to;
    Operand from;
    if (CUresult r = describe(box.dstMemoryType, box.dstHost, box.dstDevice, box.dstPitch,
                              box.dstHeight, box.dstXInBytes, box.dstY, box.dstZ, box, &to)) {
      return r;
    }
    if (CUresult r = describe(box.srcMemoryType, box.srcHost, box.srcDevice, box.srcPitch,
                              box.srcHeight, box.srcXInBytes, box.srcY, box.srcZ, box, &from)) {
      return r;
    }
    return run_copy(process, context, stream, completion,
                    [&](Process&, const Stream& on, Plan* plan) -> CUresult {
                      const int device = on.context()->device();
                      if (CUresult r = resolve(process, to.start, to.extent, to.side,
                                               Access::kWrite, device, &plan->to)) {
                        return r;
                      }
                      if (CUresult r = resolve(process, from.start, from.extent, from.side,
                                               Access::kRead, device, &plan->from)) {
                        return r;
                      }
                      plan->rows = box.Height * box.Depth;
                      plan->bytes = box.WidthInBytes * plan->rows;
                      for (std::size_t z = 0; z < box.Depth; ++z) {
                        for (std::size_t y = 0; y < box.Height; ++y) {
                          add_moves(plan->to, z * to.slice + y * to.pitch, plan->from,
                                    z * from.slice + y * from.pitch, box.WidthInBytes,
                                    &plan->moves);
                        }
                      }
                      return CUDA_SUCCESS;
                    });
  });
}

}  // namespace gdr::softgpu
