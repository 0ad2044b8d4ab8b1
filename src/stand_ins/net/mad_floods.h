// MadFloods: which sources have lately sent more management datagrams than can be looked at, for
// the port's filter. Each is forgotten after a while. Threads: any. Cold.
//
//   floods.add(arrival.source, time);
//   rules.mads = floods.present(time);
#pragma once

#include <map>
#include <mutex>

#include "base/clock.h"
#include "net/port_filter.h"

namespace gdr::net {

class MadFloods {
 public:
  static constexpr std::size_t kMostSources = 8;  // of more, all are thinned
  static constexpr Nanoseconds kKept = 20 * kSecond;

  void add(const wire::Address& source, Nanoseconds time);
  void add_all(Nanoseconds time);
  ThinnedMads present(Nanoseconds time);

 private:
  std::mutex mutex_;
  std::map<wire::Address, Nanoseconds> sources_;  // when last
  Nanoseconds all_until_ = 0;
};

}  // namespace gdr::net
