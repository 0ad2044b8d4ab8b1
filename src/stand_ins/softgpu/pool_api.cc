// Stream-ordered memory: cuMemAllocAsync, cuMemFreeAsync, cuMemPool*.
#include <algorithm>
#include <cstring>

#include "softgpu/allocation.h"
#include "softgpu/entry_points.h"
#include "softgpu/pool.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

std::shared_ptr<Pool> find(Process& process, CUmemoryPool handle) {
  auto found = process.pools.find(reinterpret_cast<Pool*>(handle));
  return found != process.pools.end() ? found->second : nullptr;
}
CUmemoryPool handle_of(const std::shared_ptr<Pool>& pool) {
  return reinterpret_cast<CUmemoryPool>(pool.get());
}

// The address exists when the call returns; what is put on the stream afterwards may use it.
CUresult allocate_on(CUdeviceptr* address, std::size_t bytes, CUmemoryPool wanted, bool current,
                     CUstream on) {
  if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process& process, Context& context) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Stream> stream = find_stream(process, context, on);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult r = process.captures.on_work(*stream)) return r;
    if (bytes == 0) {  // unlike cuMemAlloc
      *address = 0;
      return CUDA_SUCCESS;
    }
    const int device = stream->context()->device();
    std::shared_ptr<Pool> pool =
        current ? process.devices[static_cast<std::size_t>(device)].current_pool
                : find(process, wanted);
    if (pool == nullptr || pool->imported) return CUDA_ERROR_INVALID_VALUE;
    if (pool->most_bytes != 0 && pool->used + bytes > pool->most_bytes) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    std::shared_ptr<Range> range;
    if (CUresult r =
            allocate(process, pool->device, bytes, Range::Kind::kPooled, nullptr, &range)) {
      return r;
    }
    range->pool = pool;
    pool->used += range->held;
    pool->used_high = std::max(pool->used_high, pool->used);
    *address = range->base;
    return CUDA_SUCCESS;
  });
}

// Nothing issued later may use the address; the memory goes when the stream gets here.
CUresult free_on(CUdeviceptr address, CUstream on) {
  return in_context([&](Process& process, Context& context) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Stream> stream = find_stream(process, context, on);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult r = process.captures.on_work(*stream)) return r;
    if (address == 0) return CUDA_SUCCESS;
    auto found = process.ranges.find(address);
    if (found == process.ranges.end() || !can_be_freed(*found->second)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::shared_ptr<Range> range = found->second;
    process.ranges.erase(found);
    issue(*stream, [&process, range] {
      std::lock_guard inner(process.lock);
      dispose(process, *range);
    });
    return CUDA_SUCCESS;
  });
}

int* switch_of(Pool& pool, CUmemPool_attribute attribute) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return &pool.reuse[0];
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return &pool.reuse[1];
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return &pool.reuse[2];
    default:
      return nullptr;
  }
}

template <typename Body>
CUresult with_pool(CUmemoryPool handle, Body&& body) {
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Pool> pool = find(process, handle);
    return pool != nullptr ? body(process, pool) : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // namespace

GDR_CU_ASYNC(cuMemAllocAsync, (CUdeviceptr * address, std::size_t bytes), (address, bytes),
             return allocate_on(address, bytes, nullptr, true, stream);)
GDR_CU_ASYNC(cuMemAllocFromPoolAsync, (CUdeviceptr * address, std::size_t bytes, CUmemoryPool pool),
             (address, bytes, pool), return allocate_on(address, bytes, pool, false, stream);)
GDR_CU_ASYNC(cuMemFreeAsync, (CUdeviceptr address), (address), return free_on(address, stream);)

GDR_CU cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* properties) {
  if (out == nullptr || properties == nullptr ||
      properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_driver([&](Process& process) -> CUresult {
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
    if (!process.is_device(properties->location.id)) return CUDA_ERROR_INVALID_VALUE;
    const auto types = static_cast<unsigned>(properties->handleTypes);
    if ((types & ~static_cast<unsigned>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)) != 0) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    auto pool = std::make_shared<Pool>(properties->location.id, false);
    pool->shareable = types != 0;
    pool->most_bytes = properties->maxSize;
    std::lock_guard guard(process.lock);
    *out = handle_of(pool);
    process.pools[pool.get()] = std::move(pool);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemPoolDestroy(CUmemoryPool handle) {
  return with_pool(handle, [](Process& process, const std::shared_ptr<Pool>& pool) {
    if (pool->is_default) return CUDA_ERROR_INVALID_VALUE;
    for (Device& device : process.devices) {
      if (device.current_pool == pool) device.current_pool = device.default_pool;
    }
    process.pools.erase(pool.get());  // allocations keep it until they are freed
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemPoolTrimTo(CUmemoryPool handle, std::size_t) {
  // Nothing is cached that could be trimmed.
  return with_pool(handle, [](Process&, const std::shared_ptr<Pool>&) { return CUDA_SUCCESS; });
}

GDR_CU cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_pool(handle, [&](Process&, const std::shared_ptr<Pool>& pool) {
    std::uint64_t number = 0;
    if (int* reuse = switch_of(*pool, attribute)) {
      std::memcpy(reuse, value, sizeof *reuse);
      return CUDA_SUCCESS;
    }
    std::memcpy(&number, value, sizeof number);
    switch (attribute) {
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool->release_threshold = number;
        return CUDA_SUCCESS;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (number != 0) return CUDA_ERROR_INVALID_VALUE;
        pool->used_high = pool->used;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

GDR_CU cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_pool(handle, [&](Process&, const std::shared_ptr<Pool>& pool) {
    if (const int* reuse = switch_of(*pool, attribute)) {
      std::memcpy(value, reuse, sizeof *reuse);
      return CUDA_SUCCESS;
    }
    std::uint64_t number = 0;
    switch (attribute) {
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        number = pool->release_threshold;
        break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        number = pool->used;
        break;
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        number = pool->used_high;
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(value, &number, sizeof number);
    return CUDA_SUCCESS;
  });
}

// Copies reach every device's pool memory here, so access is never refused; the owner's cannot be
// taken away.
GDR_CU cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* descriptions,
                          std::size_t count) {
  if (descriptions == nullptr && count != 0) return CUDA_ERROR_INVALID_VALUE;
  return with_pool(handle, [&](Process& process, const std::shared_ptr<Pool>& pool) {
    for (std::size_t i = 0; i < count; ++i) {
      const CUmemAccessDesc& wanted = descriptions[i];
      if (wanted.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
          !process.is_device(wanted.location.id)) {
        return CUDA_ERROR_INVALID_DEVICE;
      }
      if (wanted.location.id == pool->device &&
          wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_pool(handle, [&](Process& process, const std::shared_ptr<Pool>&) {
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || !process.is_device(location->id)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
  });
}

template <typename Body>
static CUresult with_device(CUdevice device, Body&& body) {
  return in_driver([&](Process& process) -> CUresult {
    if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    std::lock_guard guard(process.lock);
    return body(process, process.devices[static_cast<std::size_t>(device)]);
  });
}

GDR_CU cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice device) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_device(device, [&](Process&, Device& entry) {
    *out = handle_of(entry.default_pool);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceGetMemPool(CUmemoryPool* out, CUdevice device) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_device(device, [&](Process&, Device& entry) {
    *out = handle_of(entry.current_pool);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
  return with_device(device, [&](Process& process, Device& entry) {
    std::shared_ptr<Pool> pool = find(process, handle);
    if (pool == nullptr || pool->imported || pool->device != device) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    entry.current_pool = std::move(pool);
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
