// How many messages may be under way, counted by 16-bit sequence numbers that wrap. No I/O.
//
//   SendCredits out(peer.credits);          // the peer's receive queue
//   if (out.left() > 0) { out.spend(); post(...); }
//   if (!out.grant(value)) fail();          // a grant beyond that queue
//
//   ReceiveCredits in(384);                 // our receive queue
//   in.consumed();
//   if (in.due()) announce(in.announce());
#pragma once

#include <cstdint>

namespace gdr::rsockets {

class SendCredits {
 public:
  explicit SendCredits(std::uint16_t peer_queue = 0) : queue_(peer_queue), limit_(peer_queue) {}

  std::uint16_t left() const { return static_cast<std::uint16_t>(limit_ - sent_); }
  void spend() { ++sent_; }
  // False: more than the peer's queue holds, or less than it granted before.
  [[nodiscard]] bool grant(std::uint16_t limit) {
    const auto now = static_cast<std::uint16_t>(limit - sent_);
    if (now > queue_ || now < left()) return false;
    limit_ = limit;
    return true;
  }

 private:
  std::uint16_t queue_;
  std::uint16_t limit_;
  std::uint16_t sent_ = 0;
};

class ReceiveCredits {
 public:
  explicit ReceiveCredits(std::uint16_t queue = 0)
      : queue_(queue), due_at_(static_cast<std::uint16_t>(queue / 2)) {}

  void consumed() { ++consumed_; }
  // Half of the queue is free again and the peer does not know.
  bool due() const { return static_cast<std::int16_t>(consumed_ - due_at_) >= 0; }
  std::uint16_t announce() {
    due_at_ = static_cast<std::uint16_t>(consumed_ + queue_ / 2);
    return static_cast<std::uint16_t>(consumed_ + queue_);
  }

 private:
  std::uint16_t queue_;
  std::uint16_t consumed_ = 0;
  std::uint16_t due_at_;
};

// Control messages have slots of their own in the send queue, so data never keep them waiting.
class ControlSlots {
 public:
  static constexpr std::uint32_t kSlots = 4;

  bool available() const { return in_use_ < kSlots; }
  // The slot's index, which also names its bytes.
  std::uint32_t take() {
    ++in_use_;
    return next_++ % kSlots;
  }
  void give_back() {
    if (in_use_ > 0) --in_use_;
  }
  bool idle() const { return in_use_ == 0; }

 private:
  std::uint32_t in_use_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace gdr::rsockets
