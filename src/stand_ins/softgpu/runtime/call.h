// The frame every runtime function runs in.
//
//   GDR_RT cudaFree(void* address) {
//     return call([&](const cuda::Driver& cu) { return cu.mem_free(address_of(address)); });
//   }
//
// As in the real runtime: the first call of a thread initialises the driver and makes the primary
// context of the thread's device current, unless the thread has a context already; an error is also
// kept for cudaGetLastError.
#pragma once

#include <cstdint>
#include <new>

#include "cuda/driver.h"
#include "softgpu/runtime/abi.h"

#define GDR_RT extern "C" __attribute__((visibility("default"))) gdr::softgpu::runtime::cudaError_t

namespace gdr::softgpu::runtime {

using cuda::CUdeviceptr;
using cuda::CUevent;
using cuda::CUresult;
using cuda::CUstream;

// The driver that is in the process, else the one beside this library; null when there is none.
const cuda::Driver* driver();

cudaError_t error_of(CUresult result);

// Keeps an error for cudaGetLastError, and passes it on.
cudaError_t keep(cudaError_t error);
cudaError_t last_error(bool clear);

// The calling thread's device, and its initialisation.
int& current_device();
CUresult initialise(const cuda::Driver& cu);
CUresult enter_context(const cuda::Driver& cu);
CUresult retain_primary(const cuda::Driver& cu, int device, cuda::CUcontext* context);
void forget_primary(int device);

template <typename Body>
cudaError_t call_with(CUresult (*prepare)(const cuda::Driver&), Body&& body) {
  try {
    const cuda::Driver* cu = driver();
    if (cu == nullptr) return keep(cudaErrorInsufficientDriver);
    if (CUresult r = prepare(*cu)) return keep(error_of(r));
    return keep(error_of(body(*cu)));
  } catch (const std::bad_alloc&) {
    return keep(cudaErrorMemoryAllocation);
  } catch (...) {
    return keep(cudaErrorUnknown);
  }
}

// For functions that need a context.
template <typename Body>
cudaError_t call(Body&& body) {
  return call_with(enter_context, body);
}
// For functions that need the driver only.
template <typename Body>
cudaError_t call_driver(Body&& body) {
  return call_with(initialise, body);
}

inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}
inline CUstream per_thread(CUstream stream) {
  return stream == nullptr ? reinterpret_cast<CUstream>(cuda::kStreamPerThread) : stream;
}

}  // namespace gdr::softgpu::runtime

// A function with a stream as last parameter, and its variant for per-thread default streams.
#define GDR_RT_UNWRAP(...) __VA_ARGS__
#define GDR_RT_ASYNC(name, parameters, arguments, ...)                                        \
  static cudaError_t name##_on(GDR_RT_UNWRAP parameters, CUstream stream){__VA_ARGS__} GDR_RT \
  name(GDR_RT_UNWRAP parameters, CUstream stream) {                                           \
    return name##_on(GDR_RT_UNWRAP arguments, stream);                                        \
  }                                                                                           \
  GDR_RT name##_ptsz(GDR_RT_UNWRAP parameters, CUstream stream) {                             \
    return name##_on(GDR_RT_UNWRAP arguments, per_thread(stream));                            \
  }
// The same where the stream comes first.
#define GDR_RT_STREAM(name, parameters, arguments, ...)                                       \
  static cudaError_t name##_on(CUstream stream, GDR_RT_UNWRAP parameters){__VA_ARGS__} GDR_RT \
  name(CUstream stream, GDR_RT_UNWRAP parameters) {                                           \
    return name##_on(stream, GDR_RT_UNWRAP arguments);                                        \
  }                                                                                           \
  GDR_RT name##_ptsz(CUstream stream, GDR_RT_UNWRAP parameters) {                             \
    return name##_on(per_thread(stream), GDR_RT_UNWRAP arguments);                            \
  }
