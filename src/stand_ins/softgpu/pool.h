// Pool: what stream-ordered allocations are charged to. It caches nothing: freed memory goes back
// to the device once the stream has passed the free.
#pragma once

#include <cstdint>

#include "base/unique_fd.h"
#include "cuda/driver_abi.h"

namespace gdr::softgpu {

class Pool {
 public:
  Pool(int of_device, bool by_default) : device(of_device), is_default(by_default) {}

  const int device;
  const bool is_default;
  bool imported = false;
  bool shareable = false;  // made with POSIX descriptors as its handle type
  std::uint64_t most_bytes = 0;
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t release_threshold = 0;
  UniqueFd token;  // what an exported descriptor refers to; made by the first export
  std::uint64_t token_inode = 0;
  int reuse[3] = {1, 1, 1};  // the three CU_MEMPOOL_ATTR_REUSE_* switches, kept and given back
};

}  // namespace gdr::softgpu
