// Probe: shows that a client is where it says, before any load goes there. The server sends one
// small datagram with a random number to that GID or LID; the client says over TCP what has come.
// Whoever is elsewhere does not see it, so nobody can have a server flood a place that takes no
// part in it. A datagram serves every transport and network alike, needs no connection, and is
// never repeated by the NIC. The number is its immediate and there is no payload, so that a NIC
// that spoils data, which --check is there to find, gets as far as being measured.
//
//   Result<ProbeTarget> target = ProbeTarget::create(devices);              // client
//   control.call(Probe{... target->queue_pair()});
//   std::vector<std::uint32_t> values = target->await(100 * kMillisecond);
//
//   Result<void> sent = send_probe(devices, *destination, queue_pair, number);   // server
#pragma once

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "perf/destination.h"
#include "perf/devices.h"
#include "perf/messages.h"
#include "rdma/queue_pair.h"

namespace gdr::perf {

// Returns when it has left.
Result<void> send_probe(const Devices& devices, const Destination& to, std::uint32_t queue_pair,
                        std::uint32_t value);

class ProbeTarget {
 public:
  static Result<ProbeTarget> create(const Devices& devices);

  std::uint32_t queue_pair() const { return pair_->number(); }
  // What has come so far, as soon as something has; nothing: nothing has within that time.
  std::vector<std::uint32_t> await(Nanoseconds timeout);

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  ProbeTarget() = default;
  Result<void> post(const Devices& devices);

  std::unique_ptr<std::byte[], Free> memory_;
  rdma::MemoryRegion region_;
  std::optional<rdma::QueuePair> pair_;
};

}  // namespace gdr::perf
