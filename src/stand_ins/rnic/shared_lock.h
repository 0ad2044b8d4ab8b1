// Taking and waiting for a SharedLock: a lock between processes that its holder need not survive,
// nor go on.
//
//   LockGuard guard(lock, my_token, liveness);   // of this process's own objects
//
//   const While held = liveness.while_held();    // of another process's: before the lock is taken
//   std::uint64_t word = 0;
//   if (try_lock(lock, my_token, liveness, owner, &word) == Taken::kNo) return kLater;
//   if (!store_while(held, shared.head, head + 1)) ...   // somebody has taken it away meanwhile
//   unlock(lock, word, held);
//
// Hold times are a copy's: a few hundred nanoseconds to milliseconds; a GPU copy may hold one
// across calls of its engine, so ownership is the process's, not the thread's.
//
// A lock is taken over when its holder has ended, and when it does not go on: it is stopped, or
// holds the lock for longer than anything takes. Such a holder may go on later. So first its epoch
// (a word of its segment) is changed: whatever it does under any lock of others' objects, it does
// by base/restartable.h while its epoch has not changed, and finds out. Only a segment's own owner
// is never cut off from its own objects: whoever finds such a one stopped comes back later.
#pragma once

#include "base/clock.h"
#include "base/restartable.h"
#include "rnic/shared.h"

namespace gdr::rnic {

// What its holder does under a lock, and so what has to have ended before it is taken over.
enum class HeldFor { kCopies, kBookkeeping };

// Answers whether the process behind a token still lives. Cold: asked after a millisecond's wait.
class Liveness {
 public:
  virtual ~Liveness() = default;
  // False once nothing of it moves a byte any more. Its GPU may copy for longer than it has
  // threads.
  virtual bool alive(Token token) = 0;
  // False once it has no threads any more: for what no GPU copy takes part in.
  virtual bool has_threads(Token token) { return alive(token); }
  // Cuts off one that lives and does not go on: it is stopped, or somebody has waited for longer
  // than anything takes. True: nothing that it has begun can follow any more.
  virtual bool cut_off(Token /*token*/, HeldFor /*purpose*/, Nanoseconds /*waited*/) {
    return false;
  }

  // What lasts until this process is cut off. Hot.
  While while_held() const { return {epoch_, epoch_->load(std::memory_order_acquire)}; }

 protected:
  // The word that others change to cut this process off; outlives every lock.
  void set_epoch(const std::atomic<std::uint64_t>& epoch) { epoch_ = &epoch; }

 private:
  static inline const std::atomic<std::uint64_t> kNever{0};
  const std::atomic<std::uint64_t>* epoch_ = &kNever;
};

enum class Taken {
  kNo,     // its holder goes on
  kFree,   // nobody held it
  kOrphan  // its holder is dead or cut off, and may have left half-done what it protects
};

// Takes the lock if it is free, or if its holder is dead or stopped. `owner`: whose segment it lies
// in. `*word`: for unlock().
Taken try_lock(SharedLock& lock, Token self, Liveness& liveness, Token owner,
               std::uint64_t* word = nullptr);

// What the word is then; 0: the lock is held by the process that it belongs to, which does not go
// on.
std::uint64_t wait_and_lock(SharedLock& lock, Token self, Liveness& liveness, HeldFor purpose,
                            Token owner);

inline Token holder_of(std::uint64_t word) { return static_cast<Token>(word >> 32); }

// Nobody's token, and no free lock's: whoever takes this lock next finds it orphaned.
constexpr Token kNobody = 1;
static_assert(slot_of(kNobody) == 0);

// One attempt; `seen` is what its word was. What it is then, or 0. Hot.
inline std::uint64_t take_lock(SharedLock& lock, std::uint64_t seen, Token self) {
  const std::uint64_t word = std::uint64_t{self} << 32 | ((seen + 1) & 0xffff'ffff);
  return lock.word.compare_exchange_strong(seen, word) ? word : 0;
}

// As wait_and_lock().
inline std::uint64_t lock(SharedLock& lock, Token self, Liveness& liveness, HeldFor purpose,
                          Token owner) {
  const std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
  if (holder_of(seen) == 0) {
    if (const std::uint64_t word = take_lock(lock, seen, self)) return word;
  }
  return wait_and_lock(lock, self, liveness, purpose, owner);
}

Taken spin_and_try_lock(SharedLock& lock, Token self, Liveness& liveness, Token owner, int spins,
                        std::uint64_t* word);

// Waits at most `spins` rounds of a few nanoseconds each.
inline Taken try_lock_for(SharedLock& lock, Token self, Liveness& liveness, Token owner, int spins,
                          std::uint64_t* word) {
  const std::uint64_t seen = lock.word.load(std::memory_order_relaxed);
  if (holder_of(seen) == 0) {
    *word = take_lock(lock, seen, self);
    if (*word != 0) return Taken::kFree;
  }
  return spin_and_try_lock(lock, self, liveness, owner, spins, word);
}

// By the process that the lock belongs to, which nobody cuts off from it.
inline void unlock(SharedLock& lock) {
  const std::uint64_t word = lock.word.load(std::memory_order_relaxed);
  lock.word.store(word & 0xffff'ffff, std::memory_order_release);
}

// Leaves the lock of a holder that was cut off to be repaired, unless it has been taken over.
void leave_orphaned(SharedLock& lock, std::uint64_t word);

// By anybody else; `word`: what it was when it was taken.
inline void unlock(SharedLock& lock, std::uint64_t word, const While& held) {
  if (!store_while(held, lock.word, word & 0xffff'ffff)) leave_orphaned(lock, word);
}
// The same, with a mark of what was under way under the lock, which is over: set to 0 before.
inline void unlock(SharedLock& lock, std::uint64_t word, const While& held,
                   std::atomic<std::uint64_t>& mark) {
  if (!store_two_while(held, mark, 0, lock.word, word & 0xffff'ffff)) leave_orphaned(lock, word);
}

// Returns when whoever holds the lock now has let go of it, or is dead or cut off. Does not take
// it.
void wait_for_present_holder(SharedLock& lock, Liveness& liveness);

// The same without waiting: the present holding of the lock (0: nobody holds it), and whether that
// has ended. `waited`: for how long somebody has asked.
std::uint64_t present_holding(SharedLock& lock);
bool has_ended(SharedLock& lock, std::uint64_t holding, Liveness& liveness, Nanoseconds waited = 0);

// Holds a lock of this process's own segment.
class LockGuard {
 public:
  LockGuard(SharedLock& shared_lock, Token self, Liveness& liveness,
            HeldFor purpose = HeldFor::kCopies)
      : lock_(shared_lock) {
    (void)lock(lock_, self, liveness, purpose, self);
  }
  ~LockGuard() { unlock(lock_); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  SharedLock& lock_;
};

}  // namespace gdr::rnic
