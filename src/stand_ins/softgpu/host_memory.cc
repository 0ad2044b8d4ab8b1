// Pinned host memory: cuMemHostAlloc, cuMemHostRegister and what goes with them.
#include <sys/mman.h>

#include "softgpu/allocation.h"
#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr unsigned kAllocFlags = CU_MEMHOSTALLOC_PORTABLE_FLAG | CU_MEMHOSTALLOC_DEVICEMAP_FLAG |
                                 CU_MEMHOSTALLOC_WRITECOMBINED_FLAG;
constexpr unsigned kRegisterFlags =
    CU_MEMHOSTREGISTER_PORTABLE_FLAG | CU_MEMHOSTREGISTER_DEVICEMAP_FLAG |
    CU_MEMHOSTREGISTER_IOMEMORY_FLAG | CU_MEMHOSTREGISTER_READ_ONLY_FLAG;

void enter(Process& process, Context& context, std::uint64_t base, std::uint64_t bytes,
           std::uint64_t held, Range::Kind kind, unsigned flags) {
  auto range = std::make_shared<Range>();
  range->kind = kind;
  range->base = base;
  range->bytes = bytes;
  range->held = held;
  range->device = context.device();
  range->context = &context;
  range->host_flags = flags;
  range->buffer_id = process.next_buffer_id();
  process.ranges.put(std::move(range));
}

// Frees or unregisters what begins there; `unknown` for an address that lies in nothing.
CUresult leave(void* address, Range::Kind kind, CUresult unknown) {
  return in_context_uncaptured([&](Process& process, Context&) -> CUresult {
    Process::Leftovers left;
    {
      std::lock_guard guard(process.lock);
      if (process.find_range(number(address)) == nullptr) return unknown;
      auto found = process.ranges.find(number(address));
      if (found == process.ranges.end() || found->second->kind != kind) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      for (const auto& [key, context] : process.contexts) {
        if (!context->alive()) continue;
        for (Mark& mark : context->outstanding()) left.marks.push_back(std::move(mark));
      }
      left.ranges.push_back(found->second);
      process.ranges.erase(found);
    }
    clean_up(process, std::move(left));
    return CUDA_SUCCESS;
  });
}

}  // namespace

GDR_CU cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  if (address == nullptr || (flags & ~kAllocFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_context_uncaptured([&](Process& process, Context& context) -> CUresult {
    if (bytes == 0) {  // unlike cuMemAlloc
      *address = nullptr;
      return CUDA_SUCCESS;
    }
    const std::uint64_t held = round_up(bytes, kHostPage);
    if (held < bytes || !host_has_room(held)) return CUDA_ERROR_OUT_OF_MEMORY;
    void* at = mmap(nullptr, held, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    std::lock_guard guard(process.lock);
    enter(process, context, number(at), bytes, held, Range::Kind::kHostAllocated,
          flags | CU_MEMHOSTALLOC_DEVICEMAP_FLAG);
    *address = at;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemAllocHost_v2(void** address, std::size_t bytes) {
  return cuMemHostAlloc(address, bytes, 0);
}

GDR_CU cuMemFreeHost(void* address) {
  if (address == nullptr) return in_context([](Process&, Context&) { return CUDA_SUCCESS; });
  return leave(address, Range::Kind::kHostAllocated, CUDA_ERROR_INVALID_VALUE);
}

GDR_CU cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags) {
  if (address == nullptr || bytes == 0 || (flags & ~kRegisterFlags) != 0 ||
      number(address) + bytes < number(address)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // The memory of other devices cannot be had through a host address here.
  if ((flags & CU_MEMHOSTREGISTER_IOMEMORY_FLAG) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  return in_context_uncaptured([&](Process& process, Context& context) -> CUresult {
    const std::uint64_t base = number(address);
    std::lock_guard guard(process.lock);
    if (process.addresses.contains(base) || process.addresses.contains(base + bytes - 1)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto next = process.ranges.lower_bound(base);
    const bool overlaps = process.find_range(base) != nullptr ||
                          (next != process.ranges.end() && next->first < base + bytes);
    if (overlaps) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    enter(process, context, base, bytes, bytes, Range::Kind::kHostRegistered,
          flags | CU_MEMHOSTREGISTER_DEVICEMAP_FLAG);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemHostUnregister(void* address) {
  return leave(address, Range::Kind::kHostRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

GDR_CU cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned flags) {
  if (device == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process& process, Context&) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(number(host));
    if (range == nullptr || !range->on_host()) return CUDA_ERROR_INVALID_VALUE;
    *device = number(host);  // unified addresses
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemHostGetFlags(unsigned* flags, void* address) {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process& process, Context&) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(number(address));
    if (range == nullptr || !range->on_host()) return CUDA_ERROR_INVALID_VALUE;
    *flags = range->host_flags;
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
