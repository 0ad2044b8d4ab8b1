// OtherProcess: this program once more, started before any device is open, with a socket between
// the two. It is killed and reaped at the end, and ends with its parent; a parent whose other
// process ends before gives up.
//
//   OtherProcess target(SOCK_STREAM, "target");  // argv: "target", and the number of its socket
//   send(target.socket(), &order, sizeof order, MSG_NOSIGNAL);
#pragma once

#include <sys/types.h>

namespace gdr::bench {

class OtherProcess {
 public:
  // `type`: of the socket.
  OtherProcess(int type, const char* role);
  ~OtherProcess();
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  pid_t pid() const { return pid_; }
  int socket() const { return socket_; }

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace gdr::bench
