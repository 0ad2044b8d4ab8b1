// Two processes that talk over rsockets, each a function that runs in a child of the test. The test
// itself never touches the NIC, so it may fork as often as it likes.
//
//   run_sides([](int listener) { serve(listener); }, [](const sockaddr_in& to) { ask(to); });
//
// CHECK() ends a side with a message; a side that takes longer than kLimit seconds is ended.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <rdma/rsocket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "soon.h"

namespace gdr::test {

constexpr unsigned kLimit = 200;

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      std::fprintf(stderr, "%s:%d: pid %d: %s is false (%s)\n", __FILE__, __LINE__, getpid(), \
                   #condition, std::strerror(errno));                                         \
      _exit(1);                                                                               \
    }                                                                                         \
  } while (false)

inline int listen_somewhere(sockaddr_in* at, int type = 0) {
  const int listener = rsocket(AF_INET, SOCK_STREAM | type, 0);
  CHECK(listener >= 0);
  at->sin_family = AF_INET;
  at->sin_port = 0;
  at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(rbind(listener, reinterpret_cast<sockaddr*>(at), sizeof *at) == 0);
  CHECK(rlisten(listener, 128) == 0);
  socklen_t length = sizeof *at;
  CHECK(rgetsockname(listener, reinterpret_cast<sockaddr*>(at), &length) == 0);
  CHECK(at->sin_port != 0);
  return listener;
}

inline pid_t run_side(const std::function<void()>& side) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(kLimit);
  side();
  _exit(0);
}

inline void expect_ended_well(pid_t child, const char* name) {
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << name << " ended with status " << status;
}

inline void run_sides(const std::function<void(int)>& server,
                      const std::function<void(const sockaddr_in&)>& client) {
  int address[2];
  ASSERT_EQ(pipe(address), 0);
  const pid_t first = run_side([&] {
    sockaddr_in at{};
    const int listener = listen_somewhere(&at);
    CHECK(write(address[1], &at, sizeof at) == sizeof at);
    server(listener);
  });
  const pid_t second = run_side([&] {
    close(address[1]);
    sockaddr_in at{};
    CHECK(read(address[0], &at, sizeof at) == sizeof at);
    client(at);
  });
  close(address[0]);
  close(address[1]);
  expect_ended_well(second, "the client");
  expect_ended_well(first, "the server");
}

inline int connect_to(const sockaddr_in& at) {
  const int fd = rsocket(AF_INET, SOCK_STREAM, 0);
  CHECK(fd >= 0);
  CHECK(rconnect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
  return fd;
}

inline int accept_one(int listener) {
  const int fd = raccept(listener, nullptr, nullptr);
  CHECK(fd >= 0);
  return fd;
}

// Bytes whose value tells their place.
class Pattern {
 public:
  explicit Pattern(std::uint32_t seed) : random_(seed) {}
  std::uint8_t next() {
    if (left_ == 0) {
      word_ = random_();
      left_ = 4;
    }
    const auto byte = static_cast<std::uint8_t>(word_);
    word_ >>= 8;
    --left_;
    return byte;
  }

 private:
  std::mt19937 random_;
  std::uint32_t word_ = 0;
  int left_ = 0;
};

inline void send_all(int fd, const std::uint8_t* bytes, std::size_t length) {
  while (length > 0) {
    const ssize_t sent = rsend(fd, bytes, length, 0);
    CHECK(sent > 0);
    bytes += sent;
    length -= static_cast<std::size_t>(sent);
  }
}

}  // namespace gdr::test
