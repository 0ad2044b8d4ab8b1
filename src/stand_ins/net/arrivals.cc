// Gives each arriving packet to its queue pair, in runs, so that a queue pair is locked, and
// answers, once for many. Hot.
#include <sched.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/spin_lock.h"
#include "net/arrival_run.h"
#include "net/packet_path.h"
#include "net/port_counts.h"
#include "rnic/delivery/responder_lock.h"

namespace gdr::net {

// Null: there is none. Stays until it is asked for another one.
const std::shared_ptr<rnic::QueuePair>& PacketPath::queue_pair(std::uint32_t number) {
  KnownQueuePair& known = known_[number % known_.size()];
  if (known.number != number || known.queue_pair == nullptr) {
    known = {number, adapter_.queue_pair(number)};
  }
  return known.queue_pair;
}

bool PacketPath::progress() {
  if (gpu_is_registered() || !thread_->expects_packets()) return false;
  thread_->polled();
  receive_all(true);
  // A program that has found its queue empty may take what it learns next, such as a disconnect, to
  // be later than everything in the queue.
  return true;
}

std::optional<std::uint32_t> PacketPath::serve() { return receive_all(false); }

std::optional<std::uint32_t> PacketPath::receive_all(bool inline_progress) {
  const std::unique_lock guard(receive_lock_, std::try_to_lock);
  if (!guard) {
    // Whoever holds it may be waiting for this very core.
    if (inline_progress) sched_yield();
    return std::nullopt;
  }
  if (const std::uint64_t destroyed = adapter_.destroyed_queue_pairs(); destroyed != known_at_) {
    known_.fill({});
    known_at_ = destroyed;
  }
  if (!deferred_.empty()) {
    answer_all(deferred_);
    puts_off_.store(false, std::memory_order_release);
  }
  const std::uint64_t asked = taken_.asked();
  const Taken taken = take_some(inline_progress);
  if (taken.arrivals > 0) thread_->expect_packets();
  if (thread_moves()) {
    move();
    if (inline_progress) thread_->wake();
  }
  if (!answers_.empty()) answer_all(answers_);
  tell_events(due_);
  // Should the program not poll again.
  if (!deferred_.empty()) {
    puts_off_.store(true);
    thread_->wake_at(arrived_at_ + kMostPutOff);
  }
  taken_.count(taken.arrivals, taken.is_all, asked);
  return taken.arrivals;
}

// Takes a few arrivals from each source. Under the receive lock.
PacketPath::Taken PacketPath::take_some(bool inline_progress) {
  Taken taken;
  taken.arrivals = take_late();
  Arrival arrival;
  const std::size_t ports = port_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < ports && deferred_.empty(); ++i) {
    std::uint32_t others = 0;
    for (; others < kMostArrivals && ports_[i].sharing->receive(&arrival); ++others) {
      take(ports_[i], arrival, inline_progress);
    }
    std::uint32_t own = 0;
    while (own < kMostArrivals && ports_[i].port->receive(&arrival)) {
      take(ports_[i], arrival, inline_progress);
      ++own;
      if (!deferred_.empty()) break;
    }
    taken.arrivals += others + own;
    taken.is_all = taken.is_all && std::max(others, own) < kMostArrivals;
  }
  for (GroupPort& group : groups_.all()) {
    for (std::uint32_t n = 0; n < kMostArrivals && group.port->receive(&arrival); ++n) {
      take_of_group(group, arrival, inline_progress);
      ++taken.arrivals;
    }
  }
  taken.is_all = taken.is_all && deferred_.empty() && late_.empty();
  return taken;
}

// After the answers, as hardware acknowledges before it interrupts: a program that it wakes may
// send something by another queue pair, and other programs count on the order of the two
// (perftest).
void PacketPath::tell_events(std::vector<std::uint32_t>& due) {
  for (const std::uint32_t queue : due) adapter_.tell_of_push(rnic::Push::kEventDue, queue);
  due.clear();
}

// Acknowledges, and what an acknowledgement has made room for: together for packets that arrived
// one behind the other. But a program that polls gets a message first, and the acknowledge waits
// until it polls again: what it does then is often the answer that the other side waits for, and
// the acknowledge goes with it.
void PacketPath::answer_all(std::vector<std::shared_ptr<rnic::QueuePair>>& waiting) {
  const Nanoseconds time = now();
  for (const auto& queue_pair : waiting) {
    const std::lock_guard guard(queue_pair->send_lock());
    if (queue_pair->packet_state != nullptr) answer(*queue_pair, time);
  }
  waiting.clear();
}

