#include "local/local_path.h"

#include <algorithm>
#include <mutex>

#include "base/kill_point.h"

namespace gdr::local {

LocalPath::LocalPath(rnic::Adapter& adapter, peers::Neighbours& neighbours)
    : adapter_(adapter),
      neighbours_(neighbours),
      staging_(adapter.segment()),
      engine_(*this, adapter.segment().header()) {}

Result<std::unique_ptr<LocalPath>> LocalPath::make(rnic::Adapter& adapter,
                                                   peers::Neighbours& neighbours) {
  std::unique_ptr<LocalPath> path(new LocalPath(adapter, neighbours));
  if (Result<void> started = path->engine_.start(); !started) {
    return started.error();
  }
  return path;
}

Requester& LocalPath::requester_of(rnic::QueuePair& queue_pair) {
  if (queue_pair.local_state == nullptr) {
    queue_pair.local_state = std::make_unique<Requester>(*this, queue_pair);
  }
  return static_cast<Requester&>(*queue_pair.local_state);
}

// Meeting the other process now keeps it out of post_send. That nobody is there yet is no error, as
// on a network: the first request finds out.
int LocalPath::connect(rnic::QueuePair& queue_pair) {
  if (queue_pair.type() == IBV_QPT_RAW_PACKET || queue_pair.type() == IBV_QPT_UD) return 0;
  const std::uint32_t slot = rnic::slot_of_qp(queue_pair.attributes().dest_qp_num);
  if (slot != rnic::slot_of(adapter_.token())) {
    (void)neighbours_.find(requester_of(queue_pair).peer, slot);
  }
  return 0;
}

void LocalPath::send(rnic::QueuePair& queue_pair) {
  Requester& requester = requester_of(queue_pair);
  if (requester.on_engine) {
    requester.has_news.store(true, std::memory_order_relaxed);
    return;
  }
  kill_point("post_send");
  bool goes_on = true;
  while (goes_on && queue_pair.has_front_for(*this)) {
    const Requester::RunWent went = requester.send_run();
    if (went == Requester::RunWent::kSent) continue;
    goes_on =
        went == Requester::RunWent::kNothing && requester.advance(false) == Advance::kCompleted;
  }
  add_uncounted(requester);
  if (!goes_on) send_later(queue_pair);
}

void LocalPath::send_later(rnic::QueuePair& queue_pair) {
  Requester& requester = requester_of(queue_pair);
  if (requester.on_engine) return;
  requester.on_engine = true;
  engine_.add(queue_pair.shared_from_this(), requester.has_news);
}

std::optional<RingWaits> LocalPath::go_on(rnic::QueuePair& queue_pair) {
  RingWaits waits;
  // Never waits: who holds the lock may wait for a transfer that only this thread can finish.
  const std::unique_lock guard(queue_pair.send_lock(), std::try_to_lock);
  if (!guard) {
    waits.retry_at = now() + kLockRetry;
    return waits;
  }
  Requester& requester = requester_of(queue_pair);
  requester.has_news.store(false, std::memory_order_relaxed);
  // It may have been reset, and connected beyond the host, since it came here: its requests are the
  // other carrier's then.
  while (queue_pair.has_front_for(*this)) {
    if (requester.advance(true) == Advance::kCompleted) continue;
    waits.retry_at = requester.retry_at;
    if (!requester.in_progress || !requester.transfer.is_to_be_polled()) return waits;
    waits.is_busy = true;
    if (queue_pair.send_ring().size() == 1 + requester.ahead.size()) {
      waits.copy = requester.transfer.last_in_flight();
    }
    return waits;
  }
  requester.on_engine = false;
  queue_pair.carry();
  return std::nullopt;
}

void LocalPath::cancel(rnic::QueuePair& queue_pair) {
  if (queue_pair.local_state != nullptr) requester_of(queue_pair).cancel();
}

void LocalPath::settle(rnic::QueuePair& queue_pair) {
  Requester* requester = nullptr;
  std::uint64_t begun = 0;
  {
    // Whatever was copied by a posting thread has ended once its lock can be had.
    const std::lock_guard guard(queue_pair.send_lock());
    if (queue_pair.local_state == nullptr) return;
    requester = &requester_of(queue_pair);
    begun = requester->moves_begun.load();
  }
  requester->outwait(begun);
}

bool LocalPath::is_settled(rnic::QueuePair& queue_pair) {
  const std::unique_lock guard(queue_pair.send_lock(), std::try_to_lock);
  if (!guard) return false;
  if (queue_pair.local_state == nullptr) return true;
  const Requester& requester = requester_of(queue_pair);
  return requester.moves_ended.load() == requester.moves_begun.load();
}

void LocalPath::lock_staging(memory::PeerMemoryClient& client) {
  if (staging_is_locked_.exchange(true)) return;
  neighbours_.opener().run_soon([this, &client] { staging_.lock_pages(client); });
}

}  // namespace gdr::local
