// cuMemcpy* of one stretch of bytes.
#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr Side kDevice = Side::kDevice;
constexpr Side kEither = Side::kEither;
constexpr Completion kOnReturn = Completion::kOnReturn;
constexpr Completion kOnStream = Completion::kOnStream;

// With unified addresses the pointers say everything; the contexts only have to exist.
CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                   std::size_t bytes, CUstream stream, Completion completion) {
  CUresult known = in_driver([&](Process& process) {
    std::lock_guard guard(process.lock);
    for (CUcontext handle : {to_context, from_context}) {
      Context* context = process.find_context(handle);
      if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
      if (!context->alive()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    return CUDA_SUCCESS;
  });
  if (known != CUDA_SUCCESS) return known;
  return copy_bytes(to, kDevice, from, kDevice, bytes, stream, completion);
}

}  // namespace

GDR_CU_SYNC(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), (to, from, bytes),
            return copy_bytes(to, kEither, from, kEither, bytes, stream, kOnReturn);)
GDR_CU_SYNC(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, std::size_t bytes),
            (to, from, bytes),
            return copy_bytes(to, kDevice, number(from), kEither, bytes, stream, kOnReturn);)
GDR_CU_SYNC(cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, std::size_t bytes), (to, from, bytes),
            return copy_bytes(number(to), kEither, from, kDevice, bytes, stream, kOnReturn);)
GDR_CU_SYNC(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes),
            (to, from, bytes),
            return copy_bytes(to, kDevice, from, kDevice, bytes, stream, kOnReturn);)
GDR_CU_SYNC(cuMemcpyPeer,
            (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
             std::size_t bytes),
            (to, to_context, from, from_context, bytes),
            return copy_peer(to, to_context, from, from_context, bytes, stream, kOnReturn);)

GDR_CU_ASYNC(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes),
             (to, from, bytes),
             return copy_bytes(to, kEither, from, kEither, bytes, stream, kOnStream);)
GDR_CU_ASYNC(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, std::size_t bytes),
             (to, from, bytes),
             return copy_bytes(to, kDevice, number(from), kEither, bytes, stream, kOnStream);)
GDR_CU_ASYNC(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, std::size_t bytes),
             (to, from, bytes),
             return copy_bytes(number(to), kEither, from, kDevice, bytes, stream, kOnStream);)
GDR_CU_ASYNC(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes),
             (to, from, bytes),
             return copy_bytes(to, kDevice, from, kDevice, bytes, stream, kOnStream);)
GDR_CU_ASYNC(cuMemcpyPeerAsync,
             (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
              std::size_t bytes),
             (to, to_context, from, from_context, bytes),
             return copy_peer(to, to_context, from, from_context, bytes, stream, kOnStream);)

// CUDA 13.0. The copies are unordered among themselves, so any order serves.
GDR_CU_ASYNC(cuMemcpyBatchAsync_v2,
             (CUdeviceptr * to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
              CUmemcpyAttributes* attributes, std::size_t* starts, std::size_t attribute_count),
             (to, from, bytes, count, attributes, starts, attribute_count), {
               // The interface refuses the default streams here.
               if (stream == nullptr || stream == legacy_stream() ||
                   stream == per_thread_stream()) {
                 return CUDA_ERROR_INVALID_VALUE;
               }
               if (to == nullptr || from == nullptr || bytes == nullptr || attributes == nullptr ||
                   starts == nullptr || attribute_count == 0 || count == 0 ||
                   attribute_count > count || starts[0] != 0) {
                 return CUDA_ERROR_INVALID_VALUE;
               }
               std::size_t group = 0;  // of copies with the same attributes
               for (std::size_t i = 0; i < count; ++i) {
                 if (group + 1 < attribute_count && starts[group + 1] == i) ++group;
                 const bool wish =
                     (attributes[group].flags & CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE) != 0;
                 if (CUresult r =
                         copy_bytes(to[i], kEither, from[i], kEither, bytes[i], stream, kOnStream,
                                    wish ? Engine::kCopyEngine : Engine::kAny)) {
                   return r;
                 }
               }
               return CUDA_SUCCESS;
             })

}  // namespace gdr::softgpu
