// RawHeaders: the IPv4 identifications that a UDP socket hides, read from a raw socket that gets
// the headers of the same packets. Needs CAP_NET_RAW; without it nothing is ever found.
//
//   headers.watch(source);                                   // from now on
//   if (auto identification = headers.find(source, packet, place)) ...
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
  // Of the oldest packet seen that begins with the same BTH; `place` among those that arrived
  // together, of which only the first one's header is seen.
  std::optional<std::uint16_t> find(const wire::Address& source, std::span<const std::byte> packet,
                                    std::uint16_t place);

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
  std::uint16_t first_ = 0;  // the identification of the last arrival's first packet
  bool has_first_ = false;
};

}  // namespace gdr::net
