// Route: where a call on a descriptor goes: to the rsocket behind it, or to the C library.
//
//   const Route to(fd, Touch::kData, flags);
//   if (to.failed()) return -1;
//   return to.is_rsocket() ? rrecv(to.rsocket(), ...) : real().recv(fd, ...);
#pragma once

#include "rspreload/table.h"

namespace gdr::rspreload {

enum class Touch {
  kState,  // asks or changes something
  kData,   // uses the connection, which has to be decided (fork_handshake.h)
};

class Route {
 public:
  // `flags`: with MSG_DONTWAIT, nothing waits.
  Route(int fd, Touch touch, int flags = 0);

  // errno says why.
  bool failed() const { return failed_; }
  bool is_rsocket() const { return rsocket_ >= 0; }
  int rsocket() const { return rsocket_; }
  bool is_stream() const;
  // What is behind it, if anything; also where the call goes to the C library.
  const Held& held() const { return held_; }

 private:
  Held held_;
  int rsocket_ = -1;
  bool failed_ = false;
};

// Leaves the connection to its front, with the address that the program has bound and the epoll
// instances that watch it. False: errno says why the front could not have them.
bool become_plain(Connection& connection, int front);

}  // namespace gdr::rspreload
