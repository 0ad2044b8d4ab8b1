// SendRing: which bytes of the send buffer hold data that are not yet delivered. Work requests of
// one queue pair complete in the order they were posted, so it is a ring. No I/O.
//
//   SendRing ring(131072);
//   SendRing::Pieces at = ring.place(5000);   // at most ring.free()
//   copy to at.first, then at.second; post; when it has completed: ring.release(5000);
#pragma once

#include <algorithm>
#include <cstdint>

namespace gdr::rsockets {

class SendRing {
 public:
  struct Piece {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
  };
  // The second one is empty unless the first ends at the end of the buffer.
  struct Pieces {
    Piece first, second;
  };

  explicit SendRing(std::uint32_t size = 0) : size_(size) {}

  std::uint32_t free() const { return size_ - used_; }
  bool idle() const { return used_ == 0; }

  Pieces place(std::uint32_t length) {
    const std::uint32_t to_end = std::min(length, size_ - next_);
    Pieces pieces{{next_, to_end}, {0, length - to_end}};
    used_ += length;
    next_ = to_end < length ? length - to_end : (next_ + to_end) % size_;
    return pieces;
  }
  void release(std::uint32_t length) { used_ -= std::min(length, used_); }

 private:
  std::uint32_t size_;
  std::uint32_t next_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace gdr::rsockets
