// Datagram rsockets between processes, over the software NIC and its own connection manager.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "datagram_sides.h"

namespace gdr::test {
namespace {

constexpr int kDatagrams = 500;

TEST_F(RsocketDatagram, ArrivesWholeWithItsSendersName) {
  run([](int fd) { echo(fd); },
      [](const sockaddr_in& at) {
        const int fd = connected(at);
        Pattern pattern(1);
        std::mt19937 random(2);
        for (int i = 0; i < kDatagrams; ++i) {
          std::vector<std::uint8_t> sent(1 + random() % kLargest), back(4096);
          for (std::uint8_t& byte : sent) byte = pattern.next();
          CHECK(rsend(fd, sent.data(), sent.size(), 0) == static_cast<ssize_t>(sent.size()));
          CHECK(has_input(fd, kLastResortMs));
          sockaddr_in from{};
          socklen_t length = sizeof from;
          const ssize_t size = rrecvfrom(fd, back.data(), back.size(), 0,
                                         reinterpret_cast<sockaddr*>(&from), &length);
          CHECK(size == static_cast<ssize_t>(sent.size()));
          CHECK(std::equal(sent.begin(), sent.end(), back.begin()));
          CHECK(from.sin_port == at.sin_port && from.sin_addr.s_addr == at.sin_addr.s_addr);
        }
        say_the_end(fd);
        CHECK(rclose(fd) == 0);
      });
}

TEST_F(RsocketDatagram, OfAnySizeUpToThePacketsRoomAndNoneBeyond) {
  run([](int fd) { echo(fd); },
      [](const sockaddr_in& at) {
        const int fd = connected(at);
        ask(fd, "x");
        ask(fd, std::string(kLargest, 'y'));
        const std::vector<std::uint8_t> longer(kLargest + 1);
        CHECK(rsend(fd, longer.data(), longer.size(), 0) == -1 && errno == EMSGSIZE);
        const iovec endless[2]{{nullptr, SIZE_MAX}, {nullptr, 2}};
        CHECK(rwritev(fd, endless, 2) == -1 && errno == EMSGSIZE);
        ask(fd, "z");
        say_the_end(fd);
      });
}

TEST_F(RsocketDatagram, IsCutToTheProgramsMemoryAndSaysSo) {
  run([](int fd) { echo(fd); },
      [](const sockaddr_in& at) {
        const int fd = connected(at);
        CHECK(rsend(fd, "abcdef", 6, 0) == 6);
        CHECK(has_input(fd, kLastResortMs));
        char first[2], second[2];
        iovec pieces[2]{{first, 2}, {second, 2}};
        msghdr message{};
        message.msg_iov = pieces;
        message.msg_iovlen = 2;
        CHECK(rrecvmsg(fd, &message, MSG_PEEK) == 4 && (message.msg_flags & MSG_TRUNC) != 0);
        CHECK(rrecv(fd, first, 2, MSG_PEEK | MSG_TRUNC) == 6);
        CHECK(rrecvmsg(fd, &message, 0) == 4 && std::memcmp(second, "cd", 2) == 0);
        CHECK(rrecv(fd, first, 2, MSG_DONTWAIT) == -1 && errno == EAGAIN);
        say_the_end(fd);
      });
}

TEST_F(RsocketDatagram, GoesBothWaysAtOnceFromTwoThreads) {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* with_enough = new (page) std::atomic<int>(0);  // sides
  const auto both = [&](int fd, const sockaddr_in* to) {
    // Losses are allowed; what arrives is right. Each sends until both have had enough.
    std::thread sender([&] {
      for (std::uint32_t i = 0; *with_enough < 2; ++i) {
        const std::uint32_t twice[2]{i, i};
        CHECK(rsendto(fd, twice, sizeof twice, 0, reinterpret_cast<const sockaddr*>(to),
                      to != nullptr ? sizeof *to : 0) == sizeof twice);
      }
    });
    for (int count = 0; count < kDatagrams; ++count) {
      std::uint32_t twice[3]{};
      CHECK(has_input(fd, kLastResortMs));
      CHECK(rrecv(fd, twice, sizeof twice, 0) == 8 && twice[0] == twice[1]);
    }
    ++*with_enough;
    sender.join();
  };
  run(
      [&](int fd) {
        CHECK(has_input(fd, kLastResortMs));
        sockaddr_in from{};
        socklen_t length = sizeof from;
        std::uint32_t first[2];
        CHECK(rrecvfrom(fd, first, sizeof first, MSG_PEEK, reinterpret_cast<sockaddr*>(&from),
                        &length) == 8);
        both(fd, &from);
      },
      [&](const sockaddr_in& at) { both(connected(at), nullptr); });
  munmap(page, 4096);
}

TEST_F(RsocketDatagram, ReachesAPeerThatWasStartedAgain) {
  int address[2], again[2];
  ASSERT_EQ(pipe(address), 0);
  ASSERT_EQ(pipe(again), 0);
  const auto serve = [&](sockaddr_in at) {
    const int fd = bound(at);
    CHECK(write(address[1], &at, sizeof at) == sizeof at);
    echo(fd);
    CHECK(rclose(fd) == 0);
  };
  const pid_t client = run_side([&] {
    sockaddr_in at{};
    CHECK(read(address[0], &at, sizeof at) == sizeof at);
    const int fd = rsocket(AF_INET, SOCK_DGRAM, 0);
    ask(fd, "a", &at);
    ask(fd, "b", &at);  // by its queue pair now
    say_the_end(fd, &at);
    CHECK(write(again[1], &at.sin_port, sizeof at.sin_port) == sizeof at.sin_port);
    CHECK(read(address[0], &at, sizeof at) == sizeof at);
    ask(fd, "c", &at);
    say_the_end(fd, &at);
    CHECK(rclose(fd) == 0);
  });
  expect_ended_well(run_side([&] { serve(own()); }), "the first server");
  in_port_t port = 0;
  ASSERT_EQ(read(again[0], &port, sizeof port), ssize_t{sizeof port});
  const pid_t second = run_side([&] { serve(own(ntohs(port))); });
  expect_ended_well(client, "the client");
  expect_ended_well(second, "the second server");
}

TEST_F(RsocketDatagram, OfAnIpv6SocketReachesAnIpv4Address) {
  run([](int fd) { echo(fd); },
      [](const sockaddr_in& at) {
        const int fd = rsocket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
        sockaddr_in6 to{};
        to.sin6_family = AF_INET6;
        to.sin6_port = at.sin_port;
        to.sin6_addr.s6_addr[10] = to.sin6_addr.s6_addr[11] = 0xff;
        std::memcpy(&to.sin6_addr.s6_addr[12], &at.sin_addr, 4);
        CHECK(rconnect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
        for (int i = 0; i < 10; ++i) ask(fd, "six");
        say_the_end(fd);
      });
}

TEST_F(RsocketDatagram, ComesOnlyFromThePeerThatTheSocketIsConnectedTo) {
  run([](int fd) { echo(fd); },
      [this](const sockaddr_in& at) {
        sockaddr_in mine = own(), others = own();
        const int fd = bound(mine), stranger = bound(others);
        const auto* to = reinterpret_cast<const sockaddr*>(&mine);
        CHECK(rsendto(stranger, "before", 6, 0, to, sizeof mine) == 6);
        char text[16];
        CHECK(has_input(fd, kLastResortMs) && rrecv(fd, text, sizeof text, 0) == 6);
        // The stranger knows the queue pair by now, so nothing but we stands in its way.
        CHECK(!has_input(stranger, 10));
        CHECK(rconnect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
        for (int i = 0; i < 10; ++i) CHECK(rsendto(stranger, "no", 2, 0, to, sizeof mine) == 2);
        CHECK(!has_input(fd, 100));
        ask(fd, "yes");
        say_the_end(fd);
      });
}

TEST_F(RsocketDatagram, ToNobodyIsRefusedOnAConnectedSocket) {
  expect_ended_well(
      run_side([this] {
        sockaddr_in nobody = own();
        CHECK(rclose(bound(nobody)) == 0);
        const int fd = connected(nobody);
        CHECK(rsend(fd, "x", 1, 0) == 1);
        pollfd one{fd, POLLIN, 0};
        CHECK(rpoll(&one, 1, kLastResortMs) == 1 && (one.revents & POLLERR) != 0);
        int error = 0;
        socklen_t length = sizeof error;
        CHECK(rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == ECONNREFUSED);
      }),
      "the child");
}

TEST_F(RsocketDatagram, RefusesWhatItDoesNotDo) {
  expect_ended_well(
      run_side([this] {
        const int fd = rsocket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK((rfcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
        sockaddr_in to = own(9);
        const auto* address = reinterpret_cast<const sockaddr*>(&to);
        CHECK(rlisten(fd, 1) == -1 && errno == EOPNOTSUPP);
        CHECK(raccept(fd, nullptr, nullptr) == -1 && errno == EOPNOTSUPP);
        CHECK(rsend(fd, "x", 1, 0) == -1 && errno == EDESTADDRREQ);
        CHECK(rsendto(fd, "x", 1, 0, address, 3) == -1 && errno == EINVAL);
        CHECK(rsendto(fd, "x", 1, MSG_OOB, address, sizeof to) == -1 && errno == EOPNOTSUPP);
        CHECK(rshutdown(fd, SHUT_RDWR) == -1 && errno == ENOTCONN);
        inet_pton(AF_INET, "224.0.0.1", &to.sin_addr);
        CHECK(rsendto(fd, "x", 1, 0, address, sizeof to) == -1 && errno == EOPNOTSUPP);
        CHECK(rsocket(AF_INET, SOCK_DGRAM, IPPROTO_TCP) == -1 && errno == EPROTONOSUPPORT);
        CHECK(rsocket(AF_INET, SOCK_RAW, 0) == -1 && errno == ESOCKTNOSUPPORT);
        CHECK(riomap(fd, &to, sizeof to, 0, 0, 0) == -1 && errno == EOPNOTSUPP);
      }),
      "the child");
}

}  // namespace
}  // namespace gdr::test
