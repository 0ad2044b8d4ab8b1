// Transmit: the next packet that a transport wants sent: its headers, and where its payload lies.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "wire/packet.h"

namespace gdr::engine {

constexpr Nanoseconds kNever = ~Nanoseconds{0};

enum class Source : std::uint8_t {
  kNone,
  kWork,    // local segments of the send queue's request `work`, from `offset` on
  kRegion,  // the region `rkey` at `address`, for the other side to read
};

struct Transmit {
  wire::Packet packet;  // its payload is left empty; pad is right for payload_bytes
  Source source;
  std::uint32_t payload_bytes;
  std::uint32_t work;    // counted as in Owner
  std::uint64_t offset;  // in the message
  std::uint32_t rkey;
  std::uint64_t address;
  std::uint64_t message;  // of kRegion: which read it answers
  std::uint64_t rest;     // of kRegion: what follows of the answer
  bool retransmitted;
};

}  // namespace gdr::engine
