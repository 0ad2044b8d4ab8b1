// What <rdma/rsocket.h> has since rdma-core 65, where the header that this is compiled with may be
// older: epoll over rsockets and ordinary descriptors. rclose() closes an instance.
#pragma once

#include <sys/epoll.h>

extern "C" {

int repoll_create(int flags);
int repoll_ctl(int epfd, int op, int fd, struct epoll_event* event);
int repoll_wait(int epfd, struct epoll_event* events, int maxevents, int timeout);

}  // extern "C"
