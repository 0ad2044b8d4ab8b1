// cuMemAlloc, cuMemFree, cuMemGetInfo, cuMemGetAddressRange.
#include "softgpu/allocation.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

CUresult allocate_for_caller(CUdeviceptr* address, std::size_t bytes) {
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return in_context_uncaptured([&](Process& process, Context& context) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range;
    CUresult r =
        allocate(process, context.device(), bytes, Range::Kind::kAllocated, &context, &range);
    if (r == CUDA_SUCCESS) *address = range->base;
    return r;
  });
}

}  // namespace

GDR_CU cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return allocate_for_caller(address, bytes);
}

GDR_CU cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                          std::size_t height, unsigned element_bytes) {
  if (pitch == nullptr || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
  if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (width > (1ull << 40)) return CUDA_ERROR_OUT_OF_MEMORY;
  const std::size_t row = round_up(width, kGranule);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(row, height, &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult r = allocate_for_caller(address, bytes);
  if (r == CUDA_SUCCESS) *pitch = row;
  return r;
}

GDR_CU cuMemFree_v2(CUdeviceptr address) {
  return in_context_uncaptured([&](Process& process, Context&) -> CUresult {
    if (address == 0) return CUDA_SUCCESS;
    Process::Leftovers left;
    {
      std::lock_guard guard(process.lock);
      auto found = process.ranges.find(address);
      if (found == process.ranges.end()) return CUDA_ERROR_INVALID_VALUE;
      const std::shared_ptr<Range> range = found->second;
      if (!can_be_freed(*range)) return CUDA_ERROR_INVALID_VALUE;
      // Work of the owning context may still use the memory. Stream-ordered memory has no context;
      // every stream of the device may use it.
      for (const auto& [key, context] : process.contexts) {
        if (!context->alive() || context->device() != range->device) continue;
        if (range->context != nullptr && range->context != context.get()) continue;
        for (Mark& mark : context->outstanding()) left.marks.push_back(std::move(mark));
      }
      process.ranges.erase(found);
      left.ranges.push_back(range);
    }
    clean_up(process, std::move(left));
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process& process, Context& context) {
    std::lock_guard guard(process.lock);
    *total = process.config().bytes;
    *free = *total - process.devices[static_cast<std::size_t>(context.device())].used;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  return in_context([&](Process& process, Context&) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(address);
    if (range == nullptr || !range->accessible()) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = range->base;
    if (bytes != nullptr) *bytes = range->bytes;
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
