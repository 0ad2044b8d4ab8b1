// cuCtx*, cuDevicePrimaryCtx*.
#include "softgpu/allocation.h"
#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr unsigned kLegalFlags = CU_CTX_FLAGS_MASK;

CUresult create(CUcontext* out, unsigned flags, CUdevice device) {
  if (out == nullptr || (flags & ~kLegalFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_driver_uncaptured([&](Process& process) {
    if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    std::lock_guard guard(process.lock);
    Context* context = process.create_context(device, flags, false);
    context_stack().push_back(context);
    *out = handle_of(context);
    return CUDA_SUCCESS;
  });
}

// Everything the context issued is carried out, then what it owned is freed.
void end(Process& process, std::unique_lock<std::mutex>& guard, Context& context) {
  Process::Leftovers left = process.end_context(context);
  guard.unlock();
  clean_up(process, std::move(left));
}

template <typename Body>
CUresult with_device(CUdevice device, Body&& body) {
  return in_driver([&](Process& process) -> CUresult {
    if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    std::unique_lock guard(process.lock);
    return body(process, process.devices[static_cast<std::size_t>(device)], guard);
  });
}

CUresult release_primary(CUdevice device, bool reset) {
  return with_device(device, [&](Process& process, Device& entry, auto& guard) -> CUresult {
    if (CUresult r = process.captures.on_unsafe_call()) return r;
    Context* primary = entry.primary;
    if (primary == nullptr || !primary->alive()) {
      return reset ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!reset) {
      if (primary->retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
      if (--primary->retained > 0) return CUDA_SUCCESS;
    }
    end(process, guard, *primary);
    return CUDA_SUCCESS;
  });
}

CUresult set_primary_flags(CUdevice device, unsigned flags) {
  if ((flags & ~kLegalFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  return with_device(device, [&](Process& process, Device& entry, auto&) {
    if (entry.primary == nullptr) {
      entry.primary = process.create_context(device, flags, true);
      entry.primary->end();
    }
    entry.primary->set_flags(flags);
    return CUDA_SUCCESS;
  });
}

}  // namespace

GDR_CU cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_device(device, [&](Process& process, Device& entry, auto&) {
    if (entry.primary == nullptr) entry.primary = process.create_context(device, 0, true);
    entry.primary->revive();
    ++entry.primary->retained;
    *out = handle_of(entry.primary);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDevicePrimaryCtxRelease_v2(CUdevice device) { return release_primary(device, false); }
GDR_CU cuDevicePrimaryCtxRelease(CUdevice device) { return release_primary(device, false); }
GDR_CU cuDevicePrimaryCtxReset_v2(CUdevice device) { return release_primary(device, true); }
GDR_CU cuDevicePrimaryCtxReset(CUdevice device) { return release_primary(device, true); }
GDR_CU cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return set_primary_flags(device, flags);
}
GDR_CU cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return set_primary_flags(device, flags);
}

GDR_CU cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_device(device, [&](Process&, Device& entry, auto&) {
    *flags = entry.primary != nullptr ? entry.primary->flags() : 0;
    *active = entry.primary != nullptr && entry.primary->alive() ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxCreate_v2(CUcontext* out, unsigned flags, CUdevice device) {
  return create(out, flags, device);
}
GDR_CU cuCtxCreate_v3(CUcontext* out, void* affinity, int affinities, unsigned flags,
                      CUdevice device) {
  if (affinity != nullptr || affinities != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create(out, flags, device);
}
GDR_CU cuCtxCreate_v4(CUcontext* out, void* parameters, unsigned flags, CUdevice device) {
  if (parameters != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return create(out, flags, device);
}

GDR_CU cuCtxDestroy_v2(CUcontext handle) {
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    std::unique_lock guard(process.lock);
    Context* context = process.find_context(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (context->primary()) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    // Other threads keep it current, and are told that it is destroyed.
    auto& stack = context_stack();
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    end(process, guard, *context);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxPushCurrent_v2(CUcontext handle) {
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    Context* context = process.find_context(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    context_stack().push_back(context);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxPopCurrent_v2(CUcontext* out) {
  return in_driver([&](Process&) -> CUresult {
    auto& stack = context_stack();
    if (stack.empty() || stack.back() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (out != nullptr) *out = handle_of(stack.back());
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxSetCurrent(CUcontext handle) {
  return in_driver([&](Process& process) -> CUresult {
    auto& stack = context_stack();
    if (handle == nullptr) {
      if (!stack.empty()) stack.pop_back();
      return CUDA_SUCCESS;
    }
    std::lock_guard guard(process.lock);
    Context* context = process.find_context(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.empty()) stack.push_back(nullptr);
    stack.back() = context;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxGetCurrent(CUcontext* out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process&) {
    auto& stack = context_stack();
    *out = stack.empty() ? nullptr : handle_of(stack.back());
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxGetDevice(CUdevice* device) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process&, Context& context) {
    *device = context.device();
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxGetFlags(unsigned* flags) {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process&, Context& context) {
    *flags = context.flags();
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxSetFlags(unsigned flags) {
  if ((flags & ~kLegalFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process& process, Context& context) {
    const std::lock_guard guard(process.lock);
    context.set_flags(flags);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxGetId(CUcontext handle, unsigned long long* id) {
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) -> CUresult {
    auto& stack = context_stack();
    if (handle == nullptr && !stack.empty()) handle = handle_of(stack.back());
    std::lock_guard guard(process.lock);
    Context* context = process.find_context(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *id = reinterpret_cast<std::uintptr_t>(context);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    if (handle != nullptr && process.find_context(handle) == nullptr) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    *version = kContextVersion;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxSynchronize() {
  return in_context_uncaptured([&](Process& process, Context& context) {
    std::vector<Mark> marks;
    {
      std::lock_guard guard(process.lock);
      marks = context.outstanding();
    }
    for (const Mark& mark : marks) mark.wait();
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&](Process&, Context&) {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process&, Context&) {
    if (limit == CU_LIMIT_STACK_SIZE || limit == CU_LIMIT_PRINTF_FIFO_SIZE ||
        limit == CU_LIMIT_MALLOC_HEAP_SIZE) {
      *value = 0;  // limits of kernels, of which none run
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  });
}

GDR_CU cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process& process, Context& context) -> CUresult {
    std::lock_guard guard(process.lock);
    Context* other = process.find_context(peer);
    if (other == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (!other->alive()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    // Measured (CUDA 13.0); the manual names other errors.
    if (other->device() == context.device()) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    return context.peers.insert(other).second ? CUDA_SUCCESS
                                              : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  });
}

GDR_CU cuCtxDisablePeerAccess(CUcontext peer) {
  return in_context([&](Process& process, Context& context) -> CUresult {
    std::lock_guard guard(process.lock);
    Context* other = process.find_context(peer);
    if (other == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return context.peers.erase(other) == 1 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}

// Writes of an RDMA NIC go straight into the memory that every reader sees: nothing is to flush.
GDR_CU cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                  CUflushGPUDirectRDMAWritesScope scope) {
  if (target != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX ||
      (scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
       scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_context([](Process&, Context&) {
    // A locked operation, which is a full barrier on every host and known to the thread sanitizer.
    static std::atomic<unsigned> flushes{0};
    flushes.fetch_add(1, std::memory_order_seq_cst);
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
