// Virtual memory management: cuMemCreate, cuMemMap and what goes with them. Address ranges are
// vmm_address.cc's.
#include <cstring>

#include "softgpu/allocation.h"
#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

CUresult check(Process& process, const CUmemAllocationProp* properties) {
  if (properties == nullptr || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  if (!process.is_device(properties->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  const unsigned types = static_cast<unsigned>(properties->requestedHandleTypes);
  if ((types & ~static_cast<unsigned>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)) != 0) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (properties->allocFlags.compressionType != 0) return CUDA_ERROR_NOT_SUPPORTED;
  return CUDA_SUCCESS;
}

// The device gets its memory back once no handle and no mapping names it.
// NOLINTNEXTLINE(performance-unnecessary-value-param): keeps it alive while its last owner goes.
void uncharge_if_last(Process& process, std::shared_ptr<PhysicalMemory> physical) {
  if (physical->imported || physical->handles > 0) return;
  for (const auto& [base, range] : process.ranges) {
    if (range->physical == physical) return;
  }
  process.devices[static_cast<std::size_t>(physical->properties.location.id)].used -=
      physical->bytes;
}

CUresult release(CUmemGenericAllocationHandle handle) {
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    auto found = process.physical.find(handle);
    if (found == process.physical.end()) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<PhysicalMemory> physical = found->second;
    if (--physical->handles == 0) process.physical.erase(found);
    uncharge_if_last(process, std::move(physical));
    return CUDA_SUCCESS;
  });
}

}  // namespace

GDR_CU cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* properties,
                                     CUmemAllocationGranularity_flags) {
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) -> CUresult {
    if (CUresult r = check(process, properties)) return r;
    *bytes = kBlock;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                   const CUmemAllocationProp* properties, unsigned long long flags) {
  if (handle == nullptr || bytes == 0 || bytes % kBlock != 0 || flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    if (CUresult r = check(process, properties)) return r;
    const int ordinal = properties->location.id;
    std::lock_guard guard(process.lock);
    Device& device = process.devices[static_cast<std::size_t>(ordinal)];
    const std::uint64_t total = process.config().bytes;
    if (bytes > total || device.used + bytes > total || !host_has_room(bytes)) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    auto backing = Backing::create(bytes, ordinal, 1);
    if (!backing) return CUDA_ERROR_OUT_OF_MEMORY;
    auto physical = std::make_shared<PhysicalMemory>();
    physical->backing = *backing;
    physical->properties = *properties;
    physical->bytes = bytes;
    *handle = physical->handle = process.next_handle();
    process.physical[*handle] = std::move(physical);
    device.used += bytes;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemRelease(CUmemGenericAllocationHandle handle) { return release(handle); }

GDR_CU cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                              CUmemGenericAllocationHandle handle) {
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    auto found = process.physical.find(handle);
    if (found == process.physical.end()) return CUDA_ERROR_INVALID_VALUE;
    *properties = found->second->properties;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(number(address));
    if (range == nullptr || range->physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // Under its first number, even if it was mapped and released since.
    ++range->physical->handles;
    *handle = range->physical->handle;
    process.physical[*handle] = range->physical;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle,
                                    CUmemAllocationHandleType type, unsigned long long flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    auto found = process.physical.find(handle);
    if (found == process.physical.end()) return CUDA_ERROR_INVALID_VALUE;
    if ((found->second->properties.requestedHandleTypes & type) == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Result<UniqueFd> fd = found->second->backing->export_descriptor();
    if (!fd) return CUDA_ERROR_OPERATING_SYSTEM;
    const int number = fd->release();
    std::memcpy(out, &number, sizeof number);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                      CUmemAllocationHandleType type) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    auto backing = Backing::open(static_cast<int>(reinterpret_cast<std::intptr_t>(shareable)));
    if (!backing) return CUDA_ERROR_INVALID_VALUE;
    if (!process.is_device((*backing)->device())) return CUDA_ERROR_INVALID_DEVICE;
    if ((*backing)->bytes() % kBlock != 0) return CUDA_ERROR_INVALID_VALUE;
    auto physical = std::make_shared<PhysicalMemory>();
    physical->backing = *backing;
    physical->bytes = (*backing)->bytes();
    physical->imported = true;
    physical->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    physical->properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    physical->properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, (*backing)->device()};
    physical->properties.allocFlags.gpuDirectRDMACapable = 1;
    std::lock_guard guard(process.lock);
    *handle = physical->handle = process.next_handle();
    process.physical[*handle] = std::move(physical);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (bytes == 0 || address % kBlock != 0 || flags != 0 || address + bytes < address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    auto found = process.physical.find(handle);
    if (found == process.physical.end()) return CUDA_ERROR_INVALID_VALUE;
    auto next = process.reservations.upper_bound(address);
    if (next == process.reservations.begin()) return CUDA_ERROR_INVALID_VALUE;
    auto reserved = std::prev(next);
    if (address + bytes > reserved->first + reserved->second.bytes) return CUDA_ERROR_INVALID_VALUE;
    // The interface takes an offset and a size, but drivers map whole allocations only.
    if (offset != 0 || bytes != found->second->bytes) return CUDA_ERROR_NOT_SUPPORTED;
    auto mapped = process.ranges.lower_bound(address);
    if (process.find_range(address) != nullptr ||
        (mapped != process.ranges.end() && mapped->first < address + bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto range = std::make_shared<Range>();
    range->kind = Range::Kind::kMapped;
    range->base = address;
    range->bytes = bytes;
    range->device = found->second->properties.location.id;
    range->backing = found->second->backing;
    range->physical = found->second;
    range->buffer_id = process.next_buffer_id();
    range->reserved_base = reserved->first;
    range->reserved_bytes = reserved->second.bytes;
    process.ranges.put(std::move(range));
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  if (bytes == 0 || bytes % kBlock != 0 || address + bytes < address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    std::vector<Mark> marks;
    {
      std::lock_guard guard(process.lock);
      // Whole mappings only, and no hole between them.
      for (std::uint64_t at = address; at < address + bytes;) {
        auto found = process.ranges.find(at);
        if (found == process.ranges.end() || found->second->kind != Range::Kind::kMapped ||
            found->second->end() > address + bytes) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        at = found->second->end();
      }
      for (const auto& [key, context] : process.contexts) {
        if (!context->alive()) continue;
        for (Mark& mark : context->outstanding()) marks.push_back(std::move(mark));
      }
      for (std::uint64_t at = address; at < address + bytes;) {
        auto found = process.ranges.find(at);
        at = found->second->end();
        std::shared_ptr<PhysicalMemory> physical = found->second->physical;
        process.ranges.erase(found);
        uncharge_if_last(process, std::move(physical));
      }
    }
    for (const Mark& mark : marks) mark.wait();
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
