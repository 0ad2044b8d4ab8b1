// Queue pair 1 between the ports and GeneralServices. Cold.
#include <cstring>

#include "net/packet_path.h"

namespace gdr::net {

Result<std::shared_ptr<Gsi>> PacketPath::open_general_services(
    std::uint32_t device, std::function<void(const Mad&)> receive) {
  const Result<OpenPort*> port = open_port(device, rnic::kOwnAddress);
  if (!port) return port.error();
  open_other_ports(device);
  return general_services_.open(device, std::move(receive));
}

// Under the receive lock.
void PacketPath::take_mad(OpenPort& port, const Arrival& arrival, const wire::Packet& packet,
                          Nanoseconds time) {
  if (packet.transport() != wire::Transport::kUnreliableDatagram ||
      packet.operation() != wire::Operation::kSendOnly) {
    return refuse(port, Counter::kWrongTransport, time);
  }
  if (!wire::is_default_partition(packet.partition_key)) {
    return refuse(port, Counter::kWrongPartitionKey, time);
  }
  if (packet.payload.size() != kMadBytes || packet.pad != 0 ||
      packet.deth.qkey != kGeneralServicesQkey ||
      packet.deth.source_qp != kGeneralServicesQueuePair) {
    return refuse(port, Counter::kMalformed, time);
  }
  ArrivedMad arrived{.mad = {.source = arrival.source, .destination = port.port->address()},
                     .device = port.device,
                     .source_port = arrival.source_port,
                     .is_stray = arrival.is_stray};
  std::memcpy(arrived.mad.bytes.data(), packet.payload.data(), kMadBytes);
  switch (general_services_.take(arrived)) {
    case MadInbox::Put::kFirst:
      thread_->wake_at(0);
      return thread_->wake();
    case MadInbox::Put::kBehindOthers:
      return;
    case MadInbox::Put::kSourceHasNoRoom:
      mad_floods_.add(arrival.source, time);
      return refuse(port, Counter::kMadNoRoom, time);
    case MadInbox::Put::kNoRoom:
      mad_floods_.add_all(time);
      return refuse(port, Counter::kMadNoRoom, time);
  }
}

int PacketPath::send_mad(std::uint32_t device, const Mad& mad) {
  if (!route_of(mad)) return EPROTONOSUPPORT;
  if (adapter_.is_forked()) return ENODEV;
  OpenPort* port = port_at(device, mad.source);
  if (port == nullptr) return EADDRNOTAVAIL;
  if (wire::is_ipv4(mad.source) != wire::is_ipv4(mad.destination)) return ENETUNREACH;
  const bool is_local = local_addresses_.contains(mad.destination);
  const bool is_own_account =
      is_local && port->sharing->is_private_port(mad.destination, 0).has_value();
  if (is_local && !is_own_account && !somebody_has_roce_port(mad.destination)) {
    return ECONNREFUSED;
  }
  return send_mad(*port, mad, is_own_account);
}

// Whoever has asked is there.
void PacketPath::answer_mad(std::uint32_t device, const Mad& mad) {
  OpenPort* port = port_at(device, mad.source);
  if (port == nullptr) return;
  const bool is_own_account = local_addresses_.contains(mad.destination) &&
                              port->sharing->is_private_port(mad.destination, 0).has_value();
  (void)send_mad(*port, mad, is_own_account);
}

// A MAD between two processes of this account leaves from the private port.
int PacketPath::send_mad(OpenPort& port, const Mad& mad, bool is_own_account) {
  const std::uint16_t source_port = is_own_account ? port.sharing->private_port() : wire::kRocePort;
  const wire::Flow flow{mad.source, mad.destination, source_port, wire::kRocePort};
  std::vector<std::byte> packet = make_mad_packet(flow, next_mad_psn_.fetch_add(1), mad);
  const auto bytes = static_cast<std::uint32_t>(packet.size());
  iovec piece{packet.data(), bytes};
  const int error = port.port->send({.destination = mad.destination,
                                     .source_port = source_port,
                                     .pieces = {&piece, 1},
                                     .packet_bytes = bytes,
                                     .bytes = bytes});
  if (error != 0) {
    counters_.add(Counter::kNotSent);
    return error;
  }
  counters_.add(Counter::kPacketsSent);
  counters_.add(Counter::kBytesSent, bytes);
  // A port may have put it off.
  const Nanoseconds next = port.port->next_timeout();
  if (next != engine::kNever) thread_->wake_at(next);
  return 0;
}

bool PacketPath::pass_on(const ArrivedMad& arrived, std::uint32_t slot) {
  OpenPort* port = port_at(arrived.device, arrived.mad.destination);
  if (port == nullptr) return false;
  const wire::Flow flow{arrived.mad.source, arrived.mad.destination, arrived.source_port,
                        wire::kRocePort};
  const std::vector<std::byte> packet = make_mad_packet(flow, 0, arrived.mad);
  return port->sharing->pass_on(slot, {.source = arrived.mad.source,
                                       .source_port = arrived.source_port,
                                       .bytes = packet,
                                       .packet_bytes = static_cast<std::uint32_t>(packet.size())});
}

void PacketPath::listeners_changed(std::uint32_t device) {
  const std::size_t count = port_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (ports_[i].device == device) ports_[i].sharing->listeners_changed();
  }
  thread_->wake_at(0);
  thread_->wake();
}

bool PacketPath::is_forged(const ArrivedMad& arrived) {
  if (!local_addresses_.contains(arrived.mad.source)) return false;
  OpenPort* port = port_at(arrived.device, arrived.mad.destination);
  if (port == nullptr) return true;
  return !port->sharing->is_private_port(arrived.mad.source, arrived.source_port).value_or(true);
}

}  // namespace gdr::net
