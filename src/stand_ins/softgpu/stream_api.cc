// cuStream*, cuLaunchHostFunc.
#include <algorithm>

#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

CUresult create(CUstream* out, unsigned flags, int priority) {
  if (out == nullptr || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_context([&](Process& process, Context& context) {
    const auto kind = (flags & CU_STREAM_NON_BLOCKING) != 0 ? Stream::Kind::kNonBlocking
                                                            : Stream::Kind::kBlocking;
    std::lock_guard guard(process.lock);
    *out = handle_of(
        context.add_stream(kind, std::clamp(priority, kGreatestPriority, kLeastPriority)).get());
    return CUDA_SUCCESS;
  });
}

// A query of the legacy stream is one of everything it would wait for.
bool finished(const Stream& stream) {
  return stream.idle() && stream.context()->implicit_order(stream).empty();
}

}  // namespace

GDR_CU cuStreamCreate(CUstream* stream, unsigned flags) { return create(stream, flags, 0); }
GDR_CU cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return create(stream, flags, priority);
}

GDR_CU cuStreamDestroy_v2(CUstream handle) {
  return in_context([&](Process& process, Context& context) -> CUresult {
    std::lock_guard guard(process.lock);
    auto* stream = reinterpret_cast<Stream*>(handle);
    if (context.remove_stream(stream)) return CUDA_SUCCESS;
    for (const auto& [key, other] : process.contexts) {
      if (other->alive() && other->remove_stream(stream)) return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_HANDLE;
  });
}

#define GDR_STREAM(name, parameters, arguments, ...)                                          \
  static CUresult name##_on(CUstream stream, GDR_UNWRAP parameters){__VA_ARGS__} GDR_CU name( \
      CUstream stream, GDR_UNWRAP parameters) {                                               \
    return name##_on(stream, GDR_UNWRAP arguments);                                           \
  }                                                                                           \
  GDR_CU name##_ptsz(CUstream stream, GDR_UNWRAP parameters) {                                \
    return name##_on(per_thread(stream), GDR_UNWRAP arguments);                               \
  }

static CUresult query(CUstream handle) {
  return with_stream(handle, [](Process& process, Stream& stream, auto&) -> CUresult {
    if (CUresult r = process.captures.on_unsafe_call()) return r;
    return finished(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}
GDR_CU cuStreamQuery(CUstream stream) { return query(stream); }
GDR_CU cuStreamQuery_ptsz(CUstream stream) { return query(per_thread(stream)); }

static CUresult synchronize(CUstream handle) {
  return with_stream(handle, [](Process& process, Stream& stream, auto& guard) -> CUresult {
    if (CUresult r = process.captures.on_unsafe_call()) return r;
    std::vector<Mark> marks = stream.context()->implicit_order(stream);
    // A blocking stream is done when its own work is; the legacy one stands for the others, too.
    if (stream.kind() != Stream::Kind::kLegacy) marks.clear();
    marks.push_back(stream.last());
    guard.unlock();
    for (const Mark& mark : marks) mark.wait();
    return CUDA_SUCCESS;
  });
}
GDR_CU cuStreamSynchronize(CUstream stream) { return synchronize(stream); }
GDR_CU cuStreamSynchronize_ptsz(CUstream stream) { return synchronize(per_thread(stream)); }

GDR_STREAM(cuStreamGetPriority, (int* priority), (priority), {
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(stream, [&](Process&, Stream& on, auto&) {
    *priority = on.priority();
    return CUDA_SUCCESS;
  });
})
GDR_STREAM(cuStreamGetFlags, (unsigned* flags), (flags), {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(stream, [&](Process&, Stream& on, auto&) {
    *flags = on.kind() == Stream::Kind::kNonBlocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    return CUDA_SUCCESS;
  });
})
GDR_STREAM(cuStreamGetId, (unsigned long long* id), (id), {
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(stream, [&](Process&, Stream& on, auto&) {
    *id = on.id();
    return CUDA_SUCCESS;
  });
})
GDR_STREAM(cuStreamGetCtx, (CUcontext * context), (context), {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(stream, [&](Process&, Stream& on, auto&) {
    *context = handle_of(on.context());
    return CUDA_SUCCESS;
  });
})
GDR_STREAM(cuStreamGetDevice, (CUdevice * device), (device), {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(stream, [&](Process&, Stream& on, auto&) {
    *device = on.context()->device();
    return CUDA_SUCCESS;
  });
})
GDR_STREAM(cuLaunchHostFunc, (CUhostFn function, void* user_data), (function, user_data), {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(stream, [&](Process& process, Stream& on, auto&) -> CUresult {
    if (CUresult r = process.captures.on_work(on)) return r;
    issue(on, [function, user_data] { function(user_data); });
    return CUDA_SUCCESS;
  });
})
GDR_STREAM(cuStreamAddCallback, (CUstreamCallback callback, void* user_data, unsigned flags),
           (callback, user_data, flags), {
             if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
             return with_stream(stream, [&](Process& process, Stream& on, auto&) -> CUresult {
               if (CUresult r = process.captures.on_work(on)) return r;
               issue(on,
                     [callback, stream, user_data] { callback(stream, CUDA_SUCCESS, user_data); });
               return CUDA_SUCCESS;
             });
           })

}  // namespace gdr::softgpu
