#include "local/local_path.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/kill_point.h"

namespace gdr::local {
namespace {

constexpr Nanoseconds kSettleNap = 50 * kMicrosecond;
constexpr Nanoseconds kSettlePatience = 200 * kMillisecond;

}  // namespace

LocalPath::LocalPath(rnic::Adapter& adapter, peers::Neighbours& neighbours,
                     rnic::BeyondCarrier* beyond)
    : adapter_(&adapter),
      neighbours_(neighbours),
      peers_(neighbours.peers()),
      beyond_(beyond),
      staging_(adapter.segment()),
      engine_(*this) {}

Result<std::unique_ptr<LocalPath>> LocalPath::make(rnic::Adapter& adapter,
                                                   peers::Neighbours& neighbours,
                                                   rnic::BeyondCarrier* beyond) {
  std::unique_ptr<LocalPath> path(new LocalPath(adapter, neighbours, beyond));
  if (Result<void> started = path->engine_.start(adapter.segment().header()); !started) {
    return started.error();
  }
  return path;
}

LocalPath::~LocalPath() { engine_.stop(adapter_->segment().header()); }

Requester& LocalPath::requester_of(QueuePair& queue_pair) {
  if (queue_pair.local_state == nullptr) queue_pair.local_state = std::make_unique<Requester>();
  return static_cast<Requester&>(*queue_pair.local_state);
}

// Finds the queue pair that the front request goes to.
Presence LocalPath::find_target(Requester& requester, std::uint32_t qp_number) {
  const std::uint32_t slot = rnic::slot_of_qp(qp_number), index = rnic::index_of_qp(qp_number);
  if (slot == rnic::slot_of(adapter_->token())) {
    requester.target = Target(*adapter_, nullptr, index);
    return Presence::kThere;
  }
  const Presence presence = neighbours_.find(requester.peer, slot);
  requester.target =
      presence == Presence::kThere ? Target(*adapter_, requester.peer.peer.get(), index) : Target();
  return presence;
}

bool LocalPath::is_here(const std::uint8_t (&gid)[16]) {
  const auto has_it = [&](rnic::Segment& segment) {
    const std::uint32_t count =
        std::min(rnic::read_once(segment.header().device_count), rnic::kDevices);
    return std::any_of(segment.header().devices, segment.header().devices + count,
                       [&](const rnic::SharedDevice& device) {
                         return std::memcmp(device.gid, gid, sizeof gid) == 0;
                       });
  };
  return has_it(adapter_->segment()) || neighbours_.any_segment(has_it);
}

// Of datagrams, which come one by one: the last answer is kept.
bool LocalPath::goes_beyond(Requester& requester, const std::uint8_t (&gid)[16]) {
  if (beyond_ == nullptr) return false;
  if (beyond_->takes_everything()) return true;
  if (requester.has_last_gid && std::memcmp(requester.last_gid, gid, sizeof gid) == 0) {
    return requester.last_is_beyond;
  }
  std::memcpy(requester.last_gid, gid, sizeof gid);
  requester.has_last_gid = true;
  requester.last_is_beyond = !is_here(gid);
  return requester.last_is_beyond;
}

int LocalPath::connect(QueuePair& queue_pair) {
  if (adapter_->is_forked()) return EIO;
  if (queue_pair.type() == IBV_QPT_RAW_PACKET) return 0;
  if (queue_pair.type() == IBV_QPT_UD) {
    return beyond_ != nullptr ? beyond_->connect(queue_pair) : 0;
  }
  const ibv_ah_attr& address = queue_pair.attributes().ah_attr;
  // Without a GID the queue pair number alone finds its target, which only works on one host.
  if (beyond_ != nullptr && address.is_global != 0 &&
      (beyond_->takes_everything() || !is_here(address.grh.dgid.raw))) {
    return beyond_->connect(queue_pair);
  }
  // Meeting the other process now keeps it out of post_send. That nobody is there yet is no error,
  // as on a network: the first request finds out.
  const std::uint32_t slot = rnic::slot_of_qp(queue_pair.attributes().dest_qp_num);
  if (slot != rnic::slot_of(adapter_->token())) {
    (void)neighbours_.find(requester_of(queue_pair).peer, slot);
  }
  return 0;
}

void LocalPath::send(QueuePair& queue_pair) {
  Requester& requester = requester_of(queue_pair);
  if (requester.on_engine) return;
  kill_point("post_send");
  while (!queue_pair.send_ring().empty()) {
    if (advance(queue_pair, requester, false) == Advance::kCompleted) continue;
    return send_later(queue_pair);
  }
}

void LocalPath::send_later(QueuePair& queue_pair) {
  Requester& requester = requester_of(queue_pair);
  if (requester.on_engine) return;
  requester.on_engine = true;
  engine_.add(queue_pair.shared_from_this(), adapter_->segment().header());
}

bool LocalPath::go_on(QueuePair& queue_pair, Nanoseconds* retry_at, bool* busy) {
  // Never waits: who holds the lock may wait for a transfer that only this thread can finish.
  const std::unique_lock guard(queue_pair.send_lock(), std::try_to_lock);
  if (!guard) {
    *retry_at = std::min(*retry_at, now() + kLockRetry);
    return true;
  }
  Requester& requester = requester_of(queue_pair);
  // It may have been reset, and connected beyond the host, since it came here: its requests are the
  // other path's then.
  while (queue_pair.is_carried_by(*this) && !queue_pair.send_ring().empty()) {
    if (advance(queue_pair, requester, true) == Advance::kCompleted) continue;
    if (requester.in_progress && requester.transfer.on_gpu()) *busy = true;
    *retry_at = std::min(*retry_at, requester.retry_at);
    return true;
  }
  requester.on_engine = false;
  return false;
}

// The move stands here, and not at the end of the checks where it is decided, for speed: the system
// call uses up the processor's return predictor, and then the way back costs by the depth.
Advance LocalPath::advance(QueuePair& queue_pair, Requester& requester, bool engine) {
  Advance went = begin(queue_pair, requester, engine);
  while (went == Advance::kMove) went = carry_out(queue_pair, requester);
  return went;
}

Advance LocalPath::begin(QueuePair& queue_pair, Requester& requester, bool engine) {
  requester.by_engine = engine;
  if (requester.in_progress) return engine ? Advance::kMove : Advance::kEngine;
  switch (queue_pair.type()) {
    case IBV_QPT_UD:
      return datagram(queue_pair, requester, engine);
    case IBV_QPT_RAW_PACKET:
      return frame(queue_pair, requester, engine);
    default:
      return connected(queue_pair, requester, engine);
  }
}

void LocalPath::cancel(QueuePair& queue_pair) {
  if (queue_pair.packet_state != nullptr) beyond_->cancel(queue_pair);
  if (queue_pair.local_state == nullptr || adapter_->is_forked()) return;
  Requester& requester = requester_of(queue_pair);
  if (requester.in_progress) requester.transfer.drain();
  end_transfer(requester);
  abandon(requester);
  requester.window = {};
  requester.receivers.clear();
  requester.receiver_peers.clear();
  requester.to_group = false;
}

// A transfer that waits for another process may wait for as long as that one is stopped: after a
// while it has to begin again. This process's own copies in it end by themselves.
void LocalPath::outwait(Requester& requester, std::uint64_t moves) {
  Nanoseconds waited = 0;
  for (; requester.moves.load() == moves; waited += kSettleNap) {
    if (waited >= kSettlePatience) {
      requester.to_begin_again.store(true);
      neighbours_.wake_engine();
    }
    usleep(kSettleNap / kMicrosecond);
  }
}

void LocalPath::settle(QueuePair& queue_pair) {
  Requester* requester = nullptr;
  std::uint64_t moves = 0;
  {
    // Whatever was copied by a posting thread has ended once its lock can be had.
    const std::lock_guard guard(queue_pair.send_lock());
    requester = static_cast<Requester*>(queue_pair.local_state.get());
    if (requester != nullptr) moves = requester->moves.load();
  }
  if (moves % 2 == 1) outwait(*requester, moves);
}

}  // namespace gdr::local
