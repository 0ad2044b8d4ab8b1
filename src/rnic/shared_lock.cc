#include "rnic/shared_lock.h"

#include <sched.h>

#include "base/clock.h"
#include "base/spin_lock.h"

namespace gdr::rnic {
namespace {

// Spins briefly, then yields, and asks once a millisecond whether the holder still lives.
class Patience {
 public:
  explicit Patience(Liveness& liveness, HeldFor purpose = HeldFor::kCopies)
      : liveness_(liveness), purpose_(purpose) {}

  // True when the holder is known to be dead.
  bool wait(Token of) {
    if (++rounds_ < 256) {
      cpu_relax();
      return false;
    }
    sched_yield();
    if (now() - asked_ < kMillisecond) return false;
    asked_ = now();
    return purpose_ == HeldFor::kCopies ? !liveness_.alive(of) : !liveness_.has_threads(of);
  }

 private:
  Liveness& liveness_;
  const HeldFor purpose_;
  int rounds_ = 0;
  Nanoseconds asked_ = 0;
};

}  // namespace

Taken try_lock(SharedLock& lock, Token self, Liveness& liveness) {
  std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
  const Token before = holder_of(seen);
  if (before != 0 && liveness.alive(before)) return Taken::kNo;
  if (!take_lock(lock, seen, self)) return Taken::kNo;
  return before == 0 ? Taken::kFree : Taken::kOrphan;
}

Taken spin_and_try_lock(SharedLock& lock, Token self, Liveness& liveness, int spins) {
  for (int i = 0; i < spins; ++i) {
    std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
    if (holder_of(seen) == 0) {
      if (take_lock(lock, seen, self)) return Taken::kFree;
    } else {
      cpu_relax();
    }
  }
  return try_lock(lock, self, liveness);
}

void wait_and_lock(SharedLock& lock, Token self, Liveness& liveness, HeldFor purpose) {
  Patience patience(liveness, purpose);
  while (true) {
    std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
    const bool takeable = holder_of(seen) == 0 || patience.wait(holder_of(seen));
    if (takeable && take_lock(lock, seen, self)) return;
  }
}

void wait_for_present_holder(SharedLock& lock, Liveness& liveness) {
  const std::uint64_t present = lock.word.load();
  if (holder_of(present) == 0) return;
  Patience patience(liveness);
  while (lock.word.load() == present) {
    if (patience.wait(holder_of(present))) return;
  }
}

std::uint64_t present_holding(SharedLock& lock) {
  const std::uint64_t present = lock.word.load();
  return holder_of(present) == 0 ? 0 : present;
}

bool has_ended(SharedLock& lock, std::uint64_t holding, Liveness& liveness) {
  return lock.word.load() != holding || !liveness.alive(holder_of(holding));
}

}  // namespace gdr::rnic
