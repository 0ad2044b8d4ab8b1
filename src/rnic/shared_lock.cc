#include "rnic/shared_lock.h"

#include <sched.h>

#include "base/clock.h"
#include "base/spin_lock.h"

namespace gdr::rnic {
namespace {

constexpr std::uint64_t kCountMask = 0xffff'ffff;

std::uint64_t held_word(Token self, std::uint64_t previous) {
  return std::uint64_t{self} << 32 | ((previous + 1) & kCountMask);
}
Token holder(std::uint64_t word) { return static_cast<Token>(word >> 32); }

// Spins briefly, then yields, and asks once a millisecond whether the holder still lives.
class Patience {
 public:
  explicit Patience(Liveness& liveness) : liveness_(liveness) {}

  // True when the holder is known to be dead.
  bool wait(Token of) {
    if (++rounds_ < 256) {
      cpu_relax();
      return false;
    }
    sched_yield();
    if (now() - asked_ < kMillisecond) return false;
    asked_ = now();
    return !liveness_.alive(of);
  }

 private:
  Liveness& liveness_;
  int rounds_ = 0;
  Nanoseconds asked_ = 0;
};

bool take(SharedLock& lock, std::uint64_t& seen, Token self) {
  return lock.word.compare_exchange_strong(seen, held_word(self, seen));
}

}  // namespace

Taken try_lock(SharedLock& lock, Token self, Liveness& liveness) {
  std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
  const Token before = holder(seen);
  if (before != 0 && liveness.alive(before)) return Taken::kNo;
  if (!take(lock, seen, self)) return Taken::kNo;
  return before == 0 ? Taken::kFree : Taken::kOrphan;
}

Taken try_lock_for(SharedLock& lock, Token self, Liveness& liveness, int spins) {
  for (int i = 0; i < spins; ++i) {
    std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
    if (holder(seen) == 0) {
      if (take(lock, seen, self)) return Taken::kFree;
    } else {
      cpu_relax();
    }
  }
  return try_lock(lock, self, liveness);
}

void lock(SharedLock& lock, Token self, Liveness& liveness) {
  Patience patience(liveness);
  while (true) {
    std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
    const bool takeable = holder(seen) == 0 || patience.wait(holder(seen));
    if (takeable && take(lock, seen, self)) return;
  }
}

void unlock(SharedLock& lock) {
  const std::uint64_t word = lock.word.load(std::memory_order_relaxed);
  lock.word.store(word & kCountMask, std::memory_order_release);
}

void wait_for_present_holder(SharedLock& lock, Liveness& liveness) {
  const std::uint64_t present = lock.word.load();
  if (holder(present) == 0) return;
  Patience patience(liveness);
  while (lock.word.load() == present) {
    if (patience.wait(holder(present))) return;
  }
}

std::uint64_t present_holding(SharedLock& lock) {
  const std::uint64_t present = lock.word.load();
  return holder(present) == 0 ? 0 : present;
}

bool has_ended(SharedLock& lock, std::uint64_t holding, Liveness& liveness) {
  return lock.word.load() != holding || !liveness.alive(holder(holding));
}

}  // namespace gdr::rnic
