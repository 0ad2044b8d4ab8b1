#include "memory/cuda_copy.h"

#include <algorithm>
#include <vector>

namespace gdr::memory {
namespace {

using cuda::CUresult;

// Up to here (24 KiB pinned, 64 KiB pageable) drivers send host-to-device copies through the
// compute channel, where they wait behind the application's kernels. Two rows take the copy engine.
constexpr std::uint64_t kComputeChannelBytes = 64 << 10;

void* host_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

CUresult two_rows(const cuda::Driver& driver, std::uint64_t to, std::uint64_t from,
                  std::uint64_t length, cuda::CUstream stream) {
  cuda::CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = cuda::CU_MEMORYTYPE_HOST;
  copy.srcHost = host_pointer(from);
  copy.dstMemoryType = cuda::CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = length / 2;
  copy.Height = 2;
  return driver.memcpy_2d_async(&copy, stream);
}

CUresult issue_from_host(const cuda::Driver& driver, const CudaCopy& copy, cuda::CUstream stream) {
  // A single byte has no two rows, and its neighbours are not ours to touch: a copy engine is asked
  // for, which drivers since CUDA 13 follow (measured on an H200).
  if (copy.length == 1 &&
      issue_together(driver, {&copy, 1}, cuda::CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE,
                     stream) == cuda::CUDA_SUCCESS) {
    return cuda::CUDA_SUCCESS;
  }
  if (copy.length == 1 || copy.length > kComputeChannelBytes) {
    return driver.memcpy_htod_async(copy.to, host_pointer(copy.from), copy.length, stream);
  }
  const std::uint64_t even = copy.length & ~std::uint64_t{1};
  if (CUresult r = two_rows(driver, copy.to, copy.from, even, stream)) return r;
  if (even == copy.length) return cuda::CUDA_SUCCESS;
  // The last byte of an odd length goes together with the one before it, once more.
  const std::uint64_t last = copy.length - 2;
  return two_rows(driver, copy.to + last, copy.from + last, 2, stream);
}

}  // namespace

CUresult issue_copy(const cuda::Driver& driver, const CudaCopy& copy, cuda::CUstream stream) {
  switch (copy.kind) {
    case CudaCopy::Kind::kOnDevice:
      return driver.memcpy_async(copy.to, copy.from, copy.length, stream);
    case CudaCopy::Kind::kToHost:
      return driver.memcpy_dtoh_async(host_pointer(copy.to), copy.from, copy.length, stream);
    case CudaCopy::Kind::kFromHost:
      break;
  }
  return issue_from_host(driver, copy, stream);
}

bool can_go_together(std::span<const CudaCopy> copies) {
  return std::all_of(copies.begin(), copies.end(), [&](const CudaCopy& copy) {
    if (copy.kind != copies.front().kind) return false;
    return copy.kind == CudaCopy::Kind::kOnDevice ||
           (copy.is_staging && copy.length > kComputeChannelBytes);
  });
}

CUresult issue_together(const cuda::Driver& driver, std::span<const CudaCopy> copies,
                        cuda::CUmemcpyFlags flags, cuda::CUstream stream) {
  if (driver.memcpy_batch_async == nullptr) return cuda::CUDA_ERROR_NOT_SUPPORTED;
  std::vector<cuda::CUdeviceptr> to, from;
  std::vector<std::size_t> bytes;
  for (const CudaCopy& copy : copies) {
    to.push_back(copy.to);
    from.push_back(copy.from);
    bytes.push_back(copy.length);
  }
  cuda::CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = cuda::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  attributes.flags = flags;
  std::size_t start = 0;
  return driver.memcpy_batch_async(to.data(), from.data(), bytes.data(), copies.size(), &attributes,
                                   &start, 1, stream);
}

}  // namespace gdr::memory
