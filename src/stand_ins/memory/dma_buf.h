// DmaBuf: what ibv_reg_dmabuf_mr is given of a buffer, and whether a range lies in it.
//
//   if (Result<void> inside = check_range({descriptor, offset}, length, size); !inside) {
//     return inside.error();
//   }
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace gdr::memory {

struct DmaBuf {
  int descriptor;  // the caller's; borrowed for the call
  std::uint64_t offset;
};

// EINVAL where `length` bytes from its offset on leave the buffer, which has `size`.
inline Result<void> check_range(DmaBuf buffer, std::uint64_t length, std::uint64_t size) {
  if (buffer.offset <= size && length <= size - buffer.offset) return {};
  return Error{EINVAL, "offset " + std::to_string(buffer.offset) + " + length " +
                           std::to_string(length) + " leaves the dma-buf's " +
                           std::to_string(size) + " bytes"};
}

}  // namespace gdr::memory
