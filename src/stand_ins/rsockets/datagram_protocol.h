// The headers of rdma-core's datagram rsockets. A datagram goes by UDP, behind an announcement of
// its sender's queue pair, until the receiver has announced its own; from then on it goes between
// the two queue pairs, behind its sender's name. No I/O.
//
//   Header header = encode(Announcement{true, queue_pair, address});    // of a UDP packet
//   std::optional<Announcement> peer = decode_announcement(packet, size);
//
// The layout follows docs/rsocket of rdma-core's librdmacm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rsockets/name.h"

namespace gdr::rsockets {

// The bytes in front of the program's, in memory that holds the longest of them.
class Header {
 public:
  std::span<const std::uint8_t> bytes() const { return std::span(bytes_).first(size_); }

 private:
  friend Header encode(const struct Announcement&);
  friend Header encode(const Name&);
  std::array<std::uint8_t, 28> bytes_{};
  std::size_t size_ = 0;
};

// A buffer of a receiver's, header included; rdma-core has no larger ones for UDP either.
constexpr std::size_t kLargestPacket = 2048;

struct Announcement {
  bool carries_data = false;     // then the receiver announces its own queue pair
  std::uint32_t queue_pair = 0;  // 24 bits
  Address address{};             // where that queue pair is
};

Header encode(const Announcement& announcement);
// `size`: of the header, behind which the data lie. Nothing if there is none.
std::optional<Announcement> decode_announcement(std::span<const std::uint8_t> packet,
                                                std::size_t& size);

// Whom a message between queue pairs is from. A port and an address; the scope does not travel.
Header encode(const Name& sender);
std::optional<Name> decode_sender(std::span<const std::uint8_t> message, std::size_t& size);

// The longest of the two headers' lengths, which the data of a datagram have to leave free.
constexpr std::size_t header_room(bool v4) { return v4 ? 16 : 28; }

}  // namespace gdr::rsockets
