// Frames: messages as they stand in a stream, for whoever reads many sockets at a time and must
// not wait for one of them. Whoever can wait uses a Connection.
//
//   FrameBuffer arriving(kLargestMessage);
//   arriving.add(bytes);
//   while (Result<std::optional<Received>> message = arriving.next(); message && *message) ...
//
// Seal: what shows that a frame comes from the other end of the conversation, is whole, and comes
// in its place: a mark behind its bytes, HMAC-SHA256 under a key of that direction over the frame
// and its number.
//
//   send(frame(kind, bytes, &leaving));
//   if (Result<void> right = arriving_seal.open(received); !right) drop();
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "process/codec.h"
#include "process/hmac.h"

namespace gdr::process {

struct Received {
  std::uint8_t kind = 0;
  Bytes bytes;
};

constexpr std::size_t kFrameHead = 5;  // length of the bytes, big endian, and the kind

class Seal {
 public:
  static constexpr std::size_t kBytes = sizeof(Digest);

  explicit Seal(const Digest& key) : keyed_(key) {}
  // Of the next frame.
  Digest mark(std::uint8_t kind, std::span<const std::byte> bytes);
  // Takes the mark off the next frame. EBADMSG: it is not the one that the other end sent next.
  Result<void> open(Received& received);

 private:
  Hmac keyed_;
  std::uint64_t frames_ = 0;
};

// The whole frame.
Bytes frame(std::uint8_t kind, std::span<const std::byte> bytes, Seal* seal = nullptr);

class FrameBuffer {
 public:
  // Longer messages are an error.
  explicit FrameBuffer(std::size_t most) : most_(most) {}
  void set_most(std::size_t most) { most_ = most; }

  void add(std::span<const std::byte> bytes);
  // Nothing: a message is not whole yet. EPROTO: what comes is none.
  Result<std::optional<Received>> next();

 private:
  std::size_t most_;
  Bytes bytes_;
  std::size_t taken_ = 0;  // of bytes_, in front
};

}  // namespace gdr::process
