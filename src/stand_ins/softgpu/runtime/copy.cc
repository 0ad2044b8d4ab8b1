// cudaMemcpy*, cudaMemset*.
#include "softgpu/runtime/call.h"

namespace gdr::softgpu::runtime {
namespace {

using namespace cuda;

bool legal(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

// With unified addresses the pointers tell the direction, so the given kind only has to be valid.
// Host-to-host copies may use memory that the driver does not know.
cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (!legal(kind)) return keep(cudaErrorInvalidMemcpyDirection);
  return call([&](const Driver& cu) {
    switch (kind) {
      case cudaMemcpyHostToDevice:
        return cu.memcpy_htod(address_of(to), from, bytes);
      case cudaMemcpyDeviceToHost:
        return cu.memcpy_dtoh(to, address_of(from), bytes);
      case cudaMemcpyDeviceToDevice:
        return cu.memcpy_dtod(address_of(to), address_of(from), bytes);
      default:
        return cu.memcpy(address_of(to), address_of(from), bytes);
    }
  });
}

CUresult copy_on(const Driver& cu, void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind, CUstream stream) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return cu.memcpy_htod_async(address_of(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
      return cu.memcpy_dtoh_async(to, address_of(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
      return cu.memcpy_dtod_async(address_of(to), address_of(from), bytes, stream);
    default:
      return cu.memcpy_async(address_of(to), address_of(from), bytes, stream);
  }
}

// For programs built for per-thread default streams: on the thread's stream, and waited for.
cudaError_t copy_on_thread(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (!legal(kind)) return keep(cudaErrorInvalidMemcpyDirection);
  return call([&](const Driver& cu) {
    const CUstream stream = per_thread(nullptr);
    if (CUresult r = copy_on(cu, to, from, bytes, kind, stream)) return r;
    return cu.stream_synchronize(stream);
  });
}

CUDA_MEMCPY2D rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = address_of(from);
  copy.srcPitch = from_pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = address_of(to);
  copy.dstPitch = to_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

// The contexts of a copy between devices are their primary ones.
template <typename Body>
cudaError_t between(int to_device, int from_device, Body&& body) {
  return call([&](const Driver& cu) {
    CUcontext to = nullptr;
    CUcontext from = nullptr;
    if (CUresult r = retain_primary(cu, to_device, &to)) return r;
    if (CUresult r = retain_primary(cu, from_device, &from)) return r;
    return body(cu, to, from);
  });
}

}  // namespace

GDR_RT cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy(to, from, bytes, kind);
}
GDR_RT cudaMemcpy_ptds(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy_on_thread(to, from, bytes, kind);
}
GDR_RT_ASYNC(cudaMemcpyAsync, (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind),
             (to, from, bytes, kind), {
               if (!legal(kind)) return keep(cudaErrorInvalidMemcpyDirection);
               return call(
                   [&](const Driver& cu) { return copy_on(cu, to, from, bytes, kind, stream); });
             })

GDR_RT cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (!legal(kind)) return keep(cudaErrorInvalidMemcpyDirection);
  if (width > to_pitch || width > from_pitch) return keep(cudaErrorInvalidPitchValue);
  return call([&](const Driver& cu) {
    const CUDA_MEMCPY2D plan = rows(to, to_pitch, from, from_pitch, width, height);
    return cu.memcpy_2d(&plan);
  });
}
GDR_RT_ASYNC(cudaMemcpy2DAsync,
             (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
              std::size_t width, std::size_t height, cudaMemcpyKind kind),
             (to, to_pitch, from, from_pitch, width, height, kind), {
               if (!legal(kind)) return keep(cudaErrorInvalidMemcpyDirection);
               if (width > to_pitch || width > from_pitch) return keep(cudaErrorInvalidPitchValue);
               return call([&](const Driver& cu) {
                 const CUDA_MEMCPY2D plan = rows(to, to_pitch, from, from_pitch, width, height);
                 return cu.memcpy_2d_async(&plan, stream);
               });
             })

GDR_RT cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                      std::size_t bytes) {
  return between(
      to_device, from_device, [&](const Driver& cu, CUcontext to_context, CUcontext from_context) {
        return cu.memcpy_peer(address_of(to), to_context, address_of(from), from_context, bytes);
      });
}
GDR_RT_ASYNC(cudaMemcpyPeerAsync,
             (void* to, int to_device, const void* from, int from_device, std::size_t bytes),
             (to, to_device, from, from_device, bytes), {
               return between(to_device, from_device,
                              [&](const Driver& cu, CUcontext to_context, CUcontext from_context) {
                                return cu.memcpy_peer_async(address_of(to), to_context,
                                                            address_of(from), from_context, bytes,
                                                            stream);
                              });
             })

GDR_RT cudaMemset(void* to, int value, std::size_t bytes) {
  return call([&](const Driver& cu) {
    return cu.memset_d8(address_of(to), static_cast<unsigned char>(value), bytes);
  });
}
GDR_RT_ASYNC(cudaMemsetAsync, (void* to, int value, std::size_t bytes), (to, value, bytes), {
  return call([&](const Driver& cu) {
    return cu.memset_d8_async(address_of(to), static_cast<unsigned char>(value), bytes, stream);
  });
})
GDR_RT cudaMemset_ptds(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, per_thread(nullptr));
}
GDR_RT cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return call([&](const Driver& cu) {
    return cu.memset_d2d8(address_of(to), pitch, static_cast<unsigned char>(value), width, height);
  });
}
GDR_RT_ASYNC(cudaMemset2DAsync,
             (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height),
             (to, pitch, value, width, height), {
               return call([&](const Driver& cu) {
                 return cu.memset_d2d8_async(address_of(to), pitch,
                                             static_cast<unsigned char>(value), width, height,
                                             stream);
               });
             })

}  // namespace gdr::softgpu::runtime
