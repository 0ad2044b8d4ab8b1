// Connections, one after the other: what the server does, and what the client does.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "socket_calls.h"

enum { kLarge = 300000 };

unsigned char byte_at(size_t place) { return (unsigned char)(place * 31 + place / 251); }

void send_pattern(int fd, size_t from, size_t count) {
  unsigned char* bytes = malloc(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = byte_at(from + i);
  for (size_t sent = 0; sent < count;) {
    const ssize_t now = send(fd, bytes + sent, count - sent, 0);
    CHECK(now > 0);
    sent += (size_t)now;
  }
  free(bytes);
}

void expect_pattern(int fd, size_t from, size_t count) {
  unsigned char bytes[8192];
  while (count > 0) {
    const ssize_t now = recv(fd, bytes, count < sizeof bytes ? count : sizeof bytes, 0);
    CHECK(now > 0);
    for (ssize_t i = 0; i < now; ++i) CHECK(bytes[i] == byte_at(from + (size_t)i));
    from += (size_t)now;
    count -= (size_t)now;
  }
}

static void expect_end(int fd) {
  char byte;
  CHECK(read(fd, &byte, 1) == 0);
}

int waits_for(int fd, short events, int milliseconds) {
  struct pollfd one = {fd, events, 0};
  const int count = poll(&one, 1, milliseconds);
  CHECK(count >= 0);
  return one.revents;
}

int queued(int fd) {
  int count = -1;
  CHECK(ioctl(fd, FIONREAD, &count) == 0);
  return count;
}

static void serve_peeks(int fd) {
  send_pattern(fd, 0, 100);
  expect_end(fd);
}
static void ask_peeks(int fd) {
  unsigned char bytes[200];
  CHECK(waits_for(fd, POLLIN, 5000) == POLLIN);
  CHECK(queued(fd) == 100);
  CHECK(recv(fd, bytes, 10, MSG_PEEK) == 10 && bytes[9] == byte_at(9));
  CHECK(recv(fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT) == 100);
  CHECK(recv(fd, NULL, 20, MSG_TRUNC) == 20);  // of a stream: thrown away
  expect_pattern(fd, 20, 80);
  CHECK(queued(fd) == 0);
  CHECK(recv(fd, bytes, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
}

static void serve_half_close(int fd) {
  expect_pattern(fd, 0, kLarge);
  expect_end(fd);
  send_pattern(fd, 7, kLarge);
}
static void ask_half_close(int fd) {
  send_pattern(fd, 0, kLarge);
  CHECK(shutdown(fd, SHUT_WR) == 0);
  CHECK(send(fd, "", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
  expect_pattern(fd, 7, kLarge);
  expect_end(fd);
}

static void serve_not_blocking(int fd) {
  char byte;
  CHECK(read(fd, &byte, 1) == 1);
  expect_pattern(fd, 1, kLarge);
}
static void ask_not_blocking(int fd) {
  CHECK((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
  CHECK(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0);
  CHECK((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
  char byte = 0;
  CHECK(read(fd, &byte, 1) == -1 && errno == EAGAIN);
  CHECK(waits_for(fd, POLLIN, 0) == 0 && waits_for(fd, POLLOUT, 1000) == POLLOUT);
  CHECK(write(fd, &byte, 1) == 1);
  size_t sent = 0;
  unsigned char* bytes = malloc(kLarge);
  for (size_t i = 0; i < kLarge; ++i) bytes[i] = byte_at(1 + i);
  while (sent < kLarge) {
    const ssize_t now = write(fd, bytes + sent, kLarge - sent);
    if (now > 0) sent += (size_t)now;
    if (now < 0) CHECK(errno == EAGAIN && (waits_for(fd, POLLOUT, 5000) & POLLOUT) != 0);
  }
  free(bytes);
  int on = 0;
  CHECK(ioctl(fd, FIONBIO, &on) == 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
}

static void serve_time_limit(int fd) { expect_end(fd); }
static void ask_time_limit(int fd) {
  const struct timeval limit = {0, 200000};
  struct timeval kept;
  socklen_t length = sizeof kept;
  CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  CHECK(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kept, &length) == 0 && kept.tv_usec == 200000);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  char byte;
  CHECK(recv(fd, &byte, 1, 0) == -1 && errno == EAGAIN);
  clock_gettime(CLOCK_MONOTONIC, &end);
  CHECK((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 190);
}

static void serve_select(int fd) {
  usleep(100000);
  send_pattern(fd, 0, 10);
  expect_end(fd);
}
static void ask_select(int fd) {
  int ordinary[2];
  CHECK(pipe(ordinary) == 0);
  fd_set readable, writable;
  FD_ZERO(&readable);
  FD_ZERO(&writable);
  FD_SET(fd, &readable);
  FD_SET(ordinary[0], &readable);
  struct timeval limit = {5, 0};
  const int count = (fd > ordinary[0] ? fd : ordinary[0]) + 1;
  CHECK(select(count, &readable, NULL, NULL, &limit) == 1);
  CHECK(FD_ISSET(fd, &readable) && !FD_ISSET(ordinary[0], &readable));
  CHECK(limit.tv_sec < 5);  // Linux says what is left
  FD_SET(fd, &writable);
  CHECK(write(ordinary[1], "", 1) == 1);
  FD_SET(ordinary[0], &readable);
  CHECK(select(count, &readable, &writable, NULL, NULL) == 3);
  close(ordinary[1]);
  close(ordinary[0]);
  FD_SET(ordinary[0], &readable);
  limit.tv_sec = 1;
  CHECK(select(count, &readable, NULL, NULL, &limit) == -1 && errno == EBADF);
  expect_pattern(fd, 0, 10);
}

static int event_of(int poll, int milliseconds) {
  struct epoll_event found[4];
  const int count = epoll_wait(poll, found, 4, milliseconds);
  CHECK(count == 0 || count == 1);
  CHECK(count == 0 || found[0].data.u64 == 0x123456789abcdefULL);
  return count == 0 ? 0 : (int)found[0].events;
}

static void serve_epoll(int fd) {
  char byte;
  send_pattern(fd, 0, 10);
  CHECK(read(fd, &byte, 1) == 1);
  send_pattern(fd, 10, 10);
  expect_end(fd);
}
static void ask_epoll(int fd) {
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  CHECK(poll >= 0);
  struct epoll_event event = {EPOLLIN | EPOLLET, {.u64 = 0x123456789abcdefULL}};
  CHECK(epoll_ctl(poll, EPOLL_CTL_MOD, fd, &event) == -1 && errno == ENOENT);
  CHECK(epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0);
  CHECK(epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == -1 && errno == EEXIST);
  CHECK(event_of(poll, 5000) == EPOLLIN);
  CHECK(event_of(poll, 50) == 0);  // the same bytes are no second edge
  CHECK(write(fd, "", 1) == 1);
  CHECK(event_of(poll, 5000) == EPOLLIN);  // new ones are
  event.events = EPOLLIN | EPOLLONESHOT;
  CHECK(epoll_ctl(poll, EPOLL_CTL_MOD, fd, &event) == 0);
  CHECK(event_of(poll, 5000) == EPOLLIN);
  CHECK(event_of(poll, 50) == 0);
  event.events = EPOLLIN | EPOLLOUT;
  CHECK(epoll_ctl(poll, EPOLL_CTL_MOD, fd, &event) == 0);
  CHECK(event_of(poll, 5000) == (EPOLLIN | EPOLLOUT) && event_of(poll, 0) != 0);
  expect_pattern(fd, 0, 20);
  CHECK(event_of(poll, 5000) == EPOLLOUT);
  CHECK(epoll_ctl(poll, EPOLL_CTL_DEL, fd, NULL) == 0);
  CHECK(event_of(poll, 0) == 0);
  CHECK(close(poll) == 0);
}

static void serve_duplicates(int fd) {
  expect_pattern(fd, 0, 300);
  expect_end(fd);
}
static void ask_duplicates(int fd) {
  const int second = dup(fd), third = fcntl(fd, F_DUPFD_CLOEXEC, 50);
  CHECK(second >= 0 && third >= 50 && (fcntl(third, F_GETFD) & FD_CLOEXEC) != 0);
  const int place = open("/dev/null", O_WRONLY);
  CHECK(dup2(fd, place) == place);
  send_pattern(place, 0, 100);
  CHECK(close(place) == 0 && close(third) == 0);
  send_pattern(second, 100, 100);
  // The connection goes on until the last of them is closed.
  CHECK(dup2(second, fd) == fd && close(second) == 0);
  send_pattern(fd, 200, 100);
}

static void serve_file(int fd) {
  expect_pattern(fd, 1000, 50000);
  expect_end(fd);
}
static void ask_file(int fd) {
  FILE* file = tmpfile();
  CHECK(file != NULL);
  for (size_t i = 0; i < 60000; ++i) fputc(byte_at(i), file);
  CHECK(fflush(file) == 0);
  off_t at = 1000;
  while (at < 51000) CHECK(sendfile(fd, fileno(file), &at, (size_t)(51000 - at)) > 0);
  CHECK(sendfile(fd, -1, NULL, 1) == -1 && errno == EBADF);
  fclose(file);
}

static void serve_names(int fd) {
  struct sockaddr_in own, peer;
  socklen_t length = sizeof own;
  CHECK(getsockname(fd, (struct sockaddr*)&own, &length) == 0 && length == sizeof own);
  CHECK(own.sin_port == address.sin_port && own.sin_addr.s_addr == address.sin_addr.s_addr);
  CHECK(getpeername(fd, (struct sockaddr*)&peer, &length) == 0 && peer.sin_port != 0);
  CHECK(write(fd, &peer.sin_port, sizeof peer.sin_port) == sizeof peer.sin_port);
  expect_end(fd);
}
static void ask_names(int fd) {
  struct sockaddr_in own, peer;
  socklen_t length = sizeof own;
  CHECK(getsockname(fd, (struct sockaddr*)&own, &length) == 0);
  CHECK(getpeername(fd, (struct sockaddr*)&peer, &length) == 0);
  CHECK(peer.sin_port == address.sin_port);
  in_port_t seen = 0;
  CHECK(recv(fd, &seen, sizeof seen, MSG_WAITALL) == sizeof seen && seen == own.sin_port);
  struct stat status;
  CHECK(fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode));
  int value = 0;
  length = sizeof value;
  CHECK(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &length) == 0 && value == SOCK_STREAM);
  CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &length) == 0 && value == 0);
  CHECK(getsockopt(fd, SOL_SOCKET, 4711, &value, &length) == -1 && errno == ENOPROTOOPT);
  CHECK(setsockopt(fd, SOL_SOCKET, 4711, &value, length) == -1 && errno == ENOPROTOOPT);
  CHECK(connect(fd, (struct sockaddr*)&address, sizeof address) == -1 && errno == EISCONN);
}

static volatile sig_atomic_t pipes = 0;
static void on_pipe(int number) { pipes += number == SIGPIPE; }

static void serve_broken_pipe(int fd) {
  char byte;
  CHECK(read(fd, &byte, 1) == 1);
}
static void ask_broken_pipe(int fd) {
  signal(SIGPIPE, on_pipe);
  CHECK(write(fd, "", 1) == 1);
  expect_end(fd);
  int count = 0;
  for (; count < 1000 && write(fd, "", 1) == 1; ++count) usleep(1000);
  CHECK(count < 1000 && (errno == EPIPE || errno == ECONNRESET));
  CHECK(write(fd, "", 1) == -1 && errno == EPIPE && pipes > 0);
  const int before = pipes;
  CHECK(send(fd, "", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE && pipes == before);
}

static void serve_beside_a_child(int fd) {
  expect_pattern(fd, 0, 200);
  expect_end(fd);
}
static void ask_beside_a_child(int fd) {
  send_pattern(fd, 0, 100);
  // Children that end and that close what they have inherited take nothing from their parent.
  pid_t child = fork();
  if (child == 0) {
    close(fd);
    exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  child = vfork();
  if (child == 0) {
    close(fd);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  send_pattern(fd, 100, 100);
}

const struct Pair kPairs[] = {
    {"peeks", serve_peeks, ask_peeks},
    {"half close", serve_half_close, ask_half_close},
    {"not blocking", serve_not_blocking, ask_not_blocking},
    {"time limit", serve_time_limit, ask_time_limit},
    {"select", serve_select, ask_select},
    {"epoll", serve_epoll, ask_epoll},
    {"duplicates", serve_duplicates, ask_duplicates},
    {"file", serve_file, ask_file},
    {"names", serve_names, ask_names},
    {"broken pipe", serve_broken_pipe, ask_broken_pipe},
    {"beside a child", serve_beside_a_child, ask_beside_a_child},
};
const int kPairCount = sizeof kPairs / sizeof *kPairs;
