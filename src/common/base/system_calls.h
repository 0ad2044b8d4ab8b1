// socket(2) and epoll_create1(2), past any library that is preloaded into the program. What a
// stand-in opens for itself has to be the kernel's: librspreload.so makes rsockets of a program's
// sockets, and rsockets are made of the stand-ins.
//
//   UniqueFd fd(system_socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
//   if (!fd) return -errno;
//
// Every other call finds out by the descriptor that it is not meant.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace gdr {

inline int system_socket(int domain, int type, int protocol) {
  return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}

inline int system_epoll(int flags) { return static_cast<int>(syscall(SYS_epoll_create1, flags)); }

}  // namespace gdr
