// A program of ordinary socket calls, which knows nothing of RDMA: each check holds over TCP and
// UDP as the kernel has them. preload.py runs it as it is and with librspreload.so.
//
//   socket_calls ADDRESS    0: every check held; else a line says which did not
#include "socket_calls.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { kLimit = 30, kLarge = 300000 };

const char* side = "server";
struct sockaddr_in address;

static void check_descriptors(void) {
  // A number that no other descriptor gets meanwhile.
  const int fd = socket(AF_INET, SOCK_STREAM, 0), closed = dup2(fd, 200);
  CHECK(fd >= 0 && closed == 200 && close(closed) == 0 && close(fd) == 0);
  const int bad[] = {closed, -1, 1 << 28};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    char byte = 0;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    struct epoll_event event = {EPOLLIN, {.u64 = 0}};
    const int poll = epoll_create(1);
#define BAD(call) CHECK((call) == -1 && errno == EBADF)
    BAD(close(bad[i]));
    BAD(read(bad[i], &byte, 1));
    BAD(recvmsg(bad[i], &message, 0));
    BAD(write(bad[i], &byte, 1));
    BAD(sendmsg(bad[i], &message, 0));
    BAD(bind(bad[i], (struct sockaddr*)&address, sizeof address));
    BAD(listen(bad[i], 1));
    BAD(accept4(bad[i], NULL, NULL, SOCK_CLOEXEC));
    BAD(connect(bad[i], (struct sockaddr*)&address, sizeof address));
    BAD(shutdown(bad[i], SHUT_WR));
    BAD(getsockname(bad[i], (struct sockaddr*)&name, &length));
    BAD(setsockopt(bad[i], SOL_SOCKET, SO_REUSEADDR, &byte, 1));
    BAD(fcntl(bad[i], F_GETFL));
    BAD(dup(bad[i]));
    BAD(dup2(bad[i], 5));
    BAD(epoll_ctl(poll, EPOLL_CTL_ADD, bad[i], &event));
    BAD(epoll_wait(bad[i], &event, 1, 0));
    CHECK(bad[i] < 0 || waits_for(bad[i], POLLIN, 0) == POLLNVAL);
    CHECK(close(poll) == 0);
  }
}

static void check_unconnected(void) {
  char byte = 0;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP);
  CHECK(fd >= 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
  CHECK(recv(fd, &byte, 1, 0) == -1 && errno == ENOTCONN);
  CHECK(accept(fd, NULL, NULL) == -1 && errno == EINVAL);
  CHECK(shutdown(fd, SHUT_WR) == -1 && errno == ENOTCONN);
  struct sockaddr_in6 six = {.sin6_family = AF_INET6};
  CHECK(bind(fd, (struct sockaddr*)&six, sizeof six) == -1);
  CHECK(connect(fd, (struct sockaddr*)&address, 1) == -1 && errno == EINVAL);
  CHECK(close(fd) == 0 && close(fd) == -1 && errno == EBADF);
  CHECK(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP) == -1 && errno == EPROTONOSUPPORT);
}

static void check_limits(void) {
  const struct rlimit before = {4096, 4096};
  struct rlimit few;
  CHECK(getrlimit(RLIMIT_NOFILE, &few) == 0);
  if (few.rlim_max >= 4096) CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  // A number that no fd_set holds.
  const int fd = socket(AF_INET, SOCK_DGRAM, 0), high = fcntl(fd, F_DUPFD, 2000);
  CHECK(high >= 2000 && waits_for(high, POLLOUT, 0) == POLLOUT);
  CHECK(close(fd) == 0 && close(high) == 0);
  CHECK(getrlimit(RLIMIT_NOFILE, &few) == 0);
  few.rlim_cur = 40;
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  int all[64], count = 0;
  while (count < 64 && (all[count] = socket(AF_INET, SOCK_STREAM, 0)) >= 0) ++count;
  CHECK(count < 64 && errno == EMFILE);
  while (count > 0) CHECK(close(all[--count]) == 0);
  few.rlim_cur = few.rlim_max;
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
}

static void check_refused(void) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in nobody = address;
  nobody.sin_port = htons(9);
  if (connect(fd, (struct sockaddr*)&nobody, sizeof nobody) == -1 && errno == EINPROGRESS) {
    CHECK((waits_for(fd, POLLOUT, 5000) & POLLOUT) != 0);
    int error = 0;
    socklen_t length = sizeof error;
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0);
    errno = error;
  }
  CHECK(errno == ECONNREFUSED);
  CHECK(close(fd) == 0);
}

