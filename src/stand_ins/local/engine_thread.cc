#include "local/engine_thread.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/quiet_thread.h"
#include "base/spin_lock.h"
#include "local/local_path.h"

namespace gdr::local {
namespace {

// However long nobody wakes it, it looks again: a wake-up lost with its sender costs no more.
constexpr Nanoseconds kLongestSleep = 20 * kMillisecond;
constexpr Nanoseconds kNever = ~Nanoseconds{0};  // nothing is left to come back for
// After a GPU copy the next one is often near, and to be woken for it takes longer than it does.
constexpr Nanoseconds kLinger = 30 * kMicrosecond;
// A ring that waits for a copy is looked at also when nothing has happened: its request may have
// been given up, or its target been lost.
constexpr Nanoseconds kLookAnyway = 20 * kMicrosecond;

}  // namespace

Result<void> EngineThread::start() {
  stopped_.store(false);
  Result<void> started = start_quiet_thread("gdr-engine", [this] {
    run();
    stopped_.store(true);
  });
  if (!started) stopped_.store(true);
  return started;
}

EngineThread::~EngineThread() {
  stopping_.store(true);
  peers::wake_sleeper(header_);
  while (!stopped_.load()) sched_yield();
}

void EngineThread::add(std::shared_ptr<rnic::QueuePair> queue_pair,
                       const std::atomic<bool>& has_news) {
  {
    const std::lock_guard guard(mutex_);
    arrived_.push_back({std::move(queue_pair), &has_news, {}});
  }
  // Not by the flag in the segment, where another process may have written anything.
  peers::wake_sleeper_if(header_, sleeps_);
}

bool EngineThread::waits_for_copy(const Ring& ring, Round& round) {
  memory::PeerMemoryClient* const client = ring.copy.client;
  if (client == nullptr || ring.has_news->load(std::memory_order_relaxed) ||
      round.time - ring.looked_at >= kLookAnyway) {
    return false;
  }
  if (round.up_to_date != client) client->go_on();
  round.up_to_date = client;
  return !client->is_over(ring.copy.ticket);
}

// False when the ring is empty.
bool EngineThread::go_on(Ring& ring, Round& round) {
  if (waits_for_copy(ring, round)) {
    round.is_busy = true;
    return true;
  }
  const std::optional<RingWaits> waits = path_.go_on(*ring.queue_pair);
  round.up_to_date = nullptr;  // it may have started copies
  if (!waits) return false;
  ring.copy = waits->copy;
  ring.looked_at = round.time;
  round.is_busy |= waits->is_busy;
  round.retry_at = std::min(round.retry_at, waits->retry_at);
  return true;
}

void EngineThread::run() {
  std::vector<Ring> active;
  Nanoseconds was_busy_at = 0;
  for (;;) {
    // Before it looks at anything: a wake-up after this ends the sleep that follows.
    const std::uint32_t seen = header_.worker_wake.load();
    if (stopping_.load()) return;
    {
      const std::lock_guard guard(mutex_);
      std::move(arrived_.begin(), arrived_.end(), std::back_inserter(active));
      arrived_.clear();
    }
    Round round{.time = now(), .retry_at = kNever};
    std::erase_if(active, [&](Ring& ring) { return !go_on(ring, round); });
    if (round.is_busy) was_busy_at = now();
    if (round.is_busy || (was_busy_at != 0 && now() - was_busy_at < kLinger)) {
      cpu_relax();
      sched_yield();
    } else {
      was_busy_at = 0;
      sleep(seen, round.retry_at);
    }
  }
}

// Until woken, or `until`.
void EngineThread::sleep(std::uint32_t seen, Nanoseconds until) {
  timespec patience{};
  if (until != kNever) {
    const Nanoseconds time = now();
    if (until <= time) return;
    const Nanoseconds wait = std::min(until - time, kLongestSleep);
    patience.tv_sec = static_cast<time_t>(wait / kSecond);
    patience.tv_nsec = static_cast<long>(wait % kSecond);
  }
  header_.worker_sleeps.store(1);
  sleeps_.store(1);
  syscall(SYS_futex, &header_.worker_wake, FUTEX_WAIT, seen, until != kNever ? &patience : nullptr,
          nullptr, 0);
  sleeps_.store(0);
  header_.worker_sleeps.store(0);
}

}  // namespace gdr::local
