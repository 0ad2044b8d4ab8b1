// Queue pair 1 between the ports and GeneralServices. Cold.
#include <algorithm>
#include <cstring>

#include "net/packet_path.h"
#include "net/port_counts.h"

namespace gdr::net {

Result<std::shared_ptr<Gsi>> PacketPath::open_general_services(GsiUser user) {
  const Result<OpenPort*> port = open_port(user.device, rnic::kOwnAddress);
  if (!port) return port.error();
  open_other_ports(user.device);
  return general_services_.open(std::move(user));
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
  if (!arrival.is_stray) {
    count_mad(adapter_.port(port.device), ports::kFirstCmReceived, arrived.mad);
  }
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
  if (is_local && account_ports_at(*port, mad.destination).empty() &&
      !somebody_has_roce_port(mad.destination)) {
    return ECONNREFUSED;
  }
  return send_mad(*port, mad, is_local);
}

std::vector<std::uint16_t> PacketPath::account_ports_at(const OpenPort& port,
                                                        const wire::Address& address) {
  std::vector<std::uint16_t> ports = port.sharing->private_ports(address);
  account_ports_.see(address, ports, now());
  return ports;
}

void PacketPath::process_ended(std::uint32_t slot) {
  for (const wire::Address& address : account_ports_.addresses()) {
    general_services_.process_ended(address, slot);
  }
}

// Whoever has asked is there.
void PacketPath::answer_mad(std::uint32_t device, const Mad& mad) {
  OpenPort* port = port_at(device, mad.source);
  if (port == nullptr) return;
  const bool is_local = local_addresses_.contains(mad.destination);
  if (is_local) (void)account_ports_at(*port, mad.destination);  // remembers them
  (void)send_mad(*port, mad, is_local);
}

// Within this host a MAD leaves from the private port: processes of this account take no other, and
// one that this process has not met yet may be there. To others it is a port like any other.
int PacketPath::send_mad(OpenPort& port, const Mad& mad, bool is_local) {
  if (puts_off_.load(std::memory_order_acquire)) {
    const std::lock_guard guard(receive_lock_);  // no queue pair's lock is held here
    answer_others_than(nullptr);
  }
  const std::uint16_t source_port = is_local ? port.sharing->private_port() : wire::kRocePort;
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
    adapter_.port(port.device).add(ports::PortCount::kXmitDiscards);
    return error;
  }
  counters_.add(Counter::kPacketsSent);
  counters_.add(Counter::kBytesSent, bytes);
  ports::Port& counted = adapter_.port(port.device);
  count_sent(counted, port.port->address(), 1, bytes);
  count_mad(counted, static_cast<std::uint32_t>(ports::PortCount::kFirstCmSent), mad);
  // A port may have put it off.
  const Nanoseconds next = port.port->next_timeout();
  if (next != engine::kNever) thread_->wake_at(next);
  return 0;
}

int PacketPath::pass_on(const ArrivedMad& arrived, std::uint32_t slot) {
  OpenPort* port = port_at(arrived.device, arrived.mad.destination);
  if (port == nullptr) return ESRCH;
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

// Last words (a DREQ, a REJ) may be read when their process has ended. Requests have to come from
// one that is there: whoever has taken its port since must not speak first in its name, and to an
// id that this process has given out nobody speaks who does not know it.
bool PacketPath::is_forged(const ArrivedMad& arrived) {
  if (!local_addresses_.contains(arrived.mad.source)) return false;
  OpenPort* port = port_at(arrived.device, arrived.mad.destination);
  if (port == nullptr) return true;
  const auto ports = account_ports_at(*port, arrived.mad.source);
  if (ports.empty() || std::ranges::find(ports, arrived.source_port) != ports.end()) return false;
  const std::optional<MadRoute> route = route_of(arrived.mad);
  const bool is_request = !route || route->is_request;
  return is_request || !account_ports_.had(arrived.mad.source, arrived.source_port, now());
}

}  // namespace gdr::net
