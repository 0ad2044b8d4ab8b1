// Life of the path, and what leaves it. What arrives is in arrivals.cc.
#include "net/packet_path.h"

#include <algorithm>

#include "base/random.h"
#include "engine/transmit.h"
#include "net/interface.h"
#include "net/pcap_port.h"
#include "rnic/delivery/segments.h"
#include "rnic/gids.h"

namespace gdr::net {
namespace {

// Half of what a socket holds: the answers of others come to it, too.
constexpr std::uint32_t kRoomShare = 2;
constexpr std::uint32_t kLeastRoom = 64 << 10;
constexpr std::uint32_t kMostRoom = 2 << 20;

}  // namespace

Result<std::unique_ptr<rnic::BeyondCarrier>> PacketPath::make(rnic::Adapter& adapter) {
  Result<Settings> settings = settings_from_environment();
  if (!settings) return settings.error();
  return std::unique_ptr<rnic::BeyondCarrier>(new PacketPath(adapter, *std::move(settings)));
}

PacketPath::PacketPath(rnic::Adapter& adapter, Settings settings)
    : adapter_(adapter),
      counters_(Counters::of_process()),
      settings_(std::move(settings)),
      transmitter_(counters_),
      general_services_(adapter, counters_, *this),
      next_mad_psn_(static_cast<std::uint32_t>(random_u64())) {}

PacketPath::~PacketPath() = default;

// The capture is of what really leaves: it is the inner one.
Result<std::unique_ptr<Port>> PacketPath::wrap(std::unique_ptr<Port> port) {
  if (settings_.pcap_file) {
    Result<std::unique_ptr<PcapFile>> file = PcapFile::open(*settings_.pcap_file);
    if (!file) return file.error();
    port = std::make_unique<PcapPort>(std::move(port), *std::move(file));
  }
  if (settings_.faults) port = std::make_unique<FaultyPort>(std::move(port), *settings_.faults);
  return port;
}

Result<PacketPath::OpenPort*> PacketPath::open_port(std::uint32_t device, std::uint32_t address) {
  const std::lock_guard guard(open_mutex_);
  const std::size_t count = port_count_.load();
  for (std::size_t i = 0; i < count; ++i) {
    if (ports_[i].device == device && ports_[i].address == address) return &ports_[i];
  }
  Result<std::unique_ptr<UdpPort>> port =
      UdpPort::open(adapter_.devices()[device].addresses[address].gid);
  if (!port) return port.error();
  if (thread_ == nullptr) {
    auto thread = std::make_unique<ProgressThread>(*this);
    if (Result<void> started = thread->start(); !started) return started.error();
    thread_ = std::move(thread);
  }
  OpenPort& opened = ports_[count];
  opened.device = device;
  opened.address = address;
  opened.room = std::clamp((*port)->receive_room() / kRoomShare, kLeastRoom, kMostRoom);
  opened.path_mtu = path_mtu_of((*port)->interface_mtu());
  const auto interface = find_interface((*port)->address());
  opened.interface = interface && !interface->is_loopback ? interface->index : 0;
  opened.sharing = std::make_unique<PortSharing>(adapter_, device, address, **port);
  if (Result<void> shared = opened.sharing->open(); !shared) return shared.error();
  opened.gate =
      std::make_unique<FloodGate>((*port)->descriptor(), wire::is_ipv4((*port)->address()),
                                  counters_, [this, &opened] { return rules_of(opened); });
  Result<std::unique_ptr<Port>> wrapped = wrap(*std::move(port));
  if (!wrapped) return wrapped.error();
  opened.port = *std::move(wrapped);
  thread_->watch(opened.port->descriptor());
  thread_->watch(opened.sharing->descriptor());
  port_count_.store(count + 1);
  adapter_.poll_beyond(this);
  thread_->wake_at(0);
  thread_->wake();
  opened.sharing->await_join();
  return &opened;
}

PacketPath::OpenPort* PacketPath::port_of(const rnic::QueuePair& queue_pair,
                                          std::uint32_t address) {
  const std::size_t count = port_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (ports_[i].device == queue_pair.settings().device && ports_[i].address == address) {
      return &ports_[i];
    }
  }
  return nullptr;
}

