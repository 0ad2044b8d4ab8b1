#include "process/codec.h"

namespace gdr::process {

void Encoder::put_raw(const void* from, std::size_t size) {
  const std::size_t end = bytes_.size();
  bytes_.resize(end + size);
  if (size > 0) std::memcpy(bytes_.data() + end, from, size);
}

}  // namespace gdr::process
