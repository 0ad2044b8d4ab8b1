// cuMemGetHandleForAddressRange: a descriptor that stands for a range of device memory.
//
// The descriptor is a sealed memfd of the range's size, opened for writing only: lseek tells the
// size, as on a real dma-buf, and mapping it, reading it and writing it fail. What it stands for is
// in its name (cuda/soft_dma_buf.h), which is how the software NIC recognises it; or nowhere, as
// on a real driver. With GDR_SOFT_DMA_BUF=udmabuf it is a dma-buf of the kernel's own (udmabuf.h).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/soft_dma_buf.h"
#include "softgpu/device_config.h"
#include "softgpu/process.h"
#include "softgpu/udmabuf.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

CUresult make_descriptor(const SoftDmaBuf& buffer, bool anonymous, int* out) {
  const std::string name = anonymous ? "gdrkit-anonymous-dma-buf" : soft_dma_buf_name(buffer);
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

// The ranges of one kind of device memory that back the whole of [address, address + bytes), up to
// the host pages in which an allocation begins and ends; nothing where there is none.
std::vector<std::shared_ptr<Range>> backed(Process& process, std::uint64_t address,
                                           std::uint64_t bytes) {
  std::shared_ptr<Range> first = process.find_range(address);
  if (first == nullptr) {
    // The page may begin before the allocation does.
    auto next = process.ranges.lower_bound(address);
    if (next == process.ranges.end() || next->first >= address + kHostPage) return {};
    first = next->second;
  }
  std::vector<std::shared_ptr<Range>> found{first};
  while (round_up(found.back()->end(), kHostPage) < address + bytes) {
    // A range may go on in the next VMM mapping, if that is of the same device.
    if (first->kind != Range::Kind::kMapped) return {};
    auto next = process.ranges.find(found.back()->end());
    if (next == process.ranges.end() || next->second->kind != Range::Kind::kMapped ||
        next->second->device != first->device) {
      return {};
    }
    found.push_back(next->second);
  }
  return found;
}

// What of the backings [address, address + bytes) is, in whole host pages.
std::vector<UdmabufPart> parts_of(const std::vector<std::shared_ptr<Range>>& ranges,
                                  std::uint64_t address, std::uint64_t bytes) {
  std::vector<UdmabufPart> parts;
  std::uint64_t at = address;
  for (const std::shared_ptr<Range>& range : ranges) {
    const std::uint64_t end = std::min(address + bytes, round_up(range->end(), kHostPage));
    // Its first page may begin before the range does; device addresses and offsets agree in that.
    parts.push_back({range->backing, range->offset + at - range->base, end - at});
    at = end;
  }
  return parts;
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
  const Result<DmaBufKind> kind = dma_buf_kind_from_environment();
  if (!kind) return CUDA_ERROR_INVALID_VALUE;
  return in_context([&](Process& process, Context&) -> CUresult {
    SoftDmaBuf buffer{getpid(), address, bytes, 0};
    std::vector<UdmabufPart> parts;
    {
      std::lock_guard guard(process.lock);
      const std::vector<std::shared_ptr<Range>> ranges = backed(process, address, bytes);
      if (ranges.empty() || ranges.front()->on_host()) return CUDA_ERROR_INVALID_VALUE;
      buffer.buffer_id = ranges.front()->buffer_id;
      if (*kind == DmaBufKind::kKernel) parts = parts_of(ranges, address, bytes);
    }
    int* const made = static_cast<int*>(out);
    if (*kind != DmaBufKind::kKernel) {
      return make_descriptor(buffer, *kind == DmaBufKind::kAnonymous, made);
    }
    Result<UniqueFd> exported = make_udmabuf(parts);
    // Where the kernel cannot, it is as on a GPU whose driver exports no dma-bufs.
    if (!exported) return CUDA_ERROR_NOT_SUPPORTED;
    *made = exported->release();
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