// Datagrams arrive by each of the device's addresses. An address that the interface has not taken
// into use, or has lost, is none.
void PacketPath::open_other_ports(std::uint32_t device) {
  const auto& addresses = adapter_.devices()[device].addresses;
  for (std::uint32_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].is_carried && i != rnic::kOwnAddress) (void)open_port(device, i);
  }
}

// The address that packets to a queue pair's GID have. A link-local GID that no interface has is a
// device's of this host, of the process that the number names.
wire::Address PacketPath::reached_at(std::span<const std::uint8_t, 16> gid, std::uint32_t number) {
  wire::Address address;
  std::copy(gid.begin(), gid.end(), address.begin());
  if (!rnic::is_link_local(gid)) return address;
  const auto look_at = [&](rnic::Segment& segment) {
    if (rnic::slot_of(rnic::read_once(segment.header().token)) != rnic::slot_of_qp(number)) {
      return false;
    }
    const auto carried = rnic::carried_as(segment.header(), gid);
    if (carried) address = *carried;
    return true;
  };
  if (!look_at(adapter_.segment())) adapter_.neighbours().any_segment(look_at);
  return address;
}

PacketPath::OpenPort* PacketPath::port_at(std::uint32_t device, const wire::Address& address) {
  const std::size_t count = port_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (ports_[i].device == device && ports_[i].port->address() == address) return &ports_[i];
  }
  return nullptr;
}

PacketQueuePair& PacketPath::state_of(rnic::QueuePair& queue_pair) {
  return static_cast<PacketQueuePair&>(*queue_pair.packet_state);
}

int PacketPath::connect(rnic::QueuePair& queue_pair) {
  const bool datagrams = queue_pair.type() == IBV_QPT_UD;
  const auto& srq = queue_pair.settings().srq;
  // Announced messages are read over a connection within the host.
  if (srq != nullptr && srq->matches_tags()) return EOPNOTSUPP;
  const ibv_ah_attr& path = queue_pair.attributes().ah_attr;
  const std::uint32_t device = queue_pair.settings().device;
  const std::uint32_t address =
      datagrams
          ? rnic::kOwnAddress
          : sending_address(adapter_.devices()[device], rnic::address_of_gid(path.grh.sgid_index));
  const Result<OpenPort*> port = open_port(device, address);
  // Datagrams within the host need no port.
  if (!port) return datagrams && !settings_.takes_everything ? 0 : port.error().code;
  if (datagrams) {
    open_other_ports(device);
  } else {
    thread_->always_expect_packets();
  }
  const wire::Address peer =
      datagrams ? wire::Address{}
                : reached_at(path.grh.dgid.raw, queue_pair.attributes().dest_qp_num);
  auto state = std::make_unique<PacketQueuePair>(adapter_, queue_pair, peer, counters_,
                                                 pinned_pool_, placer_, due_);
  const KnownFlow flow = flow_of(**port, queue_pair, peer);
  state->set_flow(flow, (*port)->sharing->private_port());
  queue_pair.packet_state = std::move(state);
  {
    const std::lock_guard guard(connected_mutex_);
    // Seldom enough that a connection does not cost more the more there are.
    if (connected_.size() >= connected_to_purge_) {
      std::erase_if(connected_,
                    [](const auto& known) { return known.second.queue_pair.expired(); });
      connected_to_purge_ = std::max(kLeastPurged, 2 * connected_.size());
    }
    connected_.insert_or_assign(flow.number,
                                Connected{queue_pair.weak_from_this(), device, address, flow});
    if (gpu_is_registered()) start_copy_thread();
  }
  const std::size_t count = port_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (ports_[i].device == device) ports_[i].gate->flows_changed();
  }
  return 0;
}

