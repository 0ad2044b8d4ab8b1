// Life, and what arrives. The Owner's side that works on this process's own requests is in
// packet_requests.cc.
#include "net/packet_queue_pair.h"

#include <sched.h>

#include <algorithm>

#include "net/port_counts.h"
#include "rnic/delivery/atomic.h"
#include "rnic/delivery/receives.h"
#include "rnic/delivery/registered_bytes.h"
#include "rnic/delivery/responder_lock.h"
#include "rnic/gids.h"

namespace gdr::net {
namespace {

// Unit of the local ACK timeout. The timeout may last up to four times its nominal value (C9-141),
// and the process that has to answer may have to wait that long for its core.
constexpr Nanoseconds kTimeoutUnit = Nanoseconds{4096} * 4;

constexpr Nanoseconds kPatience = 2 * kMillisecond;     // with another process's copy
constexpr Nanoseconds kImpatience = 20 * kMillisecond;  // after it was in vain

std::uint32_t access_flag(engine::Right right) {
  switch (right) {
    case engine::Right::kWrite:
      return IBV_ACCESS_REMOTE_WRITE;
    case engine::Right::kRead:
      return IBV_ACCESS_REMOTE_READ;
    default:
      return IBV_ACCESS_REMOTE_ATOMIC;
  }
}

}  // namespace

std::uint32_t sending_address(const rnic::DeviceConfiguration& device, std::uint32_t address) {
  return device.addresses[address].is_carried ? address : rnic::kOwnAddress;
}

wire::Transport transport_of(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_UC:
      return wire::Transport::kUnreliableConnection;
    case IBV_QPT_UD:
      return wire::Transport::kUnreliableDatagram;
    case IBV_QPT_XRC_SEND:
    case IBV_QPT_XRC_RECV:
      return wire::Transport::kExtendedReliable;
    default:
      return wire::Transport::kReliableConnection;
  }
}

PacketQueuePair::PacketQueuePair(rnic::Adapter& adapter, rnic::QueuePair& queue_pair,
                                 const wire::Address& peer, Counters& counters, PinnedPool& pool,
                                 Placer& placer, std::vector<std::uint32_t>& due)
    : adapter_(adapter),
      queue_pair_(queue_pair),
      counters_(counters),
      receives_(adapter, queue_pair),
      due_(due),
      peer_address_(peer),
      placer_(placer),
      works_ahead_(pool),
      answers_ahead_(pool) {
  const ibv_qp_attr& attributes = queue_pair.attributes();
  if (queue_pair.type() == IBV_QPT_UD) {
    datagram_.emplace(queue_pair.number());
    return;
  }
  own_address_ = sending_address(adapter.devices()[queue_pair.settings().device],
                                 rnic::address_of_gid(attributes.ah_attr.grh.sgid_index));
  traffic_class_ = attributes.ah_attr.grh.traffic_class;
  connection_.emplace(
      engine::ConnectionSettings{.transport = transport_of(queue_pair.type()),
                                 .path_mtu = bytes_of(attributes.path_mtu),
                                 .destination_qp = attributes.dest_qp_num,
                                 .receive_psn = attributes.rq_psn,
                                 .minimum_rnr_timer = attributes.min_rnr_timer,
                                 .responder_resources = attributes.max_dest_rd_atomic},
      static_cast<engine::Owner&>(*this));
}

// cancel() has had the bytes placed before, but in a fork's child, where nothing moves.
PacketQueuePair::~PacketQueuePair() { release_responder(); }

void PacketQueuePair::start_sending(std::uint32_t room) {
  if (sends_) return;
  sends_ = true;
  const ibv_qp_attr& attributes = queue_pair_.attributes();
  if (datagram_) return datagram_->start_sending(attributes.sq_psn);
  connection_->start_sending(
      {.first_psn = attributes.sq_psn,
       .timeout = attributes.timeout == 0 ? 0 : kTimeoutUnit << attributes.timeout,
       .retry_count = attributes.retry_cnt,
       .rnr_retry = attributes.rnr_retry,
       .initiator_depth = std::max<std::uint32_t>(attributes.max_rd_atomic, 1),
       .most_in_flight = room});
}

