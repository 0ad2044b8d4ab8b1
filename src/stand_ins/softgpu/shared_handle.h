// SharedHandle: what stands in the 64 opaque bytes that name an allocation to another process.
//
// Nothing in it is trusted. The other process opens /proc/<process>/fd/<descriptor>, which the
// kernel permits to the same user only, and accepts what it finds if it is a Backing with this
// inode in whose ledger this allocation still lives. A forged handle, one of a process that has
// ended, and one of memory that was freed all lead to an error; nothing is left in a file system.
#pragma once

#include <cstdint>
#include <memory>

#include "softgpu/process.h"

namespace gdr::softgpu {

struct SharedHandle {
  std::uint32_t magic;
  std::uint32_t kind;  // SharedKind: one kind of handle cannot be used as the other
  std::int32_t process;
  std::int32_t descriptor;
  std::uint64_t inode;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t identity;
  std::uint64_t token;  // of a pool: its inode; else 0
  std::uint64_t check;  // of all before it: an accident is told from a handle
};
static_assert(sizeof(SharedHandle) == 64);

enum class SharedKind : std::uint32_t { kIpcMemory = 1, kPoolPointer = 2 };

SharedHandle make_shared_handle(const Range& range, SharedKind kind, std::uint64_t token);

// Checks form only: CUDA_ERROR_INVALID_VALUE when it is no handle of that kind.
cuda::CUresult read_shared_handle(const void* bytes, SharedKind kind, SharedHandle* out);

// Opens the memory and gives it an address here. Takes Process::lock itself.
cuda::CUresult open_shared_handle(Process& process, Context* context, const SharedHandle& handle,
                                  std::shared_ptr<Range>* out);

}  // namespace gdr::softgpu
