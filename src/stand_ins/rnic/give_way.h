// GiveWay: lets others run while a program polls an empty queue. Two programs that wait for each
// other by polling, on one processor, would take turns by whole time slices, and one round trip
// would take two of them: 8 ms instead of 4 us. A NIC's programs do so, but those of this one more
// often have to share a processor.
//
//   if (nothing_has_come_since_the_last_look) give_way.after_idle_look(time);
//
// A thread that has its processor for itself only asks the kernel, once in a millisecond, whether
// that is so. Any thread; cold.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace gdr::rnic {

class GiveWay {
 public:
  // True: others have had the processor.
  bool after_idle_look(Nanoseconds time);
  // It was in vain: who had it for so long has brought nothing. Not again for some time.
  void was_in_vain(Nanoseconds since);

 private:
  bool is_contended(Nanoseconds time);

  // Involuntary switches of the polling thread, as last seen: they grow only where another thread
  // wants its processor, and also when it yields to that.
  std::atomic<long> switches_{0};
  std::atomic<Nanoseconds> asked_at_{0}, contended_until_{0}, not_before_{0};
};

}  // namespace gdr::rnic