// What its packets will go through is made ready now, when no kernel waits for them yet.
void PacketPath::serves_memory_of(memory::PeerMemoryClient& client) {
  const std::lock_guard guard(connected_mutex_);
  if (connected_.empty() && !settings_.takes_everything) return;
  pinned_pool_.prepare(client);
  start_copy_thread();
}

// Under connected_mutex_. Without one the progress thread does its work.
void PacketPath::start_copy_thread() {
  if (copy_thread_ != nullptr) return;
  auto thread = std::make_unique<CopyThread>(*this);
  if (!thread->start()) return;
  copy_thread_ = std::move(thread);
  copies_.store(copy_thread_.get());
  copy_thread_->wake();  // there may be work that the progress thread had begun
}

KnownFlow PacketPath::flow_of(const OpenPort& port, const rnic::QueuePair& queue_pair,
                              const wire::Address& peer) {
  KnownFlow flow;
  flow.number = queue_pair.number();
  flow.connected = queue_pair.type() != IBV_QPT_UD;
  if (!flow.connected) return flow;
  flow.source = peer;
  flow.slot = rnic::slot_of_qp(queue_pair.attributes().dest_qp_num);
  if (find_interface(flow.source)) {
    flow.place = PeerPlace::kOtherAccount;
    flow.port = wire::kRocePort;
  }
  place_peer(port, flow);
  return flow;
}

// A process of this user may be met, or open its port, only after the two were connected.
void PacketPath::place_peer(const OpenPort& port, KnownFlow& flow) {
  const bool known = flow.place == PeerPlace::kOwnAccount && flow.port != 0;
  if (flow.place == PeerPlace::kBeyond || known) return;
  if (const auto own = port.sharing->private_port_of(flow.slot, flow.source)) {
    flow.place = PeerPlace::kOwnAccount;
    flow.port = *own;
  }
}

PortRules PacketPath::rules_of(const OpenPort& port) {
  PortRules rules;
  rules.own_slot = rnic::slot_of(adapter_.token());
  rules.slots = port.sharing->slots();
  rules.mads = mad_floods_.present(now());
  const std::lock_guard guard(connected_mutex_);
  for (auto& [number, known] : connected_) {
    const bool is_here =
        known.device == port.device && (!known.flow.connected || known.address == port.address);
    if (!is_here || known.queue_pair.expired()) continue;
    place_peer(port, known.flow);
    rules.flows.push_back(known.flow);
  }
  return rules;
}

void PacketPath::found_readable(int descriptor) {
  const std::size_t count = port_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (ports_[i].sharing->descriptor() == descriptor) ports_[i].sharing->look();
  }
}

void PacketPath::send(rnic::QueuePair& queue_pair) {
  const bool datagrams = queue_pair.type() == IBV_QPT_UD;
  answer_before(datagrams ? nullptr : &queue_pair);
  if (datagrams) {
    while (queue_pair.has_front_for(*this)) send_datagram(queue_pair);
    return;
  }
  if (gpu_is_registered()) return send_later(queue_pair);
  thread_->polled();
  const Nanoseconds time = now();
  PacketQueuePair& state = state_of(queue_pair);
  state.start_sending(port_of(queue_pair)->room);
  state.connection()->posted(time);
  pump(queue_pair, time);
}

void PacketPath::send_later(rnic::QueuePair& queue_pair) {
  PacketQueuePair& state = state_of(queue_pair);
  state.start_sending(port_of(queue_pair)->room);
  state.set_posted();
  look_after(queue_pair);
}

// Under the queue pair's send lock.
void PacketPath::pump(rnic::QueuePair& queue_pair, Nanoseconds time, std::uint32_t most_bursts) {
  OpenPort* port = port_of(queue_pair);
  PacketQueuePair& state = state_of(queue_pair);
  if (port == nullptr || state.connection() == nullptr) return;
  const bool is_all = transmitter_.pump(state, *port->port, time, most_bursts);
  const Nanoseconds own = state.connection()->next_timeout();
  if (own != engine::kNever) keep_timers_of(queue_pair);
  const Nanoseconds next = std::min(own, port->port->next_timeout());
  if (next != engine::kNever) thread_->wake_at(next);
  if (state.is_moving() || !is_all) return look_after(queue_pair);
  state.release_responder();
}

