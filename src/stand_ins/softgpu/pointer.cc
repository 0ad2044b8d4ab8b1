// cuPointerGetAttribute(s), cuPointerSetAttribute: what an address is.
#include <cstring>

#include "softgpu/allocation.h"
#include "softgpu/entry_points.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

template <typename Value>
CUresult answer(void* out, Value value) {
  std::memcpy(out, &value, sizeof value);
  return CUDA_SUCCESS;
}

bool is_mapping(const Range& range) { return range.kind == Range::Kind::kMapped; }

unsigned long long access_flags(const Range& range, int device) {
  if (!is_mapping(range)) return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
  return range.access[static_cast<std::size_t>(device)];
}

// Attributes that every kind of memory has; CUDA_ERROR_NOT_FOUND for the others.
CUresult common(const Range& range, CUpointer_attribute attribute, void* out) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      // Memory that belongs to no context: VMM mappings and stream-ordered allocations.
      return answer<CUcontext>(out, range.context != nullptr ? handle_of(range.context) : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer<unsigned>(out, range.on_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return answer<unsigned long long>(out, range.buffer_id);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return answer<unsigned char>(out, range.sync_memops);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return answer<unsigned char>(out, 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return answer<int>(out, range.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return answer<unsigned char>(out, range.kind == Range::Kind::kAllocated);
    // For a VMM mapping, the whole reservation. The memory behind the address is the "mapping",
    // which is larger than a small allocation and smaller than most reservations.
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return answer<CUdeviceptr>(out, is_mapping(range) ? range.reserved_base : range.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return answer<std::size_t>(out, is_mapping(range) ? range.reserved_bytes : range.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return answer<CUdeviceptr>(out, range.base - range.offset);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return answer<std::size_t>(out,
                                 range.backing != nullptr ? range.backing->bytes() : range.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return answer<unsigned char>(out, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return answer<unsigned>(out, range.physical != nullptr
                                       ? range.physical->properties.requestedHandleTypes
                                       : CU_MEM_HANDLE_TYPE_NONE);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return answer<unsigned char>(
          out, !range.on_host() && range.pool == nullptr &&
                   (range.physical == nullptr ||
                    range.physical->properties.allocFlags.gpuDirectRDMACapable != 0));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return answer(out, reinterpret_cast<CUmemoryPool>(range.pool.get()));
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return answer<unsigned long long>(
          out, range.backing != nullptr ? range.backing->inode() : range.buffer_id);
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return answer<unsigned char>(out, 0);
    default:
      return CUDA_ERROR_NOT_FOUND;
  }
}

CUresult ask(const Range& range, CUpointer_attribute attribute, CUdeviceptr address, int device,
             void* out) {
  CUresult known = common(range, attribute, out);
  if (known != CUDA_ERROR_NOT_FOUND) return known;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      if (!range.accessible()) return CUDA_ERROR_INVALID_VALUE;
      return answer<CUdeviceptr>(out, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!range.on_host()) return CUDA_ERROR_INVALID_VALUE;
      return answer(out, reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return answer<unsigned>(out, static_cast<unsigned>(access_flags(range, device)));
    default:
      // Tokens for the kernel's old peer-to-peer interface do not exist here, nor do later numbers.
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// The answer of cuPointerGetAttributes for an unknown address or attribute.
void answer_nothing(CUpointer_attribute attribute, void* out) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      answer<int>(out, kDeviceInvalid);
      return;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      answer<unsigned>(out, 0);
      return;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      answer<unsigned char>(out, 0);
      return;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      std::memset(out, 0, 16);
      return;
    default:
      answer<std::uint64_t>(out, 0);
      return;
  }
}

int current_device() {
  auto& stack = context_stack();
  return stack.empty() || stack.back() == nullptr ? 0 : stack.back()->device();
}

}  // namespace

GDR_CU cuPointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr address) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(address);
    if (range == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return ask(*range, attribute, address, current_device(), out);
  });
}

GDR_CU cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                              CUdeviceptr address) {
  if (count == 0 || attributes == nullptr || values == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(address);
    for (unsigned i = 0; i < count; ++i) {
      if (values[i] == nullptr || attributes[i] < CU_POINTER_ATTRIBUTE_CONTEXT ||
          attributes[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      if (range == nullptr ||
          ask(*range, attributes[i], address, current_device(), values[i]) != CUDA_SUCCESS) {
        answer_nothing(attributes[i], values[i]);
      }
    }
    return CUDA_SUCCESS;
  });
}

GDR_CU cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                             CUdeviceptr address) {
  if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(address);
    if (range == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (is_mapping(*range)) return CUDA_ERROR_NOT_SUPPORTED;
    unsigned wanted = 0;
    std::memcpy(&wanted, value, sizeof wanted);
    range->sync_memops = wanted != 0;
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
