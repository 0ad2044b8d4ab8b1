// HeldLocks: the locks of this process's own objects that others hold, looked after by its service
// thread. An initiator that meets a lock whose holder it does not know (that one was stopped when
// they should have met) cannot cut it off; the owner of the lock, who has met both, can.
//
//   held.begin();
//   held.look_at(queue_pair.shared().responder, HeldFor::kCopies);
//   held.end();
//
// Service thread.
#pragma once

#include <unordered_map>
#include <utility>

#include "rnic/shared_lock.h"

namespace gdr::rnic {

class HeldLocks {
 public:
  HeldLocks(Token self, Liveness& liveness) : self_(self), liveness_(liveness) {}

  // False: the last look was a moment ago.
  bool begin();
  // Left to be mended by whoever takes it next, if its holder does not go on.
  void look_at(SharedLock& lock, HeldFor purpose);
  void end() { before_ = std::exchange(now_held_, {}); }

 private:
  struct Held {
    std::uint64_t word;
    Nanoseconds since;
  };

  const Token self_;
  Liveness& liveness_;
  Nanoseconds looked_at_ = 0;
  std::unordered_map<const SharedLock*, Held> before_, now_held_;
};

}  // namespace gdr::rnic
