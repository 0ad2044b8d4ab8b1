// Taking and waiting for a SharedLock: a lock between processes that outlives its holder's death.
//
//   LockGuard guard(lock, my_token, liveness);   // spins, yields, takes over from the dead
//
// Hold times are a copy's: a few hundred nanoseconds to milliseconds; a GPU copy may hold one
// across calls of its engine, so ownership is the process's, not the thread's.
#pragma once

#include "rnic/shared.h"

namespace gdr::rnic {

// Answers whether the process behind a token still lives. Cold: asked after a millisecond's wait.
class Liveness {
 public:
  virtual ~Liveness() = default;
  // False once nothing of it moves a byte any more. Its GPU may copy for longer than it has
  // threads.
  virtual bool alive(Token token) = 0;
  // False once it has no threads any more: for what no GPU copy takes part in.
  virtual bool has_threads(Token token) { return alive(token); }
};

// What its holder does under a lock, and so what has to have ended before it is taken over.
enum class HeldFor { kCopies, kBookkeeping };

enum class Taken {
  kNo,     // its holder lives
  kFree,   // nobody held it
  kOrphan  // its holder is dead, and may have left half-done what it protects
};

// Takes the lock if it is free, or if its holder is dead.
Taken try_lock(SharedLock& lock, Token self, Liveness& liveness);

void wait_and_lock(SharedLock& lock, Token self, Liveness& liveness, HeldFor purpose);

inline Token holder_of(std::uint64_t word) { return static_cast<Token>(word >> 32); }

// One attempt; `seen` is what its word was. Hot.
inline bool take_lock(SharedLock& lock, std::uint64_t& seen, Token self) {
  const std::uint64_t count = (seen + 1) & 0xffff'ffff;
  return lock.word.compare_exchange_strong(seen, std::uint64_t{self} << 32 | count);
}

inline void lock(SharedLock& lock, Token self, Liveness& liveness,
                 HeldFor purpose = HeldFor::kCopies) {
  std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
  if (holder_of(seen) == 0 && take_lock(lock, seen, self)) return;
  wait_and_lock(lock, self, liveness, purpose);
}

Taken spin_and_try_lock(SharedLock& lock, Token self, Liveness& liveness, int spins);

// Waits at most `spins` rounds of a few nanoseconds each.
inline Taken try_lock_for(SharedLock& lock, Token self, Liveness& liveness, int spins) {
  std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
  if (holder_of(seen) == 0 && take_lock(lock, seen, self)) return Taken::kFree;
  return spin_and_try_lock(lock, self, liveness, spins);
}

inline void unlock(SharedLock& lock) {
  const std::uint64_t word = lock.word.load(std::memory_order_relaxed);
  lock.word.store(word & 0xffff'ffff, std::memory_order_release);
}

// Returns when whoever holds the lock now has let go of it or is dead. Does not take it.
void wait_for_present_holder(SharedLock& lock, Liveness& liveness);

// The same without waiting: the present holding of the lock (0: nobody holds it), and whether that
// has ended.
std::uint64_t present_holding(SharedLock& lock);
bool has_ended(SharedLock& lock, std::uint64_t holding, Liveness& liveness);

class LockGuard {
 public:
  LockGuard(SharedLock& shared_lock, Token self, Liveness& liveness,
            HeldFor purpose = HeldFor::kCopies)
      : lock_(shared_lock) {
    lock(lock_, self, liveness, purpose);
  }
  ~LockGuard() { unlock(lock_); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  SharedLock& lock_;
};

}  // namespace gdr::rnic
