// Frames: messages as they stand in a stream, for whoever reads many sockets at a time and must
// not wait for one of them. Whoever can wait uses a Connection.
//
//   FrameBuffer arriving(kLargestMessage);
//   arriving.add(bytes);
//   while (Result<std::optional<Received>> message = arriving.next(); message && *message) ...
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "process/codec.h"

namespace gdr::process {

struct Received {
  std::uint8_t kind = 0;
  Bytes bytes;
};

constexpr std::size_t kFrameHead = 5;  // length of the bytes, big endian, and the kind

// The whole frame.
Bytes frame(std::uint8_t kind, std::span<const std::byte> bytes);

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
