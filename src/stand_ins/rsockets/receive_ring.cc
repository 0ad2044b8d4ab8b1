#include "rsockets/receive_ring.h"

#include <algorithm>
#include <cstring>

namespace gdr::rsockets {

ReceiveRing::ReceiveRing(std::span<std::uint8_t> buffer, std::uint32_t messages)
    : buffer_(buffer.first(buffer.size() / 2 * 2)),
      half_(static_cast<std::uint32_t>(buffer.size() / 2)),
      lengths_(messages),
      granted_(half_),
      free_(half_),
      next_grant_(half_) {}

bool ReceiveRing::arrived(std::uint32_t length) {
  if (length == 0 || length > granted_ || waiting_ == lengths_.size()) return false;
  lengths_[(head_ + waiting_) % lengths_.size()] = length;
  ++waiting_;
  granted_ -= length;
  readable_ += length;
  return true;
}

std::size_t ReceiveRing::peek(std::span<std::uint8_t> to) const {
  const std::size_t length = std::min(to.size(), readable_);
  const std::size_t to_end = std::min(length, buffer_.size() - offset_);
  if (to_end > 0) std::memcpy(to.data(), &buffer_[offset_], to_end);
  if (length > to_end) std::memcpy(to.data() + to_end, buffer_.data(), length - to_end);
  return length;
}

std::size_t ReceiveRing::read(std::span<std::uint8_t> to) {
  const std::size_t length = peek(to);
  if (length == 0) return 0;
  offset_ = (offset_ + length) % buffer_.size();
  readable_ -= length;
  free_ += static_cast<std::uint32_t>(length);
  std::size_t left = length;
  while (left > 0) {
    std::uint32_t& message = lengths_[head_];
    const std::size_t part = std::min<std::size_t>(left, message);
    message -= static_cast<std::uint32_t>(part);
    left -= part;
    if (message > 0) break;
    head_ = (head_ + 1) % lengths_.size();
    --waiting_;
    ++finished_;
  }
  return length;
}

std::uint32_t ReceiveRing::grant_half() {
  const std::uint32_t offset = next_grant_;
  next_grant_ = offset == 0 ? half_ : 0;
  free_ -= half_;
  granted_ += half_;
  return offset;
}

}  // namespace gdr::rsockets
