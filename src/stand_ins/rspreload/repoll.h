// What <rdma/rsocket.h> has since rdma-core 65, where the header at hand may be older.
#pragma once

#include <sys/epoll.h>

extern "C" {

int repoll_create(int flags);
int repoll_ctl(int epfd, int op, int fd, struct epoll_event* event);
int repoll_wait(int epfd, struct epoll_event* events, int maxevents, int timeout);

}  // extern "C"
