// LocalAddresses: which addresses are this host's, in this network namespace, and on which of them
// somebody has UDP port 4791.
//
//   if (local.contains(address) && !somebody_has_roce_port(address)) return ECONNREFUSED;
//
// Asking the kernel for its addresses takes tens of microseconds, which everybody who sends a
// packet could have spent: answers are kept for a second. Threads: any. Cold.
#pragma once

#include <map>
#include <mutex>

#include "base/clock.h"
#include "wire/icrc.h"

namespace gdr::net {

class LocalAddresses {
 public:
  bool contains(const wire::Address& address);

 private:
  struct Answer {
    bool is_local;
    Nanoseconds at;
  };
  static constexpr std::size_t kMostKept = 256;
  std::mutex mutex_;
  std::map<wire::Address, Answer> kept_;
};

// Any process of any account, or the kernel. True where /proc does not show it.
bool somebody_has_roce_port(const wire::Address& address);

}  // namespace gdr::net
