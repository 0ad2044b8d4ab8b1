// cuIpc*MemHandle: memory of cuMemAlloc in another process.
#include <unistd.h>

#include <cstring>

#include "softgpu/allocation.h"
#include "softgpu/shared_handle.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

CUresult open(CUdeviceptr* address, const CUipcMemHandle& bytes, unsigned flags) {
  // The flag is not a choice: the interface has no other way.
  if (address == nullptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_context_uncaptured([&](Process& process, Context& context) -> CUresult {
    SharedHandle handle;
    if (CUresult r = read_shared_handle(&bytes, SharedKind::kIpcMemory, &handle)) return r;
    // As in CUDA, a process cannot open its own exports.
    if (handle.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
    {
      std::lock_guard guard(process.lock);
      if (auto range = process.ranges.opened(handle.identity, handle.inode, context)) {
        if (range->backing->ledger(range->offset) != handle.identity) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        ++range->opened;
        *address = range->base;
        return CUDA_SUCCESS;
      }
    }
    std::shared_ptr<Range> range;
    if (CUresult r = open_shared_handle(process, &context, handle, &range)) return r;
    std::lock_guard guard(process.lock);
    // "CUipcMemHandles from each CUdevice in a given process may only be opened by one CUcontext
    // per CUdevice per other process" (cuIpcOpenMemHandle). The manual names no error for it;
    // programs have seen this one.
    if (process.ranges.another_context_opened(*range)) {
      process.ranges.erase(process.ranges.find(range->base));
      dispose(process, *range);
      return CUDA_ERROR_INVALID_HANDLE;
    }
    *address = range->base;
    return CUDA_SUCCESS;
  });
}

}  // namespace

GDR_CU cuIpcGetMemHandle(CUipcMemHandle* out, CUdeviceptr address) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context_uncaptured([&](Process& process, Context&) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(address);
    if (range == nullptr || range->kind != Range::Kind::kAllocated) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const SharedHandle handle = make_shared_handle(*range, SharedKind::kIpcMemory, 0);
    std::memcpy(out->reserved, &handle, sizeof handle);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return open(address, handle, flags);
}
GDR_CU cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return open(address, handle, flags);
}

GDR_CU cuIpcCloseMemHandle(CUdeviceptr address) {
  return in_context_uncaptured([&](Process& process, Context& context) -> CUresult {
    Process::Leftovers left;
    {
      std::lock_guard guard(process.lock);
      auto found = process.ranges.find(address);
      if (found == process.ranges.end() || found->second->kind != Range::Kind::kImported ||
          found->second->pool != nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      if (--found->second->opened > 0) return CUDA_SUCCESS;
      left.ranges.push_back(found->second);
      left.marks = context.outstanding();
      process.ranges.erase(found);
    }
    clean_up(process, std::move(left));
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
