#include "process/codec.h"

namespace gdr::process {

void Encoder::make_room(std::size_t size) {
  constexpr std::size_t kFirst = 32;
  bytes_.resize(std::max({end_ + size, 2 * bytes_.size(), kFirst}));
}

Bytes Encoder::take() {
  bytes_.resize(end_);
  return std::move(bytes_);
}

}  // namespace gdr::process
