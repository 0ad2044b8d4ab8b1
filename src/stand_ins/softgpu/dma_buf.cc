// cuMemGetHandleForAddressRange: a descriptor that stands for a range of device memory.
//
// The descriptor is a sealed memfd of the range's size, opened for writing only: lseek tells the
// size, as on a real dma-buf, and mapping it, reading it and writing it fail. What it stands for is
// in its name (cuda/soft_dma_buf.h), which is how the software NIC recognises it; or nowhere, as
// on a real driver (GDR_SOFT_DMA_BUF).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "cuda/soft_dma_buf.h"
#include "softgpu/device_config.h"
#include "softgpu/process.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

CUresult make_descriptor(const SoftDmaBuf& buffer, int* out) {
  const Result<bool> anonymous = anonymous_dma_bufs_from_environment();
  if (!anonymous) return CUDA_ERROR_INVALID_VALUE;
  const std::string name = *anonymous ? "gdrkit-anonymous-dma-buf" : soft_dma_buf_name(buffer);
  UniqueFd file(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
  if (ftruncate(file.get(), static_cast<off_t>(buffer.bytes)) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)) {
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  UniqueFd closed(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!closed) return CUDA_ERROR_OPERATING_SYSTEM;
  *out = closed.release();
  return CUDA_SUCCESS;
}

// Whether one kind of device memory backs the whole of [address, address + bytes), up to the host
// pages in which an allocation begins and ends.
std::shared_ptr<Range> backed(Process& process, std::uint64_t address, std::uint64_t bytes) {
  std::shared_ptr<Range> first = process.find_range(address);
  if (first == nullptr) {
    // The page may begin before the allocation does.
    auto next = process.ranges.lower_bound(address);
    if (next == process.ranges.end() || next->first >= address + kHostPage) return nullptr;
    first = next->second;
  }
  std::shared_ptr<Range> last = first;
  while (round_up(last->end(), kHostPage) < address + bytes) {
    // A range may go on in the next VMM mapping, if that is of the same device.
    if (last->kind != Range::Kind::kMapped) return nullptr;
    auto next = process.ranges.find(last->end());
    if (next == process.ranges.end() || next->second->kind != Range::Kind::kMapped ||
        next->second->device != first->device) {
      return nullptr;
    }
    last = next->second;
  }
  return first;
}

}  // namespace

GDR_CU cuMemGetHandleForAddressRange(void* out, CUdeviceptr address, std::size_t bytes,
                                     CUmemRangeHandleType type, unsigned long long flags) {
  if (out == nullptr || bytes == 0 || type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD ||
      address % kHostPage != 0 || bytes % kHostPage != 0 || address + bytes < address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (flags == CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE) return CUDA_ERROR_NOT_SUPPORTED;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process& process, Context&) -> CUresult {
    SoftDmaBuf buffer{getpid(), address, bytes, 0};
    {
      std::lock_guard guard(process.lock);
      std::shared_ptr<Range> range = backed(process, address, bytes);
      if (range == nullptr || range->on_host()) return CUDA_ERROR_INVALID_VALUE;
      buffer.buffer_id = range->buffer_id;
    }
    return make_descriptor(buffer, static_cast<int*>(out));
  });
}

}  // namespace gdr::softgpu
