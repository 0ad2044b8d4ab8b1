// Pools shared between processes: the pool as a descriptor, then each allocation as 64 bytes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "softgpu/allocation.h"
#include "softgpu/pool.h"
#include "softgpu/shared_handle.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr char kName[] = "gdrkit-soft-gpu-pool";

// The descriptor carries nothing but its inode, which is how an exported pointer and an imported
// pool are found to belong together, and the pool's device as its length.
CUresult make_token(Pool& pool) {
  if (pool.token) return CUDA_SUCCESS;
  UniqueFd token(memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  struct stat status {};
  if (!token || ftruncate(token.get(), pool.device + 1) != 0 ||
      fcntl(token.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) ||
      fstat(token.get(), &status) != 0) {
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  pool.token_inode = status.st_ino;
  pool.token = std::move(token);
  return CUDA_SUCCESS;
}

bool is_token(int fd) {
  char target[64];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length))
                           .starts_with(std::string("/memfd:") + kName);
}

std::shared_ptr<Pool> find(Process& process, CUmemoryPool handle) {
  auto found = process.pools.find(reinterpret_cast<Pool*>(handle));
  return found != process.pools.end() ? found->second : nullptr;
}

}  // namespace

GDR_CU cuMemPoolExportToShareableHandle(void* out, CUmemoryPool handle,
                                        CUmemAllocationHandleType type, unsigned long long flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Pool> pool = find(process, handle);
    if (pool == nullptr || !pool->shareable) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult r = make_token(*pool)) return r;
    const int copy = fcntl(pool->token.get(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    std::memcpy(out, &copy, sizeof copy);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemPoolImportFromShareableHandle(CUmemoryPool* out, void* shareable,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return in_driver([&](Process& process) -> CUresult {
    const int fd = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
    struct stat status {};
    if (fd < 0 || fstat(fd, &status) != 0 || !is_token(fd)) return CUDA_ERROR_INVALID_VALUE;
    const int device = static_cast<int>(status.st_size) - 1;
    if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    auto pool = std::make_shared<Pool>(device, false);
    pool->imported = true;
    pool->token_inode = status.st_ino;
    std::lock_guard guard(process.lock);
    *out = reinterpret_cast<CUmemoryPool>(pool.get());
    process.pools[pool.get()] = std::move(pool);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemPoolExportPointer(CUmemPoolPtrExportData* out, CUdeviceptr address) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) -> CUresult {
    std::lock_guard guard(process.lock);
    std::shared_ptr<Range> range = process.find_range(address);
    if (range == nullptr || range->kind != Range::Kind::kPooled || !range->pool->shareable) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (CUresult r = make_token(*range->pool)) return r;
    const SharedHandle handle =
        make_shared_handle(*range, SharedKind::kPoolPointer, range->pool->token_inode);
    std::memcpy(out->reserved, &handle, sizeof handle);
    return CUDA_SUCCESS;
  });
}

GDR_CU cuMemPoolImportPointer(CUdeviceptr* address, CUmemoryPool handle,
                              CUmemPoolPtrExportData* data) {
  if (address == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return in_driver([&](Process& process) -> CUresult {
    SharedHandle shared;
    if (CUresult r = read_shared_handle(data, SharedKind::kPoolPointer, &shared)) return r;
    std::shared_ptr<Pool> pool;
    {
      std::lock_guard guard(process.lock);
      pool = find(process, handle);
    }
    if (pool == nullptr || !pool->imported || pool->token_inode != shared.token) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::shared_ptr<Range> range;
    if (CUresult r = open_shared_handle(process, nullptr, shared, &range)) return r;
    std::lock_guard guard(process.lock);
    range->pool = pool;
    *address = range->base;
    return CUDA_SUCCESS;
  });
}

}  // namespace gdr::softgpu
