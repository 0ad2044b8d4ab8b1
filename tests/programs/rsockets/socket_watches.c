// Sockets that epoll watches before they connect or send, as event loops have them: epoll goes on
// to tell of them, whatever they become.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "socket_calls.h"

static const unsigned long long kMark = 0xfedcba987654321ULL;

static int control(int poll, int operation, int fd, unsigned events) {
  struct epoll_event event = {events, {.u64 = kMark}};
  return epoll_ctl(poll, operation, fd, &event);
}

static unsigned event_of(int poll, int milliseconds) {
  struct epoll_event found[4];
  const int count = epoll_wait(poll, found, 4, milliseconds);
  CHECK(count == 0 || (count == 1 && found[0].data.u64 == kMark));
  return count == 0 ? 0 : found[0].events;
}

static int watch(int poll, int type, unsigned events) {
  const int fd = socket(AF_INET, type, 0);
  CHECK(fd >= 0 && poll >= 0 && control(poll, EPOLL_CTL_ADD, fd, events) == 0);
  return fd;
}

static void end(int poll, int fd) {
  CHECK(control(poll, EPOLL_CTL_ADD, fd, EPOLLIN) == -1 && errno == EEXIST);
  CHECK(epoll_ctl(poll, EPOLL_CTL_DEL, fd, NULL) == 0);
  CHECK(epoll_ctl(poll, EPOLL_CTL_DEL, fd, NULL) == -1 && errno == ENOENT);
  CHECK(event_of(poll, 0) == 0);
  CHECK(close(fd) == 0 && close(poll) == 0);
}

// A socket that is the kernel's, whatever is preloaded: with a stranger's program behind it.
static int strangers(int type, struct sockaddr_in* own) {
  socklen_t length = sizeof *own;
  const int fd = (int)syscall(SYS_socket, AF_INET, type, 0);
  *own = address;
  own->sin_port = 0;
  CHECK(fd >= 0 && bind(fd, (struct sockaddr*)own, sizeof *own) == 0);
  CHECK(getsockname(fd, (struct sockaddr*)own, &length) == 0 && own->sin_port != 0);
  return fd;
}

static void check_stream(void) {
  side = "watched stream";
  struct sockaddr_in there;
  const int listener = strangers(SOCK_STREAM, &there);
  CHECK(listen(listener, 1) == 0);
  const int poll = epoll_create1(0), gone = epoll_create1(0);
  const int fd = watch(poll, SOCK_STREAM | SOCK_NONBLOCK, EPOLLIN | EPOLLOUT | EPOLLET);
  CHECK(control(gone, EPOLL_CTL_ADD, fd, EPOLLIN) == 0 && close(gone) == 0);
  CHECK(connect(fd, (struct sockaddr*)&there, sizeof there) == 0 || errno == EINPROGRESS);
  CHECK(event_of(poll, 5000) == EPOLLOUT);
  CHECK(event_of(poll, 50) == 0);
  const int accepted = accept(listener, NULL, NULL);
  CHECK(accepted >= 0);
  send_pattern(accepted, 1, 10);
  CHECK(event_of(poll, 5000) == (EPOLLIN | EPOLLOUT));
  expect_pattern(fd, 1, 10);
  CHECK(control(poll, EPOLL_CTL_MOD, fd, EPOLLIN) == 0);
  CHECK(event_of(poll, 50) == 0);
  CHECK(close(accepted) == 0);
  CHECK(event_of(poll, 5000) == EPOLLIN);
  end(poll, fd);
  CHECK(close(listener) == 0);
}

static void check_refused(void) {
  side = "watched and refused";
  struct sockaddr_in nobody = address;
  nobody.sin_port = htons(9);
  const int poll = epoll_create1(0);
  const int fd = watch(poll, SOCK_STREAM | SOCK_NONBLOCK, EPOLLIN | EPOLLONESHOT);
  CHECK(connect(fd, (struct sockaddr*)&nobody, sizeof nobody) == -1);
  CHECK(errno == EINPROGRESS || errno == ECONNREFUSED);
  CHECK((event_of(poll, 5000) & EPOLLHUP) != 0);
  CHECK(event_of(poll, 0) == 0);
  CHECK(control(poll, EPOLL_CTL_MOD, fd, EPOLLOUT) == 0);
  CHECK((event_of(poll, 5000) & (EPOLLHUP | EPOLLOUT)) == (EPOLLHUP | EPOLLOUT));
  end(poll, fd);
}

// A broadcast, here by a duplicate, goes by UDP or not at all.
static void check_datagrams(void) {
  side = "watched datagrams";
  struct sockaddr_in there, own = address, all = address;
  socklen_t length = sizeof own;
  const int sender = strangers(SOCK_DGRAM, &there), poll = epoll_create1(0);
  const int fd = watch(poll, SOCK_DGRAM, EPOLLOUT), second = dup(fd);
  own.sin_port = 0;
  CHECK(bind(fd, (struct sockaddr*)&own, sizeof own) == 0);
  CHECK(getsockname(fd, (struct sockaddr*)&own, &length) == 0);
  CHECK(control(poll, EPOLL_CTL_MOD, fd, EPOLLIN) == 0);
  all.sin_addr.s_addr = htonl(INADDR_BROADCAST);
  CHECK(sendto(second, "", 1, 0, (struct sockaddr*)&all, sizeof all) == -1 && errno == EACCES);
  CHECK(close(second) == 0);
  CHECK(event_of(poll, 0) == 0);
  CHECK(sendto(sender, "", 1, 0, (struct sockaddr*)&own, sizeof own) == 1);
  CHECK(event_of(poll, 5000) == EPOLLIN);
  char byte;
  CHECK(recv(fd, &byte, 1, 0) == 1 && event_of(poll, 0) == 0);
  end(poll, fd);
  CHECK(close(sender) == 0);
}

void check_watches(void) {
  check_stream();
  check_refused();
  check_datagrams();
}

void serve_watched(int fd) {
  char byte;
  CHECK(read(fd, &byte, 1) == 1);
  send_pattern(fd, 0, 10);
  CHECK(read(fd, &byte, 1) == 0);
}
void ask_watched(void) {
  side = "watched before it connects";
  const int poll = epoll_create1(0);
  const int fd = watch(poll, SOCK_STREAM, EPOLLIN | EPOLLOUT | EPOLLET);
  CHECK(connect(fd, (struct sockaddr*)&address, sizeof address) == 0);
  CHECK(event_of(poll, 5000) == EPOLLOUT);
  CHECK(write(fd, "", 1) == 1);
  unsigned found = 0;
  do {
    found = event_of(poll, 5000);
    CHECK(found == EPOLLOUT || found == EPOLLIN || found == (EPOLLIN | EPOLLOUT));
  } while ((found & EPOLLIN) == 0);
  expect_pattern(fd, 0, 10);
  CHECK(control(poll, EPOLL_CTL_MOD, fd, EPOLLIN) == 0);
  CHECK(event_of(poll, 50) == 0);
  end(poll, fd);
}
