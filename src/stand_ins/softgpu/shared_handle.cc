#include "softgpu/shared_handle.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr std::uint32_t kMagic = 0x67646b31;

// FNV-1a; guards against accidents, not against malice.
std::uint64_t checksum(const SharedHandle& handle) {
  unsigned char bytes[offsetof(SharedHandle, check)];
  std::memcpy(bytes, &handle, sizeof bytes);
  std::uint64_t hash = 14695981039346656037ull;
  for (unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211ull;
  return hash;
}

}  // namespace

SharedHandle make_shared_handle(const Range& range, SharedKind kind, std::uint64_t token) {
  SharedHandle handle{};
  handle.magic = kMagic;
  handle.kind = static_cast<std::uint32_t>(kind);
  handle.process = getpid();
  handle.descriptor = range.backing->fd();
  handle.inode = range.backing->inode();
  handle.offset = range.offset;
  handle.bytes = range.bytes;
  handle.identity = range.identity;
  handle.token = token;
  handle.check = checksum(handle);
  return handle;
}

CUresult read_shared_handle(const void* bytes, SharedKind kind, SharedHandle* out) {
  std::memcpy(out, bytes, sizeof *out);
  if (out->magic != kMagic || out->kind != static_cast<std::uint32_t>(kind) ||
      out->check != checksum(*out) || out->process <= 0 || out->descriptor < 0 ||
      out->identity == 0 || out->bytes == 0 || out->offset % kGranule != 0 ||
      out->offset + out->bytes < out->offset) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult open_shared_handle(Process& process, Context* context, const SharedHandle& handle,
                            std::shared_ptr<Range>* out) {
  const std::string path =
      "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.descriptor);
  // O_PATH: whatever the descriptor may be, a device or a pipe, looking at it must not disturb it.
  UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd) return CUDA_ERROR_INVALID_VALUE;
  auto backing = Backing::open(fd.get());
  if (!backing) return CUDA_ERROR_INVALID_VALUE;
  if ((*backing)->inode() != handle.inode || handle.offset + handle.bytes > (*backing)->bytes() ||
      (*backing)->ledger(handle.offset) != handle.identity) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // A process may be configured with fewer devices than the one the memory comes from.
  const int device = (*backing)->device();
  if (!process.is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  auto range = std::make_shared<Range>();
  range->kind = Range::Kind::kImported;
  range->bytes = handle.bytes;
  range->held = round_up((*backing)->bytes(), kBlock);
  range->device = device;
  range->context = context;
  range->exporter = handle.process;
  range->backing = *backing;
  range->offset = handle.offset;
  range->identity = handle.identity;
  std::lock_guard guard(process.lock);
  auto address = process.addresses.take(range->held, kBlock);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  range->base = *address + handle.offset;
  range->buffer_id = process.next_buffer_id();
  process.ranges.put(range);
  *out = std::move(range);
  return CUDA_SUCCESS;
}

}  // namespace gdr::softgpu
