// The calls that this library stands in front of, as the next library has them.
//
//   return real().recv(fd, buffer, length, flags);
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define GDR_SHOWN extern "C" __attribute__((visibility("default")))

namespace gdr::rspreload {

// clang-format off
#define GDR_REAL_CALLS(CALL)                                                                     \
  CALL(socket) CALL(bind) CALL(listen) CALL(accept) CALL(accept4) CALL(connect) CALL(shutdown)   \
  CALL(getsockname) CALL(getpeername) CALL(getsockopt) CALL(setsockopt)                          \
  CALL(recv) CALL(recvfrom) CALL(recvmsg) CALL(recvmmsg) CALL(read) CALL(readv)                  \
  CALL(send) CALL(sendto) CALL(sendmsg) CALL(sendmmsg) CALL(write) CALL(writev)                  \
  CALL(sendfile)                                                                                 \
  CALL(poll) CALL(ppoll) CALL(select) CALL(pselect)                                              \
  CALL(epoll_create1) CALL(epoll_ctl) CALL(epoll_wait) CALL(epoll_pwait)                         \
  CALL(close) CALL(dup) CALL(dup2) CALL(dup3) CALL(fcntl) CALL(ioctl)
// clang-format on

struct RealCalls {
  // Since glibc 2.34 and 2.35; null where the program cannot call them either.
  int (*close_range)(unsigned, unsigned, int);
  void (*closefrom)(int);
  int (*epoll_pwait2)(int, epoll_event*, int, const timespec*, const sigset_t*);
#define GDR_MEMBER(name) decltype(&::name) name;
  GDR_REAL_CALLS(GDR_MEMBER)
#undef GDR_MEMBER
};

const RealCalls& real();

}  // namespace gdr::rspreload
