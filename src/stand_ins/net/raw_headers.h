// RawHeaders: the IPv4 identifications that a UDP socket hides, read from a raw socket that gets
// the headers of the same packets. Needs CAP_NET_RAW; without it nothing is ever found.
//
//   headers.watch(source);                                   // from now on
//   headers.begin(source, first_packet);                     // of those that arrived together
//   if (auto allowed = headers.allow(identification, place)) ...
//
// Only of sources that are watched, and of those only 40 bytes a packet. Under the path's receive
// lock.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/unique_fd.h"
#include "wire/icrc.h"
#include "wire/opcode.h"

namespace gdr::net {

class RawHeaders {
 public:
  void watch(const wire::Address& source);
  // Packets have arrived together, of which the raw socket has seen the first one's header. Hot.
  void begin(const wire::Address& source, std::span<const std::byte> first);
  // Whether the packet at that place among them may have had that identification: whether the
  // first, or one with the same BTH, had the one that many before. Several may have the same BTH:
  // what was sent again after the UDP socket had dropped it. Nothing: none was seen.
  std::optional<bool> allow(std::uint16_t identification, std::uint16_t place);

 private:
  using Bth = std::array<std::byte, wire::kBthBytes>;
  struct Seen {
    wire::Address source;
    std::uint16_t identification;
    Bth bth;
  };
  void open();
  void install_filter();
  void read_all();

  UniqueFd socket_;
  bool tried_ = false;
  std::vector<wire::Address> sources_;
  std::deque<Seen> seen_;
  wire::Address first_source_{};  // of the packets that arrived last
  Bth first_bth_{};
};

}  // namespace gdr::net