// Under its send lock. Where there is a copy thread it sends the requests, so that arrivals do not
// wait for them. Answers leave now, before the program is told of anything.
void PacketPath::answer(rnic::QueuePair& queue_pair, Nanoseconds time) {
  if (!has_copy_thread() || queue_pair.send_ring().empty()) return pump(queue_pair, time);
  send_answers(queue_pair, time);
  look_after(queue_pair);
}

// A program may answer a message by another queue pair or by a management datagram, such as a
// request for the next connection. As from a NIC, the message's own acknowledge comes first: its
// sender may have to see the end of the one before it is ready for the other. Hot.
//
// Whoever holds the receive lock sends what has been put off, and is waited for. Not for ever: it
// may be waiting for the sender's lock, which the caller holds.
void PacketPath::answer_before(const rnic::QueuePair* sender) {
  for (int i = 0; puts_off_.load(std::memory_order_acquire) && i < rnic::kLockSpins; ++i) {
    const std::unique_lock guard(receive_lock_, std::try_to_lock);
    if (guard) return answer_others_than(sender);
    cpu_relax();
  }
}

// Under the receive lock.
void PacketPath::answer_others_than(const rnic::QueuePair* sender) {
  std::erase_if(deferred_, [&](const std::shared_ptr<rnic::QueuePair>& waiting) {
    if (waiting.get() == sender) return false;  // it goes with what leaves now
    const std::unique_lock send_guard(waiting->send_lock(), std::try_to_lock);
    if (!send_guard) return false;
    if (waiting->packet_state != nullptr) answer(*waiting, now());
    return true;
  });
  puts_off_.store(!deferred_.empty(), std::memory_order_release);
}

// Packets at the front of `left` that the kernel gave this process in another's stead go to that
// one, together. How many bytes: 0 if the first is not for another process.
std::size_t PacketPath::hand_over(OpenPort& port, const Arrival& arrival,
                                  std::span<const std::byte> left) {
  const auto slot_at = [&](std::size_t at) -> std::uint32_t {
    if (at + wire::kBthBytes > left.size()) return 0;
    return rnic::slot_of_qp(load_be32(left.data() + at + 4));
  };
  const std::uint32_t slot = slot_at(0);
  if (slot == 0 || slot == rnic::slot_of(adapter_.token())) return 0;
  std::size_t bytes = 0;
  while (slot_at(bytes) == slot) bytes += arrival.packet_bytes;
  Arrival stray = arrival;
  stray.bytes = left.first(std::min(bytes, left.size()));
  if (port.sharing->hand_over(slot, stray)) {
    counters_.add(Counter::kForwarded);
  } else {
    refuse(port, Counter::kUnknownQueuePair, arrived_at_);
  }
  return stray.bytes.size();
}

// Many of them may be a flood.
void PacketPath::refuse(OpenPort& port, Counter cause, Nanoseconds time) {
  counters_.add(cause);
  ports::Port& counted = adapter_.port(port.device);
  counted.add(ports::PortCount::kRcvErrors);
  if (cause == Counter::kWrongIcrc) counted.add(ports::PortCount::kWrongIcrc);
  if (port.gate->refused(time)) thread_->wake_at(port.gate->run(time));
}

void PacketPath::take(OpenPort& port, const Arrival& arrival, bool inline_progress) {
  if (port.sharing->take_question(arrival)) {
    // Somebody has joined, perhaps.
    if (port.gate->is_shut()) port.gate->flows_changed();
    return;
  }
  counters_.add(Counter::kBytesReceived, arrival.bytes.size());
  identifications_.begin(arrival.source, arrival.bytes);
  const Nanoseconds time = arrived_at_ = now();
  Run run(*this, inline_progress);
  std::span<const std::byte> left = arrival.bytes;
  std::uint16_t place = 0;
  if (left.empty()) {
    counters_.add(Counter::kPacketsReceived);
    return refuse(port, Counter::kMalformed, time);
  }
  while (!left.empty()) {
    std::size_t bytes = hand_over(port, arrival, left);
    if (bytes == 0) {
      bytes = std::min<std::size_t>(left.size(), arrival.packet_bytes);
      take_packet(port, arrival, left.first(bytes), place, time, run);
    }
    place = static_cast<std::uint16_t>(place +
                                       (bytes + arrival.packet_bytes - 1) / arrival.packet_bytes);
    left = left.subspan(bytes);
  }
  counters_.add(Counter::kPacketsReceived, place);
  // What another process hands over, that one has counted.
  if (arrival.is_stray) return;
  count_received(adapter_.port(port.device), port.port->address(), place, arrival.bytes.size());
}

