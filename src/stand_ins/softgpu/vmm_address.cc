// cuMemAddressReserve, and who may access what is mapped there.
#include "softgpu/process.h"

namespace gdr::softgpu {

using namespace cuda;

GDR_CU cuMemAddressReserve(CUdeviceptr* out, std::size_t bytes, std::size_t alignment,
                           CUdeviceptr wanted, unsigned long long flags) {
  if (out == nullptr || bytes == 0 || bytes % kBlock != 0 || flags != 0 ||
      (alignment & (alignment - 1)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    const std::uint64_t unit = alignment < kBlock ? kBlock : alignment;
    auto address = process.addresses.take(bytes, unit, wanted);
    if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
    process.reservations[*address] = {bytes};
    *out = *address;
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    auto found = process.reservations.find(address);
    if (found == process.reservations.end() || found->second.bytes != bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto mapped = process.ranges.lower_bound(address);
    if (mapped != process.ranges.end() && mapped->first < address + bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    process.reservations.erase(found);
    process.addresses.give_back(address, bytes);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* descriptions,
                      std::size_t count) {
  if (bytes == 0 || bytes % kBlock != 0 || descriptions == nullptr || count == 0 ||
      address + bytes < address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_driver_uncaptured([&](Process& process) -> CUresult {
    for (std::size_t i = 0; i < count; ++i) {
      const CUmemAccessDesc& wanted = descriptions[i];
      if (wanted.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
      if (!process.is_device(wanted.location.id)) return CUDA_ERROR_INVALID_DEVICE;
      if (wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
          wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
          wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    std::lock_guard guard(process.lock);
    std::vector<Range*> touched;
    for (std::uint64_t at = address; at < address + bytes;) {
      auto found = process.ranges.find(at);
      if (found == process.ranges.end() || found->second->kind != Range::Kind::kMapped ||
          found->second->end() > address + bytes) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      touched.push_back(found->second.get());
      at = found->second->end();
    }
    for (Range* range : touched) {
      for (std::size_t i = 0; i < count; ++i) {
        range->access[static_cast<std::size_t>(descriptions[i].location.id)] =
            static_cast<unsigned char>(descriptions[i].flags);
      }
    }
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                      CUdeviceptr address) {
  if (flags == nullptr || location == nullptr || location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return in_driver([&](Process& process) -> CUresult {
    if (!process.is_device(location->id)) return CUDA_ERROR_INVALID_DEVICE;
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(address);
    if (range == nullptr || range->kind != Range::Kind::kMapped) return CUDA_ERROR_INVALID_VALUE;
    *flags = range->access[static_cast<std::size_t>(location->id)];
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
