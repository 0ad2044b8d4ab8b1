#include "memory/cuda_copy.h"

#include <cstring>
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

// A single byte has no two rows, and its neighbours are not ours to touch. So it goes into memory
// of our own in two rows, and from there as a copy within the device; the stream's order keeps such
// copies apart. The source is read here: the driver has taken pageable memory of this size when its
// call returns.
CUresult issue_single_byte(const cuda::Driver& driver, const CudaCopy& copy,
                           cuda::CUdeviceptr spare, cuda::CUstream stream) {
  unsigned char twice[kSpareBytes];
  std::memset(twice, *static_cast<const unsigned char*>(host_pointer(copy.from)), sizeof twice);
  const auto from = reinterpret_cast<std::uintptr_t>(twice);
  if (CUresult r = two_rows(driver, spare, from, sizeof twice, stream)) return r;
  return driver.memcpy_async(copy.to, spare, 1, stream);
}

CUresult issue_from_host(const cuda::Driver& driver, const CudaCopy& copy, cuda::CUdeviceptr spare,
                         cuda::CUstream stream) {
  if (copy.length > kComputeChannelBytes) {
    return driver.memcpy_htod_async(copy.to, host_pointer(copy.from), copy.length, stream);
  }
  if (copy.length == 1) return issue_single_byte(driver, copy, spare, stream);
  const std::uint64_t even = copy.length & ~std::uint64_t{1};
  if (CUresult r = two_rows(driver, copy.to, copy.from, even, stream)) return r;
  if (even == copy.length) return cuda::CUDA_SUCCESS;
  // The last byte of an odd length goes together with the one before it, once more.
  const std::uint64_t last = copy.length - 2;
  return two_rows(driver, copy.to + last, copy.from + last, 2, stream);
}

}  // namespace

CUresult issue_copy(const cuda::Driver& driver, const CudaCopy& copy, cuda::CUdeviceptr spare,
                    cuda::CUstream stream) {
  switch (copy.kind) {
    case CudaCopy::Kind::kOnDevice:
      return driver.memcpy_async(copy.to, copy.from, copy.length, stream);
    case CudaCopy::Kind::kToHost:
      return driver.memcpy_dtoh_async(host_pointer(copy.to), copy.from, copy.length, stream);
    case CudaCopy::Kind::kFromHost:
      break;
  }
  return issue_from_host(driver, copy, spare, stream);
}

CUresult issue_together(const cuda::Driver& driver, std::span<const CudaCopy> copies,
                        cuda::CUstream stream) {
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
  std::size_t start = 0;
  return driver.memcpy_batch_async(to.data(), from.data(), bytes.data(), copies.size(), &attributes,
                                   &start, 1, stream);
}

}  // namespace gdr::memory
