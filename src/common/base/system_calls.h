// socket(2) and epoll(7), past any library that is preloaded into the program. What a stand-in
// opens for itself has to be the kernel's: rdma-core's librspreload.so makes rsockets of a
// program's sockets and repoll instances of its epoll instances, and both are made of the
// stand-ins.
//
//   UniqueFd fd(system_socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
//   if (!fd) return -errno;
//
// Every other call finds out by the descriptor that it is not meant; those of epoll do not.
#pragma once

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace gdr {

inline int system_socket(int domain, int type, int protocol) {
  return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}

inline int system_epoll(int flags) { return static_cast<int>(syscall(SYS_epoll_create1, flags)); }

inline int system_epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event) {
  return static_cast<int>(syscall(SYS_epoll_ctl, epoll, operation, descriptor, event));
}

inline int system_epoll_wait(int epoll, epoll_event* events, int most, int patience_ms) {
  return static_cast<int>(
      syscall(SYS_epoll_pwait, epoll, events, most, patience_ms, nullptr, std::size_t{0}));
}

}  // namespace gdr
