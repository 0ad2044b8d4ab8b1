// Identifications: whether a packet's ICRC is right although the socket hides its IPv4
// identification, which the ICRC covers.
//
// What this library sends has the identification 0, and 0, 1, 2 ... within a burst (udp_port.h): it
// is guessed, and a guess that fits is a check of all 32 bits. Any other is solved for, which makes
// the ICRC alone a check of 16 bits; so what was found has to be likely:
//   - below kMostPackets: of a burst that was taken apart on its way;
//   - what a raw socket has seen, where one is permitted: then all 32 bits are checked;
//   - else near the last one that was accepted from that source: kernels count up (Linux's rxe).
// The first such packet of a source is believed; one far away only if the next is near it, too.
// What remains unchecked is stated in docs/software-nic.md. IPv6 has no identification.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/clock.h"
#include "net/raw_headers.h"
#include "wire/icrc.h"

namespace gdr::net {

// The identification that makes the packet's ICRC right: the guess if it does, else what was solved
// for. Nothing: there is none. `packet` with its ICRC.
std::optional<std::uint16_t> find_identification(const wire::Flow& flow,
                                                 std::span<const std::byte> packet,
                                                 std::uint16_t guess);

class Identifications {
 public:
  // Packets have arrived together; accept() is asked for each of them. Hot.
  void begin(const wire::Address& source, std::span<const std::byte> packets) {
    raw_headers_.begin(source, packets);
  }
  // `guess`: its place among those that arrived together. `packet` with its ICRC.
  bool accept(const wire::Flow& flow, std::span<const std::byte> packet, std::uint16_t guess,
              Nanoseconds time);

 private:
  struct Seen {
    std::uint16_t identification = 0;
    Nanoseconds at = 0;
  };
  struct Source {
    Seen accepted, refused;
  };
  static bool is_near(const Seen& seen, const Seen& now);
  bool is_near_the_last(const wire::Address& source, std::uint16_t identification,
                        Nanoseconds time);

  struct Hash {
    std::size_t operator()(const wire::Address& address) const;
  };
  std::unordered_map<wire::Address, Source, Hash> sources_;
  RawHeaders raw_headers_;
};

}  // namespace gdr::net
