#include "rnic/shared_lock.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "base/spin_lock.h"

namespace gdr::rnic {
namespace {

constexpr int kSpins = 256;
constexpr int kYields = 64;
constexpr useconds_t kNap = 100;
// More time than this between two looks is no waiting: this process itself was stopped.
constexpr Nanoseconds kLongestLook = 10 * kMillisecond;
// So long somebody waits for a lock of a process that holds it itself, before coming back later.
constexpr Nanoseconds kOwnersTime = kMillisecond;

// Spins briefly, then yields, then sleeps; asks once a millisecond whether the holder still lives
// and goes on.
class Patience {
 public:
  explicit Patience(Liveness& liveness, HeldFor purpose = HeldFor::kCopies)
      : liveness_(liveness), purpose_(purpose) {}

  // True when nothing of the holder follows any more. `may_cut_off`: or it is made so.
  bool wait(std::uint64_t word, bool may_cut_off = true) {
    if (holder_of(word) == kNobody) return true;
    if (word != word_) word_ = word, waited_ = 0;
    if (++rounds_ < kSpins) {
      cpu_relax();
      return false;
    }
    rounds_ < kSpins + kYields ? (void)sched_yield() : (void)usleep(kNap);
    const Nanoseconds time = now();
    waited_ += looked_at_ == 0 ? 0 : std::min(time - looked_at_, kLongestLook);
    looked_at_ = time;
    if (time - asked_ < kMillisecond) return false;
    asked_ = time;
    const Token holder = holder_of(word);
    const bool lives =
        purpose_ == HeldFor::kCopies ? liveness_.alive(holder) : liveness_.has_threads(holder);
    return !lives || (may_cut_off && liveness_.cut_off(holder, purpose_, waited_));
  }
  Nanoseconds waited() const { return waited_; }

 private:
  Liveness& liveness_;
  const HeldFor purpose_;
  int rounds_ = 0;
  std::uint64_t word_ = 0;
  Nanoseconds waited_ = 0, looked_at_ = 0, asked_ = 0;
};

}  // namespace

Taken try_lock(SharedLock& lock, Token self, Liveness& liveness, Token owner, std::uint64_t* word) {
  const std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
  const Token before = holder_of(seen);
  if (before != 0 && before != kNobody && liveness.alive(before) &&
      (before == owner || !liveness.cut_off(before, HeldFor::kCopies, 0))) {
    return Taken::kNo;
  }
  const std::uint64_t taken = take_lock(lock, seen, self);
  if (taken == 0) return Taken::kNo;
  if (word != nullptr) *word = taken;
  return before == 0 ? Taken::kFree : Taken::kOrphan;
}

Taken spin_and_try_lock(SharedLock& lock, Token self, Liveness& liveness, Token owner, int spins,
                        std::uint64_t* word) {
  for (int i = 0; i < spins; ++i) {
    const std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
    if (holder_of(seen) == 0) {
      *word = take_lock(lock, seen, self);
      if (*word != 0) return Taken::kFree;
    } else {
      cpu_relax();
    }
  }
  return try_lock(lock, self, liveness, owner, word);
}

std::uint64_t wait_and_lock(SharedLock& lock, Token self, Liveness& liveness, HeldFor purpose,
                            Token owner) {
  Patience patience(liveness, purpose);
  while (true) {
    const std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
    const Token holder = holder_of(seen);
    const bool is_its_owners = holder == owner && owner != self;
    const bool takeable = holder == 0 || patience.wait(seen, !is_its_owners);
    if (is_its_owners && patience.waited() >= kOwnersTime) return 0;
    if (!takeable) continue;
    if (const std::uint64_t word = take_lock(lock, seen, self)) return word;
  }
}

void leave_orphaned(SharedLock& lock, std::uint64_t word) {
  lock.word.compare_exchange_strong(word, std::uint64_t{kNobody} << 32 | (word & 0xffff'ffff));
}

void wait_for_present_holder(SharedLock& lock, Liveness& liveness) {
  const std::uint64_t present = lock.word.load();
  if (holder_of(present) == 0) return;
  Patience patience(liveness);
  while (lock.word.load() == present) {
    if (patience.wait(present)) return;
  }
}

std::uint64_t present_holding(SharedLock& lock) {
  const std::uint64_t present = lock.word.load();
  return holder_of(present) == 0 ? 0 : present;
}

bool has_ended(SharedLock& lock, std::uint64_t holding, Liveness& liveness, Nanoseconds waited) {
  if (lock.word.load() != holding) return true;
  const Token holder = holder_of(holding);
  return holder == kNobody || !liveness.alive(holder) ||
         liveness.cut_off(holder, HeldFor::kCopies, waited);
}

}  // namespace gdr::rnic
