// Layout: where the messages of a station lie in its memory. Both sides compute the same one.
//
//   incoming places of every queue pair, then outgoing ones; `slots` of each, `stride` apart
//
// Without --check there is one slot: a message goes where the one before it went, as in perftest.
#pragma once

#include <cstdint>

#include "perf/load.h"

namespace gdr::perf {

struct Layout {
  std::uint64_t stride = 0;
  std::uint32_t slots = 1;  // a power of two
  std::uint32_t queue_pairs = 1;
  std::uint32_t head = 0;  // bytes before an incoming message: UD's global route header

  std::uint64_t of_queue() const { return stride * slots; }
  std::uint64_t bytes() const { return 2 * of_queue() * queue_pairs; }
  std::uint64_t incoming(std::uint32_t queue) const { return of_queue() * queue; }
  std::uint64_t outgoing(std::uint32_t queue) const { return of_queue() * (queue_pairs + queue); }
  std::uint64_t slot(std::uint64_t message) const { return (message & (slots - 1)) * stride; }
};

// One receive queue for all queue pairs of a station.
bool has_shared_queue(const Load& load);
// Receive requests of one queue pair, or of the shared queue; a NIC may have room for fewer.
std::uint32_t receives_of(const Load& load, const Layout& layout);

Layout make_layout(const Load& load, std::uint64_t largest, std::uint32_t queue_pairs);

}  // namespace gdr::perf