// The front one, which completes with it. Its keys are looked at once, when its packet is made.
void PacketPath::send_datagram(rnic::QueuePair& queue_pair) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  const auto bytes = static_cast<std::uint32_t>(request.total_bytes);
  const rnic::AddressVector& address = request.address;
  const std::uint32_t source =
      sending_address(adapter_.devices()[queue_pair.settings().device], address.source_address);
  OpenPort* port = queue_pair.packet_state != nullptr ? port_of(queue_pair, source) : nullptr;
  const std::uint32_t most = port != nullptr ? port->path_mtu : rnic::kDatagramBytes;
  if (port == nullptr || request.total_bytes > most) {
    if (!rnic::keys_are_right(adapter_.regions(), request.segments(), queue_pair.domain_of(request),
                              rnic::kReadHere)) {
      return queue_pair.complete_front(IBV_WC_LOC_PROT_ERR, 0);
    }
    if (request.total_bytes > most) return queue_pair.complete_front(IBV_WC_LOC_LEN_ERR, 0);
    // No port: nothing leaves this host, as from a NIC whose cable is out.
    counters_.add(Counter::kNotSent);
    queue_pair.port().add(ports::PortCount::kXmitDiscards);
    return queue_pair.complete_front(IBV_WC_SUCCESS, bytes);
  }
  thread_->expect_packets();
  PacketQueuePair& state = state_of(queue_pair);
  state.start_sending(port->room);
  const int error = transmitter_.datagram(state, *port->port,
                                          reached_at(address.destination_gid, request.remote_qp),
                                          address.traffic_class);
  // A port may have put it off.
  const Nanoseconds next = port->port->next_timeout();
  if (next != engine::kNever) thread_->wake_at(next);
  if (error == 0) queue_pair.port().add(ports::PortCount::kMoreSends);
  queue_pair.complete_front(error == 0 ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR, bytes);
}

void PacketPath::cancel(rnic::QueuePair& queue_pair) {
  if (queue_pair.packet_state == nullptr) return;
  // What the other side waits for leaves first: the acknowledge of its last message.
  PacketQueuePair& state = state_of(queue_pair);
  state.finish_moving();
  send_answers(queue_pair, now());
  state.finish_moving();
  queue_pair.packet_state.reset();
}

// Under its send lock.
void PacketPath::send_answers(rnic::QueuePair& queue_pair, Nanoseconds time) {
  PacketQueuePair& state = state_of(queue_pair);
  OpenPort* port = port_of(queue_pair);
  if (port == nullptr || state.connection() == nullptr) return;
  transmitter_.answer(state, *port->port, time);
}

void PacketPath::prepare_fork() {
  groups_mutex_.lock();
  open_mutex_.lock();
  connected_mutex_.lock();
  general_services_.prepare_fork();
}

void PacketPath::parent_of_fork() {
  general_services_.after_fork();
  connected_mutex_.unlock();
  open_mutex_.unlock();
  groups_mutex_.unlock();
}

// Its threads are the parent's, its sockets too: nothing is sent or received here.
void PacketPath::child_of_fork() {
  adapter_.poll_beyond(nullptr);
  port_count_.store(0);
  for (OpenPort& port : ports_) {
    port.gate.reset();
    port.sharing.reset();
    port.port.reset();
  }
  groups_.close_all();
  if (thread_ != nullptr) thread_->close_in_child();
  if (copy_thread_ != nullptr) copy_thread_->close_in_child();
  general_services_.after_fork();
  connected_mutex_.unlock();
  open_mutex_.unlock();
  groups_mutex_.unlock();
}

}  // namespace gdr::net
