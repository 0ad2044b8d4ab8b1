// Two processes that talk by datagram rsockets: as sides.h, for servers that are bound.
//
//   TEST_F(RsocketDatagram, ComesBack) {
//     run([](int fd) { echo(fd); }, [](const sockaddr_in& at) { ask(connected(at), "x"); });
//   }
#pragma once

#include <poll.h>

#include <string>
#include <string_view>

#include "sides.h"

namespace gdr::test {

// The data of a datagram: a packet of 2048 bytes but for the longer one of the two headers.
constexpr std::size_t kLargest = 2048 - 16;

// A device of this test's own, so that others may run meanwhile.
class RsocketDatagram : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto number = static_cast<unsigned>(getpid());
    own_ = "127.20." + std::to_string(number / 250 % 250) + "." + std::to_string(1 + number % 250);
    setenv("GDR_SOFT_DEVICES", ("datagrams/ip=" + own_).c_str(), 1);
  }
  void TearDown() override { unsetenv("GDR_SOFT_DEVICES"); }

  sockaddr_in own(std::uint16_t port = 0) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, own_.c_str(), &address.sin_addr);
    return address;
  }

  void run(const std::function<void(int)>& server,
           const std::function<void(const sockaddr_in&)>& client) const {
    int address[2];
    ASSERT_EQ(pipe(address), 0);
    const pid_t first = run_side([&] {
      sockaddr_in at = own();
      const int fd = bound(at);
      CHECK(write(address[1], &at, sizeof at) == sizeof at);
      server(fd);
    });
    const pid_t second = run_side([&] {
      sockaddr_in at{};
      CHECK(read(address[0], &at, sizeof at) == sizeof at);
      client(at);
    });
    close(address[0]);
    close(address[1]);
    expect_ended_well(second, "the client");
    expect_ended_well(first, "the server");
  }

  static int bound(sockaddr_in& at, int family = AF_INET) {
    const int fd = rsocket(family, SOCK_DGRAM, 0);
    CHECK(fd >= 0);
    CHECK(rbind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    socklen_t length = sizeof at;
    CHECK(rgetsockname(fd, reinterpret_cast<sockaddr*>(&at), &length) == 0 && at.sin_port != 0);
    return fd;
  }

  static int connected(const sockaddr_in& at) {
    const int fd = rsocket(AF_INET, SOCK_DGRAM, 0);
    CHECK(fd >= 0);
    CHECK(rconnect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    return fd;
  }

  static bool has_input(int fd, int patience_ms) {
    pollfd one{fd, POLLIN, 0};
    const int count = rpoll(&one, 1, patience_ms);
    CHECK(count >= 0);
    return count == 1 && (one.revents & POLLIN) != 0;
  }

  // Answers each datagram until an empty one comes.
  static void echo(int fd) {
    for (;;) {
      std::uint8_t bytes[4096];
      sockaddr_in from{};
      socklen_t length = sizeof from;
      const ssize_t size =
          rrecvfrom(fd, bytes, sizeof bytes, 0, reinterpret_cast<sockaddr*>(&from), &length);
      CHECK(size >= 0 && size <= static_cast<ssize_t>(kLargest) && length == sizeof from);
      if (size == 0) return;
      CHECK(rsendto(fd, bytes, static_cast<std::size_t>(size), 0,
                    reinterpret_cast<sockaddr*>(&from), length) == size);
    }
  }

  // rsend; with `to`, which is for a socket that is not connected, rsendto.
  static ssize_t send_text(int fd, std::string_view text, const sockaddr_in* to) {
    return rsendto(fd, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(to),
                   to != nullptr ? sizeof *to : 0);
  }

  // Until there is an answer: a datagram may be lost. A late one to another text, which was asked
  // twice, does not count.
  static void ask(int fd, std::string_view text, const sockaddr_in* to = nullptr) {
    for (int attempt = 0; attempt < 500; ++attempt) {
      CHECK(send_text(fd, text, to) == static_cast<ssize_t>(text.size()));
      if (!has_input(fd, 200)) continue;
      char answer[4096];
      const ssize_t size = rrecv(fd, answer, sizeof answer, 0);
      CHECK(size > 0);
      if (size == static_cast<ssize_t>(text.size()) &&
          std::string_view(answer, text.size()) == text) {
        return;
      }
    }
    CHECK(!"nobody answered");
  }

  // The end of an echo, which may be lost as well.
  static void say_the_end(int fd, const sockaddr_in* to = nullptr) {
    for (int i = 0; i < 5; ++i) {
      CHECK(send_text(fd, "", to) == 0 || errno == ECONNREFUSED);
      usleep(10'000);
    }
  }

  std::string own_;
};

}  // namespace gdr::test
