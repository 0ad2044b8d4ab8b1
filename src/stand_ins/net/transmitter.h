// Transmitter: packets of one queue pair onto a port, in bursts: headers, payload where it lies,
// and ICRC, with one system call for up to 64 KiB. Keeps nothing between calls. Hot.
#pragma once

#include "net/packet_queue_pair.h"
#include "net/port.h"

namespace gdr::net {

class Transmitter {
 public:
  explicit Transmitter(Counters& counters) : counters_(counters) {}

  static constexpr std::uint32_t kAll = ~0u;
  // What a connected queue pair may send now, of it no more than so many times what one burst
  // holds. Under its send lock. Whether that is all.
  bool pump(PacketQueuePair& queue_pair, Port& port, Nanoseconds time, std::uint32_t most_bursts);
  // What the other side waits for, and no request; no more than a burst holds.
  void answer(PacketQueuePair& queue_pair, Port& port, Nanoseconds time);
  // The front request of a UD queue pair. EFAULT: its memory is gone.
  int datagram(PacketQueuePair& queue_pair, Port& port, const wire::Address& destination,
               std::uint8_t traffic_class);

 private:
  Counters& counters_;
};

}  // namespace gdr::net