void PacketPath::take_packet(OpenPort& port, const Arrival& arrival,
                             std::span<const std::byte> bytes, std::uint16_t place,
                             Nanoseconds time, Run& run) {
  wire::Packet packet;
  if (wire::parse(bytes, &packet) != wire::ParseError::kNone) {
    return refuse(port, Counter::kMalformed, time);
  }
  const wire::Flow flow{arrival.source, port.port->address(), arrival.source_port, wire::kRocePort};
  if (!identifications_.accept(flow, bytes, place, time)) {
    return refuse(port, Counter::kWrongIcrc, time);
  }
  if (packet.destination_qp == kGeneralServicesQueuePair) {
    return take_mad(port, arrival, packet, time);
  }
  // Else arrivals of all queue pairs would wait until this one has sent. A later acknowledge may
  // overtake it, as on a network.
  const bool may_be_late = has_copy_thread() && late_.size() < kMostWaiting &&
                           packet.operation() == wire::Operation::kAcknowledge &&
                           bytes.size() <= sizeof LateAcknowledge::bytes;
  if (may_be_late && !run.try_enter(packet.destination_qp)) {
    LateAcknowledge late{&port, arrival, bytes.size(), {}};
    late.arrival.bytes = {};
    std::copy(bytes.begin(), bytes.end(), late.bytes.begin());
    has_late_.store(true, std::memory_order_relaxed);
    return late_.push_back(late);
  }
  deliver(port, arrival, packet, time, run);
}

// How many.
std::uint32_t PacketPath::take_late() {
  if (late_.empty()) return 0;
  const std::size_t taken = std::erase_if(late_, [&](const LateAcknowledge& late) {
    wire::Packet packet;
    (void)wire::parse(std::span(late.bytes).first(late.length), &packet);  // as it did before
    Run run(*this, false);
    if (!run.try_enter(packet.destination_qp)) return false;
    deliver(*late.port, late.arrival, packet, now(), run);
    return true;
  });
  has_late_.store(!late_.empty(), std::memory_order_relaxed);
  return static_cast<std::uint32_t>(taken);
}

void PacketPath::deliver(OpenPort& port, const Arrival& arrival, const wire::Packet& packet,
                         Nanoseconds time, Run& run) {
  PacketQueuePair* state = run.enter(packet.destination_qp);
  if (state == nullptr) {
    return refuse(port, run.has_queue_pair() ? Counter::kNotReceiving : Counter::kUnknownQueuePair,
                  time);
  }
  const ibv_qp_type type = state->queue_pair().type();
  if (!is_for(packet, type)) return refuse(port, Counter::kWrongTransport, time);
  if (!wire::is_default_partition(packet.partition_key)) {
    return refuse(port, Counter::kWrongPartitionKey, time);
  }
  // A connection takes packets of its other end only, at its own address (9.6.1.3).
  const bool is_connected = type != IBV_QPT_UD;
  if (state->queue_pair().settings().device != port.device ||
      (is_connected && (state->own_address() != port.address ||
                        !wire::is_same(state->peer_address(), arrival.source)))) {
    return refuse(port, Counter::kWrongAddress, time);
  }
  if (!is_from_peer(port, *state, arrival, time)) {
    return refuse(port, Counter::kWrongSourcePort, time);
  }
  state->receive(packet, arrival.source, port.port->address(), time, arrival.congested);
}

// Within a host the source port tells accounts apart: see private_socket.h.
bool PacketPath::is_from_peer(OpenPort& port, PacketQueuePair& state, const Arrival& arrival,
                              Nanoseconds time) {
  const KnownFlow& flow = state.flow();
  const bool any = flow.place == PeerPlace::kBeyond;
  if (any || flow.port == arrival.source_port) [[likely]] {
    return true;
  }
  return ask_for_peer(port, state, time) && flow.port == arrival.source_port;
}

// Whether something has been learnt of where the peer is. Not for each packet: somebody else may
// have sent it.
bool PacketPath::ask_for_peer(OpenPort& port, PacketQueuePair& state, Nanoseconds time) {
  constexpr Nanoseconds kAskAgain = kMillisecond;
  KnownFlow flow = state.flow();
  const bool known = flow.place == PeerPlace::kOwnAccount && flow.port != 0;
  if (known || flow.place == PeerPlace::kBeyond || !state.may_ask(time, kAskAgain)) return false;
  place_peer(port, flow);
  state.set_flow(flow, port.sharing->private_port());
  return true;
}

}  // namespace gdr::net
