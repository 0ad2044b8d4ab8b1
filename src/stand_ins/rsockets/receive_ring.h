// ReceiveRing: what the peer has written into the receive buffer and the program has not read. The
// buffer has two halves; the peer fills one while the program reads the other, and gets a half back
// when all of it has been read. No I/O.
//
//   ReceiveRing ring(buffer, 384);            // the peer has the first half from the start
//   if (!ring.arrived(length)) fail();        // more than the peer was granted
//   std::size_t n = ring.read(bytes);         // and ring.take_finished() messages are done with
//   if (ring.half_is_free()) announce(ring.grant_half());
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gdr::rsockets {

class ReceiveRing {
 public:
  // `messages`: how many may wait, which is the receive queue's length.
  ReceiveRing(std::span<std::uint8_t> buffer, std::uint32_t messages);

  std::uint32_t half() const { return half_; }
  std::size_t readable() const { return readable_; }

  // `length` bytes behind the last ones have been written. False: the peer broke the protocol.
  [[nodiscard]] bool arrived(std::uint32_t length);

  std::size_t read(std::span<std::uint8_t> to);
  std::size_t peek(std::span<std::uint8_t> to) const;
  // Messages read to their end since the last call: each is a credit for the peer.
  std::uint32_t take_finished() { return std::exchange(finished_, 0); }

  bool half_is_free() const { return free_ >= half_; }
  // Offset of the half that the peer may write to next.
  std::uint32_t grant_half();

 private:
  std::span<std::uint8_t> buffer_;  // both halves
  std::uint32_t half_;
  std::vector<std::uint32_t> lengths_;  // unread bytes of each message, oldest at head_
  std::size_t head_ = 0, waiting_ = 0;
  std::size_t offset_ = 0;  // of the first unread byte
  std::size_t readable_ = 0;
  std::uint32_t granted_;  // bytes that the peer may still write
  std::uint32_t free_;     // bytes that were read and not granted again
  std::uint32_t next_grant_;
  std::uint32_t finished_ = 0;
};

}  // namespace gdr::rsockets
