#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <thread>

#include "sides.h"

namespace gdr::test {
namespace {

// Sends `total` bytes of the pattern in pieces of random length, and one of them by three pieces.
void send_pattern(int fd, std::uint32_t seed, std::size_t total, std::size_t largest) {
  Pattern pattern(seed);
  std::mt19937 random(seed + 1);
  while (total > 0) {
    std::vector<std::uint8_t> bytes(std::min(total, 1 + random() % largest));
    for (std::uint8_t& byte : bytes) byte = pattern.next();
    if (bytes.size() >= 3 && random() % 2 == 0) {
      iovec pieces[3]{{bytes.data(), 1}, {bytes.data() + 1, 1}, {bytes.data() + 2, 0}};
      pieces[2].iov_len = bytes.size() - 2;
      const ssize_t sent = rwritev(fd, pieces, 3);
      CHECK(sent == static_cast<ssize_t>(bytes.size()));
    } else {
      send_all(fd, bytes.data(), bytes.size());
    }
    total -= bytes.size();
  }
}

void receive_pattern(int fd, std::uint32_t seed, std::size_t total, std::size_t largest) {
  Pattern pattern(seed);
  std::mt19937 random(seed + 2);
  while (total > 0) {
    std::vector<std::uint8_t> bytes(std::min(total, 1 + random() % largest));
    if (random() % 8 == 0) {
      std::vector<std::uint8_t> seen(bytes.size());
      const ssize_t peeked = rrecv(fd, seen.data(), seen.size(), MSG_PEEK);
      CHECK(peeked > 0);
      CHECK(rrecv(fd, bytes.data(), static_cast<std::size_t>(peeked), 0) == peeked);
      CHECK(std::equal(seen.begin(), seen.begin() + peeked, bytes.begin()));
      bytes.resize(static_cast<std::size_t>(peeked));
    } else {
      const ssize_t count = rrecv(fd, bytes.data(), bytes.size(), 0);
      CHECK(count > 0);
      bytes.resize(static_cast<std::size_t>(count));
    }
    for (const std::uint8_t byte : bytes) CHECK(byte == pattern.next());
    total -= bytes.size();
  }
}

void expect_end(int fd) {
  std::uint8_t byte = 0;
  CHECK(rrecv(fd, &byte, 1, 0) == 0);
}

constexpr std::size_t kTraffic = 3'000'000;

TEST(RsocketStream, CarriesEveryByteOfRandomTraffic) {
  run_sides(
      [](int listener) {
        const int fd = accept_one(listener);
        receive_pattern(fd, 1, kTraffic, 100'000);
        send_pattern(fd, 2, kTraffic, 300'000);
        CHECK(rclose(fd) == 0);
      },
      [](const sockaddr_in& at) {
        const int fd = connect_to(at);
        send_pattern(fd, 1, kTraffic, 300'000);
        receive_pattern(fd, 2, kTraffic, 100'000);
        expect_end(fd);
        CHECK(rclose(fd) == 0);
      });
}

TEST(RsocketStream, CarriesBothDirectionsAtOnceFromTwoThreads) {
  const auto both = [](int fd, std::uint32_t out, std::uint32_t in) {
    std::thread sender([&] { send_pattern(fd, out, kTraffic, 50'000); });
    receive_pattern(fd, in, kTraffic, 50'000);
    sender.join();
    CHECK(rshutdown(fd, SHUT_WR) == 0);
    expect_end(fd);
    CHECK(rclose(fd) == 0);
  };
  run_sides([&](int listener) { both(accept_one(listener), 3, 4); },
            [&](const sockaddr_in& at) { both(connect_to(at), 4, 3); });
}

TEST(RsocketStream, CarriesManySmallMessagesPastTheWrapOfItsSequenceNumbers) {
  constexpr int kMessages = 70'000;
  run_sides(
      [](int listener) {
        const int fd = accept_one(listener);
        receive_pattern(fd, 5, kMessages, 10);
        CHECK(rclose(fd) == 0);
      },
      [](const sockaddr_in& at) {
        const int fd = connect_to(at);
        Pattern pattern(5);
        for (int i = 0; i < kMessages; ++i) {
          const std::uint8_t byte = pattern.next();
          CHECK(rwrite(fd, &byte, 1) == 1);
        }
        expect_end(fd);
        CHECK(rclose(fd) == 0);
      });
}

TEST(RsocketStream, WorksWithTheSmallestQueuesAndBuffersAndWithoutInlineData) {
  const auto shrink = [](int fd) {
    int value = 16;
    CHECK(rsetsockopt(fd, SOL_RDMA, RDMA_SQSIZE, &value, sizeof value) == 0);
    CHECK(rsetsockopt(fd, SOL_RDMA, RDMA_RQSIZE, &value, sizeof value) == 0);
    value = 0;
    CHECK(rsetsockopt(fd, SOL_RDMA, RDMA_INLINE, &value, sizeof value) == 0);
    value = 501;
    CHECK(rsetsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof value) == 0);
    CHECK(rsetsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, sizeof value) == 0);
  };
  run_sides(
      [&](int listener) {
        shrink(listener);
        const int fd = accept_one(listener);
        int value = 0;
        socklen_t length = sizeof value;
        CHECK(rgetsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, &length) == 0 && value == 1002);
        receive_pattern(fd, 6, 200'000, 3000);
        CHECK(rclose(fd) == 0);
      },
      [&](const sockaddr_in& at) {
        const int fd = rsocket(AF_INET, SOCK_STREAM, 0);
        shrink(fd);
        CHECK(rconnect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
        send_pattern(fd, 6, 200'000, 3000);
        CHECK(rclose(fd) == 0);
      });
}

TEST(RsocketStream, WaitsForAllWithMsgWaitall) {
  run_sides(
      [](int listener) {
        const int fd = accept_one(listener);
        std::vector<std::uint8_t> bytes(500'000);
        CHECK(rrecv(fd, bytes.data(), bytes.size(), MSG_WAITALL) == 500'000);
        Pattern pattern(7);
        for (const std::uint8_t byte : bytes) CHECK(byte == pattern.next());
        CHECK(rclose(fd) == 0);
      },
      [](const sockaddr_in& at) {
        const int fd = connect_to(at);
        send_pattern(fd, 7, 500'000, 20'000);
        CHECK(rclose(fd) == 0);
      });
}

TEST(RsocketStream, SaysWouldBlockAndSendsInPartWhenItMustNotWait) {
  run_sides(
      [](int listener) {
        const int fd = accept_one(listener);
        std::uint8_t byte = 0;
        CHECK(rrecv(fd, &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
        CHECK(rwrite(fd, &byte, 1) == 1);
        std::uint32_t total = 0;
        CHECK(rclose(accept_one(listener)) == 0);  // the peer has filled everything
        std::vector<std::uint8_t> bytes(1 << 20);
        std::size_t count = 0;
        for (;;) {
          const ssize_t more = rread(fd, bytes.data(), bytes.size());
          CHECK(more >= 0);
          if (more == 0) break;
          count += static_cast<std::size_t>(more);
          std::memcpy(&total, bytes.data() + more - sizeof total, sizeof total);
        }
        CHECK(count == total);
      },
      [](const sockaddr_in& at) {
        const int fd = connect_to(at);
        std::uint8_t byte = 0;
        CHECK(rread(fd, &byte, 1) == 1);
        CHECK(rfcntl(fd, F_SETFL, O_NONBLOCK) == 0);
        CHECK((rfcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
        const std::vector<std::uint8_t> bytes(1 << 20);
        std::uint32_t total = 0;
        for (;;) {
          const ssize_t sent = rsend(fd, bytes.data(), bytes.size(), 0);
          if (sent < 0) break;
          CHECK(sent < 1 << 20);
          total += static_cast<std::uint32_t>(sent);
        }
        CHECK(errno == EAGAIN && total >= 65536);
        CHECK(rclose(connect_to(at)) == 0);
        CHECK(rfcntl(fd, F_SETFL, 0) == 0);
        total += sizeof total;
        send_all(fd, reinterpret_cast<const std::uint8_t*>(&total), sizeof total);
        CHECK(rclose(fd) == 0);
      });
}

TEST(RsocketStream, GivesTheRestAndTheEndBehindAHalfClose) {
  run_sides(
      [](int listener) {
        const int fd = accept_one(listener);
        receive_pattern(fd, 8, 40'000, 40'000);
        expect_end(fd);
        expect_end(fd);
        send_pattern(fd, 9, 40'000, 40'000);  // the other direction is open
        CHECK(rclose(fd) == 0);
      },
      [](const sockaddr_in& at) {
        const int fd = connect_to(at);
        send_pattern(fd, 8, 40'000, 40'000);
        CHECK(rshutdown(fd, SHUT_WR) == 0);
        CHECK(rwrite(fd, "", 1) == -1 && errno == EPIPE);
        receive_pattern(fd, 9, 40'000, 40'000);
        expect_end(fd);
        CHECK(rclose(fd) == 0);
      });
}

// Each side closes in one of three ways, with data under way in both directions.
TEST(RsocketStream, DeliversWhatWasSentInWhateverOrderTheSidesClose) {
  const auto end = [](int fd, int way) {
    if (way == 0) CHECK(rshutdown(fd, SHUT_WR) == 0);
    if (way == 1) CHECK(rshutdown(fd, SHUT_WR) == 0 && rshutdown(fd, SHUT_RD) == 0);
    CHECK(rclose(fd) == 0);
  };
  run_sides(
      [&](int listener) {
        for (int round = 0; round < 18; ++round) {
          const int fd = accept_one(listener);
          send_pattern(fd, 11, 5000, 5000);
          if (round >= 9) receive_pattern(fd, 10, 5000, 5000);
          if (round < 9) receive_pattern(fd, 10, 5000, 5000), expect_end(fd);
          end(fd, round % 3);
        }
      },
      [&](const sockaddr_in& at) {
        for (int round = 0; round < 18; ++round) {
          const int fd = connect_to(at);
          send_pattern(fd, 10, 5000, 5000);
          if (round >= 9) receive_pattern(fd, 11, 5000, 5000), expect_end(fd);
          if (round < 9) receive_pattern(fd, 11, 5000, 5000);
          end(fd, round / 3 % 3);
        }
      });
}

TEST(RsocketStream, ReportsThatThePeerHasGoneToWhoWrites) {
  run_sides([](int listener) { CHECK(rclose(accept_one(listener)) == 0); },
            [](const sockaddr_in& at) {
              const int fd = connect_to(at);
              expect_end(fd);
              CHECK(rwrite(fd, "", 1) == -1);
              CHECK(errno == EPIPE || errno == ECONNRESET);
              pollfd one{fd, POLLIN, 0};
              CHECK(rpoll(&one, 1, 0) == 1 && (one.revents & (POLLIN | POLLHUP)) != 0);
              CHECK(rclose(fd) == 0);
            });
}

TEST(RsocketStream, SeesThatThePeerDiedWithoutAWord) {
  run_sides(
      [](int listener) {
        const int fd = accept_one(listener);
        std::uint8_t byte = 0;
        CHECK(rread(fd, &byte, 1) == 1);
        const ssize_t count = rread(fd, &byte, 1);  // blocks until the peer has died
        CHECK(count == 0 || (count < 0 && errno == ECONNRESET));
        CHECK(rclose(fd) == 0);
      },
      [](const sockaddr_in& at) {
        const int fd = connect_to(at);
        CHECK(rwrite(fd, "", 1) == 1);
        usleep(50'000);
        _exit(0);
      });
}

TEST(RsocketStream, WritesIntoTheMemoryThatThePeerHasMapped) {
  run_sides(
      [](int listener) {
        int mappings = 4;
        CHECK(rsetsockopt(listener, SOL_RDMA, RDMA_IOMAPSIZE, &mappings, sizeof mappings) == 0);
        const int fd = accept_one(listener);
        std::uint8_t byte = 0;
        CHECK(rread(fd, &byte, 1) == 1);  // behind the peer's mapping
        std::vector<std::uint8_t> bytes(200'000);
        Pattern pattern(12);
        for (std::uint8_t& each : bytes) each = pattern.next();
        CHECK(riowrite(fd, bytes.data(), bytes.size(), 4096, 0) == bytes.size());
        CHECK(riowrite(fd, bytes.data(), 1, 4096 + 200'000, 0) == 0);
        CHECK(rwrite(fd, "", 1) == 1);
        expect_end(fd);
        CHECK(rclose(fd) == 0);
      },
      [](const sockaddr_in& at) {
        const int fd = connect_to(at);
        std::vector<std::uint8_t> window(200'000);
        CHECK(riomap(fd, window.data(), window.size(), PROT_WRITE, 0, 4096) == 4096);
        CHECK(rwrite(fd, "", 1) == 1);
        std::uint8_t byte = 0;
        CHECK(rread(fd, &byte, 1) == 1);
        Pattern pattern(12);
        for (const std::uint8_t each : window) CHECK(each == pattern.next());
        CHECK(riounmap(fd, window.data(), window.size()) == 0);
        CHECK(riounmap(fd, window.data(), window.size()) == -1 && errno == EINVAL);
        CHECK(rclose(fd) == 0);
      });
}

}  // namespace
}  // namespace gdr::test
