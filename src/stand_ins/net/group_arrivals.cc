// Gives each member of this process what arrives for its multicast group. Hot.
#include "net/arrival_run.h"
#include "net/packet_path.h"
#include "net/port_counts.h"
#include "rnic/multicast.h"

namespace gdr::net {

// Processes of this user on this host have sent theirs by shared memory already.
void PacketPath::take_of_group(GroupPort& group, const Arrival& arrival, bool inline_progress) {
  if (adapter_.is_here(arrival.source)) return;
  counters_.add(Counter::kBytesReceived, arrival.bytes.size());
  identifications_.begin(arrival.source, arrival.bytes);
  arrived_at_ = now();
  Run run(*this, inline_progress);
  std::uint16_t place = 0;
  for (std::span<const std::byte> left = arrival.bytes; !left.empty(); ++place) {
    const std::size_t bytes = std::min<std::size_t>(left.size(), arrival.packet_bytes);
    take_packet_of_group(group, arrival, left.first(bytes), place, run);
    left = left.subspan(bytes);
  }
  counters_.add(Counter::kPacketsReceived, place);
  ports::Port& counted = adapter_.port(group.device);
  counted.add(ports::PortCount::kRcvMulticast, place);
  count_received(counted, group.port->address(), place, arrival.bytes.size());
}

void PacketPath::take_packet_of_group(GroupPort& group, const Arrival& arrival,
                                      std::span<const std::byte> bytes, std::uint16_t place,
                                      Run& run) {
  const wire::Address& address = group.port->address();
  wire::Packet packet;
  if (wire::parse(bytes, &packet) != wire::ParseError::kNone) {
    return counters_.add(Counter::kMalformed);
  }
  const wire::Flow flow{arrival.source, address, arrival.source_port, wire::kRocePort};
  if (!identifications_.accept(flow, bytes, place, arrived_at_)) {
    return counters_.add(Counter::kWrongIcrc);
  }
  if (packet.destination_qp != rnic::kMulticastQueuePair) {
    return counters_.add(Counter::kUnknownQueuePair);
  }
  if (!is_for(packet, IBV_QPT_UD)) return counters_.add(Counter::kWrongTransport);
  if (!wire::is_default_partition(packet.partition_key)) {
    return counters_.add(Counter::kWrongPartitionKey);
  }
  rnic::for_each_member(adapter_.segment(), [&](const rnic::Member& member) {
    if (member.group != address) return;
    PacketQueuePair* state =
        run.enter(rnic::make_qp_number(rnic::slot_of(adapter_.token()), member.queue_pair));
    const bool takes_it = state != nullptr && state->queue_pair().type() == IBV_QPT_UD &&
                          state->queue_pair().settings().device == group.device;
    if (takes_it) state->receive(packet, arrival.source, address, arrived_at_, arrival.congested);
  });
}

}  // namespace gdr::net
