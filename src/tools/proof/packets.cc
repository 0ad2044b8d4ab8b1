#include "proof/packets.h"

#include "host/inventory.h"

namespace gdr::proof {

CountPackets::Reply count_packets(const std::string& root, const std::string& nic,
                                  std::uint8_t port) {
  CountPackets::Reply counted;
  for (const host::Counter& counter : host::read_counters(root, nic, port)) {
    counted.known = true;
    if (counter.name == "port_rcv_packets" || counter.name == "rx_bytes") {
      counted.packets += counter.value;
    }
  }
  return counted;
}

}  // namespace gdr::proof
