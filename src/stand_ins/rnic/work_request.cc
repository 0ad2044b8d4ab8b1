#include "rnic/work_request.h"

#include <algorithm>
#include <bit>
#include <new>

namespace gdr::rnic {

bool SendRing::allocate(std::uint32_t capacity, std::uint32_t max_segments,
                        std::uint32_t max_inline, const RingAllocator& allocator) {
  const std::size_t payload = std::max<std::size_t>(max_segments * sizeof(ibv_sge), max_inline);
  const std::size_t stride = (sizeof(SendRequest) + payload + 63) & ~std::size_t{63};
  if (allocator) {
    slots_ = allocator(stride * capacity);
  } else {
    slots_.reset(new (std::nothrow) std::byte[stride * capacity]);
  }
  if (slots_ == nullptr) return false;
  capacity_ = capacity;
  mask_ = std::bit_ceil(capacity) - 1;
  stride_ = static_cast<std::uint32_t>(stride);
  head_ = tail_ = 0;
  return mask_ + 1 == capacity;
}

}  // namespace gdr::rnic
