#include "rnic/held_locks.h"

namespace gdr::rnic {
namespace {

constexpr Nanoseconds kBetweenLooks = 20 * kMillisecond;

}  // namespace

bool HeldLocks::begin() {
  const Nanoseconds time = now();
  if (time - looked_at_ < kBetweenLooks) return false;
  looked_at_ = time;
  return true;
}

void HeldLocks::look_at(SharedLock& lock, HeldFor purpose) {
  const std::uint64_t word = lock.word.load();
  const Token holder = holder_of(word);
  if (holder == 0 || holder == kNobody || holder == self_) return;
  const auto known = before_.find(&lock);
  if (known == before_.end() || known->second.word != word) {
    now_held_[&lock] = {word, looked_at_};
    return;
  }
  now_held_[&lock] = known->second;
  // Who is dead loses it to the next one who wants it.
  if (!liveness_.alive(holder)) return;
  if (liveness_.cut_off(holder, purpose, looked_at_ - known->second.since)) {
    leave_orphaned(lock, word);
  }
}

}  // namespace gdr::rnic
