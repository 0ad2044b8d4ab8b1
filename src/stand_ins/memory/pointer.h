// pointer(): an address as the kernel's and the driver's calls take it.
//
//   madvise(pointer(range.begin), range.end - range.begin, MADV_COLLAPSE);
#pragma once

#include <cstdint>

namespace gdr::memory {

inline void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace gdr::memory