// Until the client has gone.
static void serve_datagrams(int fd, int client) {
  for (;;) {
    struct pollfd both[2] = {{fd, POLLIN, 0}, {client, POLLIN, 0}};
    CHECK(poll(both, 2, -1) > 0);
    if (both[1].revents != 0) return;
    char bytes[2000];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    const ssize_t count = recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr*)&from, &length);
    CHECK(count > 0 && length == sizeof from);
    CHECK(sendto(fd, bytes, (size_t)count, 0, (struct sockaddr*)&from, length) == count);
  }
}

// Datagrams may be lost or late: then they are sent again, and may come twice.
static void ask_datagrams(void) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(connect(fd, (struct sockaddr*)&address, sizeof address) == 0);
  for (size_t i = 0; i < 20; ++i) {
    unsigned char bytes[900], back[2000] = {0};
    for (size_t k = 0; k < sizeof bytes; ++k) bytes[k] = byte_at(k + i);
    do {
      CHECK(send(fd, bytes, sizeof bytes, 0) == sizeof bytes);
      if (waits_for(fd, POLLIN, 1000) == 0) continue;
      CHECK(queued(fd) == sizeof bytes);
      CHECK(recv(fd, back, 100, MSG_TRUNC | MSG_PEEK) == sizeof bytes);
      CHECK(recv(fd, back, sizeof back, 0) == sizeof bytes);
    } while (memcmp(bytes, back, sizeof bytes) != 0);
  }
  CHECK(close(fd) == 0);
}

static int listen_at(int type) {
  const int fd = socket(AF_INET, type, 0), on = 1;
  socklen_t length = sizeof address;
  CHECK(fd >= 0);
  CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
  CHECK(bind(fd, (struct sockaddr*)&address, sizeof address) == 0);
  if (type == SOCK_STREAM) CHECK(listen(fd, 5) == 0);
  CHECK(getsockname(fd, (struct sockaddr*)&address, &length) == 0 && address.sin_port != 0);
  return fd;
}

// What a program has sent arrives, though it ends without closing.
static void send_and_exit(void) {
  side = "one that exits";
  const pid_t child = fork();
  if (child == 0) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr*)&address, sizeof address) == 0);
    send_pattern(fd, 0, kLarge);
    exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void serve(int tell, int client) {
  const int listener = listen_at(SOCK_STREAM);
  CHECK(write(tell, &address.sin_port, sizeof address.sin_port) == sizeof address.sin_port);
  for (int i = 0; i < kPairCount; ++i) {
    const int fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    kPairs[i].serve(fd);
    CHECK(close(fd) == 0);
  }
  const int watched = accept(listener, NULL, NULL);
  CHECK(watched >= 0);
  serve_watched(watched);
  CHECK(close(watched) == 0);
  const int last = accept(listener, NULL, NULL);
  CHECK(last >= 0);
  expect_pattern(last, 0, kLarge);
  char byte;
  CHECK(read(last, &byte, 1) == 0);
  CHECK(close(last) == 0);
  CHECK(close(listener) == 0);
  address.sin_port = 0;
  const int datagrams = listen_at(SOCK_DGRAM);
  CHECK(write(tell, &address.sin_port, sizeof address.sin_port) == sizeof address.sin_port);
  serve_datagrams(datagrams, client);
  CHECK(close(datagrams) == 0);
}

static void ask(int told) {
  side = "client";
  check_descriptors();
  check_unconnected();
  check_limits();
  CHECK(read(told, &address.sin_port, sizeof address.sin_port) == sizeof address.sin_port);
  for (int i = 0; i < kPairCount; ++i) {
    side = kPairs[i].name;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr*)&address, sizeof address) == 0);
    kPairs[i].ask(fd);
    CHECK(close(fd) == 0);
  }
  ask_watched();
  send_and_exit();
  check_refused();
  check_watches();
  side = "datagrams";
  CHECK(read(told, &address.sin_port, sizeof address.sin_port) == sizeof address.sin_port);
  ask_datagrams();
}

int main(int count, char** words) {
  address.sin_family = AF_INET;
  if (count != 2 || inet_pton(AF_INET, words[1], &address.sin_addr) != 1) return 2;
  int ports[2], gone[2];
  if (pipe(ports) != 0 || pipe(gone) != 0) return 1;
  const pid_t server = fork();
  alarm(kLimit);
  if (server == 0) {
    close(gone[1]);
    serve(ports[1], gone[0]);
    return 0;
  }
  close(ports[1]);
  ask(ports[0]);
  close(gone[1]);
  side = "server's end";
  int status = -1;
  CHECK(waitpid(server, &status, 0) == server && status == 0);
  puts("every check held");
  return 0;
}
