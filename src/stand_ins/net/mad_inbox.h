// MadInbox: management datagrams between their arrival, where nothing may be waited for, and the
// thread that finds out whose they are.
//
//   switch (inbox.put(arrived)) { case MadInbox::Put::kFirst: wake_the_thread(); ... }
//   while (inbox.take(&arrived)) ...
//
// It has an end, and those that flood may not fill it (base/fair_share.h). Threads: any.
#pragma once

#include "base/spin_lock.h"
#include "net/fair_queue.h"
#include "net/mad.h"

namespace gdr::net {

struct ArrivedMad {
  Mad mad;
  std::uint32_t device = 0;
  std::uint16_t source_port = 0;
  bool is_stray = false;  // handed over by another process
};

class MadInbox {
 public:
  static constexpr std::size_t kRoom = 4096;

  enum class Put { kFirst, kBehindOthers, kSourceHasNoRoom, kNoRoom };
  Put put(const ArrivedMad& arrived);
  bool take(ArrivedMad* arrived);  // false: it is empty
  bool empty();

 private:
  SpinLock mutex_;
  FairQueue<ArrivedMad> waiting_;
};

}  // namespace gdr::net