// False: another process holds it, and may be stopped. All arrivals wait behind this one, so that
// it is given up soon, and at once for a while after.
bool PacketQueuePair::hold_responder(Nanoseconds time) {
  if (holds_responder_) return true;
  held_since_ = time;
  const rnic::Responding there{adapter_.segment(), queue_pair_.shared(), queue_pair_.index(),
                               adapter_.token()};
  const auto try_lock = [&] {
    std::uint64_t word = 0;
    return rnic::take_responder(there, adapter_.token(), adapter_.liveness(), rnic::kLockSpins,
                                &word);
  };
  rnic::Taken taken = try_lock();
  if (taken == rnic::Taken::kNo) {
    const Nanoseconds began = now();
    while (taken == rnic::Taken::kNo && began >= impatient_until_ && now() - began < kPatience) {
      sched_yield();
      taken = try_lock();
    }
    if (taken == rnic::Taken::kNo) {
      impatient_until_ = began + kImpatience;
      return false;
    }
    held_since_ = now();
  }
  return holds_responder_ = true;
}

void PacketQueuePair::release_responder() {
  if (!holds_responder_ || is_placing() || is_copying()) return;
  holds_responder_ = false;
  rnic::unlock(queue_pair_.shared().responder);
}

void PacketQueuePair::receive(const wire::Packet& packet, const wire::Address& source,
                              const wire::Address& target, Nanoseconds time, bool congested) {
  source_ = source;
  target_ = target;
  if (is_moving()) end_long_hold(time, due_);
  if (packet.info->is(wire::kRequest) && !hold_responder(time)) {
    return counters_.add(Counter::kNotReceiving);  // as if it had been lost
  }
  if (congested) queue_pair_.port().add(ports::PortCount::kEcnMarked);
  if (datagram_) {
    engine::Datagram::receive(packet, queue_pair_.shared().qkey.load(), *this);
  } else {
    connection_->receive(packet, time, congested);
  }
}

void PacketQueuePair::count(engine::Event event) {
  counters_.add(event);
  count_event(queue_pair_.port(), event);
}

bool PacketQueuePair::select_srq(std::uint32_t xrc_srq) {
  xrc_srq_ = xrc_srq;
  return receives_.has_srq(xrc_srq);
}

bool PacketQueuePair::find_remote(std::uint32_t rkey, std::uint64_t address, std::uint64_t length,
                                  engine::Right right, rnic::Place* place) {
  const std::uint32_t flag = access_flag(right);
  if (!rnic::grants(queue_pair_.shared(), flag)) return false;
  const rnic::RegionError error = adapter_.regions().find(
      rkey, address, length, receives_.remote_domain(xrc_srq_), flag, place);
  return error == rnic::RegionError::kNone && rnic::serves(place->queue_pair, queue_pair_.number());
}

bool PacketQueuePair::may_access(std::uint32_t rkey, std::uint64_t address, std::uint64_t length,
                                 engine::Right right) {
  rnic::Place place;
  if (!find_remote(rkey, address, length, right, &place)) return false;
  // Once for each request.
  using enum ports::PortCount;
  begins_write_ = begins_write_ || right == engine::Right::kWrite;
  queue_pair_.port().add(right == engine::Right::kWrite  ? kMoreWriteRequests
                         : right == engine::Right::kRead ? kReadRequests
                                                         : kAtomicRequests);
  return true;
}

engine::Placed PacketQueuePair::write(std::uint32_t rkey, std::uint64_t address,
                                      std::span<const std::byte> bytes) {
  rnic::Place place;
  if (!find_remote(rkey, address, bytes.size(), engine::Right::kWrite, &place)) {
    return engine::Placed::kRefused;
  }
  // What a program waits for in its memory, with no completion, comes behind all before it.
  const bool joins = !std::exchange(begins_write_, false);
  return store(place, bytes, joins, true) ? engine::Placed::kPlaced : engine::Placed::kFault;
}

