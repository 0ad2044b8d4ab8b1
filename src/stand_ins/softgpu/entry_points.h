// Defines an entry point together with its variant for programs built for per-thread default
// streams, in which the default stream is the calling thread's:
//
//   GDR_CU_SYNC(name, (parameters), (arguments), body)   name, name_ptds: on the default stream
//   GDR_CU_ASYNC(name, (parameters), (arguments), body)  name, name_ptsz: a stream is the last one
//
// Both bodies know their stream as `stream`.
#pragma once

#include <memory>
#include <mutex>

#include "softgpu/copy.h"
#include "softgpu/process.h"

namespace gdr::softgpu {

inline cuda::CUstream legacy_stream() {
  return reinterpret_cast<cuda::CUstream>(cuda::kStreamLegacy);
}
inline cuda::CUstream per_thread_stream() {
  return reinterpret_cast<cuda::CUstream>(cuda::kStreamPerThread);
}
// In programs built for per-thread default streams, stream 0 means the thread's.
inline cuda::CUstream per_thread(cuda::CUstream stream) {
  return stream == nullptr ? per_thread_stream() : stream;
}
inline std::uint64_t number(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// Entry points for a stream of the current context: body(process, stream, guard) runs with
// Process::lock, which it may let go of by the guard.
template <typename Body>
cuda::CUresult with_stream(cuda::CUstream handle, Body&& body) {
  return in_context([&](Process& process, Context& context) -> cuda::CUresult {
    std::unique_lock guard(process.lock);
    const std::shared_ptr<Stream> stream = find_stream(process, context, handle);
    if (stream == nullptr) return cuda::CUDA_ERROR_INVALID_HANDLE;
    return body(process, *stream, guard);
  });
}

}  // namespace gdr::softgpu

#define GDR_UNWRAP(...) __VA_ARGS__
#define GDR_CU_SYNC(name, parameters, arguments, ...)                                          \
  static gdr::cuda::CUresult name##_on(                                                        \
      GDR_UNWRAP parameters, gdr::cuda::CUstream stream){__VA_ARGS__} GDR_CU name parameters { \
    return name##_on(GDR_UNWRAP arguments, legacy_stream());                                   \
  }                                                                                            \
  GDR_CU name##_ptds parameters { return name##_on(GDR_UNWRAP arguments, per_thread_stream()); }
#define GDR_CU_ASYNC(name, parameters, arguments, ...)                                 \
  static gdr::cuda::CUresult name##_on(GDR_UNWRAP parameters,                          \
                                       gdr::cuda::CUstream stream){__VA_ARGS__} GDR_CU \
  name(GDR_UNWRAP parameters, gdr::cuda::CUstream stream) {                            \
    return name##_on(GDR_UNWRAP arguments, stream);                                    \
  }                                                                                    \
  GDR_CU name##_ptsz(GDR_UNWRAP parameters, gdr::cuda::CUstream stream) {              \
    return name##_on(GDR_UNWRAP arguments, per_thread(stream));                        \
  }
