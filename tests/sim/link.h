// Link: one direction of a wire in virtual time: bandwidth, a queue that overflows, delay, and what
// goes wrong on the way.
#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.h"
#include "random.h"

namespace gdr::sim {

struct LinkSettings {
  std::uint64_t bits_per_second = 0;  // 0: no limit
  Nanoseconds delay = 0;
  std::uint64_t queue_bytes = ~std::uint64_t{0};  // what finds it full is lost
  std::uint64_t mark_bytes = ~std::uint64_t{0};   // what finds more is marked (ECN)
  // Per million packets.
  std::uint32_t loss = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t reorder = 0;  // kept back for up to `reorder_delay`
  std::uint32_t corrupt = 0;
  Nanoseconds reorder_delay = 0;
};

struct Datagram {
  Nanoseconds at = 0;
  std::uint64_t order = 0;
  std::size_t to = 0;  // the host that it goes to
  bool marked = false;
  bool corrupted = false;
  std::vector<std::byte> bytes;
};

class Link {
 public:
  Link(const LinkSettings& settings, std::uint64_t seed) : settings_(settings), random_(seed) {}

  void send(Nanoseconds now, std::size_t to, std::vector<std::byte> bytes);
  Nanoseconds next() const;  // when something arrives
  Datagram take();
  // When no more than `bytes` wait to be sent.
  Nanoseconds drained_to(std::uint64_t bytes) const;

 private:
  void deliver(Datagram datagram);
  Nanoseconds time_of(std::uint64_t bytes) const;

  LinkSettings settings_;
  Random random_;
  Nanoseconds free_at_ = 0;
  std::uint64_t sent_ = 0;
  std::vector<Datagram> on_the_way_;  // a heap: the earliest in front
};

}  // namespace gdr::sim
