// IdleOptions: options of TCP that change nothing on an rsocket, because a reliable connection does
// their work itself or has no such thing. Programs that set them work without; so they are kept and
// given back. No I/O.
//
//   if (int error = options.set(IPPROTO_TCP, TCP_CORK, value); error != -ENOPROTOOPT) return error;
#pragma once

#include <map>
#include <optional>
#include <utility>

namespace gdr::rsockets {

class IdleOptions {
 public:
  // 0, or -ENOPROTOOPT: not one of them.
  int set(int level, int option, int value);
  // What was set, or the kernel's value for a new socket; nothing: not one of them.
  std::optional<int> get(int level, int option) const;

 private:
  std::map<std::pair<int, int>, int> set_;
};

}  // namespace gdr::rsockets