std::optional<std::uint64_t> PacketQueuePair::atomic(engine::WorkKind kind, std::uint32_t rkey,
                                                     std::uint64_t address,
                                                     std::uint64_t swap_or_add,
                                                     std::uint64_t compare) {
  placer_.drain(last_piece_);
  rnic::Place place;
  if (!find_remote(rkey, address, sizeof swap_or_add, engine::Right::kAtomic, &place)) {
    return std::nullopt;
  }
  const rnic::LockGuard guard(adapter_.segment().header().atomics, adapter_.token(),
                              adapter_.liveness());
  std::uint64_t before = 0;
  if (!rnic::read_registered(place, std::as_writable_bytes(std::span(&before, 1))))
    return std::nullopt;
  const rnic::Atomic atomic{kind == engine::WorkKind::kCompareSwap, swap_or_add, compare};
  const std::optional<std::uint64_t> after = atomic.after(before);
  if (after && !rnic::write_registered(place, std::as_bytes(std::span(&*after, 1)))) {
    return std::nullopt;
  }
  return before;
}

engine::Placed PacketQueuePair::begin_receive(std::uint32_t xrc_srq) {
  return receives_.begin(xrc_srq);
}

engine::Placed PacketQueuePair::place_receive(std::uint64_t offset,
                                              std::span<const std::byte> bytes) {
  return receives_.place(offset, bytes, [&](const rnic::Place& place, auto part) {
    return store(place, part, true, false);
  });
}

void PacketQueuePair::complete_receive(const engine::Received& received) {
  ReceiveSide::Completed completed;
  rnic::SharedCompletion& completion = completed.completion;
  rnic::fill_completion(&completion, received.is_write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
                        received.bytes, queue_pair_.number(),
                        datagram_ ? received.source_qp : queue_pair_.attributes().dest_qp_num);
  ports::Port& port = queue_pair_.port();
  if (received.outcome != engine::Placed::kPlaced) {
    const bool too_long = received.outcome == engine::Placed::kTooLong;
    completion.status = rnic::refusal(too_long);
    port.add(ports::PortCount::kResponderErrors);
    if (too_long) port.add(ports::PortCount::kResponderLengthErrors);
  } else if (!received.is_write) {
    port.add(ports::PortCount::kMoreReceives);
  }
  if (received.has_immediate) rnic::add_immediate(&completion, received.immediate);
  if (received.has_invalidate) {
    rnic::add_invalidated(&completion, received.immediate);
    rnic::invalidate_window_of(adapter_.segment(), received.immediate);
  }
  if (datagram_) {
    rnic::add_network_header(&completion, target_);
    if (received.outcome == engine::Placed::kPlaced) {
      std::uint8_t header[rnic::kGrhBytes];
      rnic::fill_network_header({}, source_, target_, received.bytes - rnic::kGrhBytes, header);
      if (place_receive(0, std::as_bytes(std::span(header))) != engine::Placed::kPlaced) {
        completion.status = IBV_WC_LOC_PROT_ERR;
      }
    }
  }
  receives_.take_off(&completed, received.solicited);
  if (is_placing() || is_lost(last_piece_))
    return deferred_receives_.push_back({last_piece_, completed});
  receives_.push(completed, &due_);
  received_ = true;
}

bool PacketQueuePair::may_invalidate(std::uint32_t key) {
  return rnic::is_window_of(adapter_.segment(), key, queue_pair_.shared().protection_domain,
                            queue_pair_.number());
}

void PacketQueuePair::fail(engine::Fault fault) {
  const rnic::Failure failure =
      fault == engine::Fault::kAccess ? rnic::Failure::kReported : rnic::Failure::kInvalid;
  queue_pair_.shared().failure.store(static_cast<std::uint32_t>(failure));
  adapter_.wake_for(queue_pair_);
}

}  // namespace gdr::net
