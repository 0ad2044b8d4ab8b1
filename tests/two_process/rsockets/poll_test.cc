#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>

#include "sides.h"

namespace gdr::test {
namespace {

int connect_without_waiting(const sockaddr_in& at) {
  const int fd = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  CHECK(fd >= 0);
  const int result = rconnect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  CHECK(result == 0 || errno == EINPROGRESS);
  return fd;
}

TEST(RsocketPoll, EstablishesConnectionsWithoutEverBlocking) {
  run_sides(
      [](int listener) {
        CHECK(rfcntl(listener, F_SETFL, O_NONBLOCK) == 0);
        CHECK(raccept(listener, nullptr, nullptr) == -1 && errno == EAGAIN);
        pollfd one{listener, POLLIN, 0};
        CHECK(rpoll(&one, 1, kLastResortMs) == 1 && one.revents == POLLIN);
        const int fd = accept_one(listener);
        one = {fd, POLLIN, 0};
        CHECK(rpoll(&one, 1, kLastResortMs) == 1 && one.revents == POLLIN);
        std::uint8_t byte = 0;
        CHECK(rread(fd, &byte, 1) == 1);
        CHECK(rclose(fd) == 0);
      },
      [](const sockaddr_in& at) {
        usleep(100'000);  // the listener waits in rpoll()
        const int fd = connect_without_waiting(at);
        pollfd one{fd, POLLOUT, 0};
        CHECK(rpoll(&one, 1, kLastResortMs) == 1 && one.revents == POLLOUT);
        int error = -1;
        socklen_t length = sizeof error;
        CHECK(rgetsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0);
        CHECK(rconnect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == -1);
        CHECK(errno == EISCONN);
        CHECK(rwrite(fd, "", 1) == 1);
        one.events = POLLIN;
        CHECK(rpoll(&one, 1, kLastResortMs) == 1);
        CHECK(rclose(fd) == 0);
      });
}

TEST(RsocketPoll, ReportsARefusedConnection) {
  run_sides([](int listener) { CHECK(rclose(listener) == 0); },
            [](const sockaddr_in& at) {
              const int fd = rsocket(AF_INET, SOCK_STREAM, 0);
              sockaddr_in nobody = at;
              nobody.sin_port = htons(1);
              const auto* to = reinterpret_cast<const sockaddr*>(&nobody);
              CHECK(rconnect(fd, to, sizeof nobody) == -1 && errno == ECONNREFUSED);
              CHECK(rclose(fd) == 0);
              const int later = connect_without_waiting(nobody);
              pollfd one{later, POLLOUT, 0};
              CHECK(rpoll(&one, 1, kLastResortMs) == 1 && (one.revents & POLLERR) != 0);
              int error = 0;
              socklen_t length = sizeof error;
              CHECK(rgetsockopt(later, SOL_SOCKET, SO_ERROR, &error, &length) == 0);
              CHECK(error == ECONNREFUSED);
              CHECK(rclose(later) == 0);
            });
}

TEST(RsocketPoll, WaitsForRsocketsAndOrdinaryDescriptorsAtOnce) {
  run_sides(
      [](int listener) {
        const int fd = accept_one(listener);
        int ordinary[2];
        CHECK(pipe(ordinary) == 0);
        pollfd both[3]{{fd, POLLIN, 0}, {ordinary[0], POLLIN, 0}, {-1, POLLIN, 0}};
        CHECK(rpoll(both, 3, 20) == 0);
        CHECK(write(ordinary[1], "", 1) == 1);
        CHECK(rpoll(both, 3, kLastResortMs) == 1 && both[0].revents == 0 &&
              both[1].revents == POLLIN);
        char byte = 0;
        CHECK(read(ordinary[0], &byte, 1) == 1);
        CHECK(rwrite(fd, "", 1) == 1);
        CHECK(rpoll(both, 3, kLastResortMs) == 1 && both[0].revents == POLLIN &&
              both[1].revents == 0);
        fd_set readable;
        FD_ZERO(&readable);
        FD_SET(fd, &readable);
        FD_SET(ordinary[0], &readable);
        timeval limit{10, 0};
        CHECK(rselect(std::max(fd, ordinary[0]) + 1, &readable, nullptr, nullptr, &limit) == 1);
        CHECK(FD_ISSET(fd, &readable) && !FD_ISSET(ordinary[0], &readable));
        CHECK(rread(fd, &byte, 1) == 1);
        CHECK(rclose(fd) == 0);
      },
      [](const sockaddr_in& at) {
        const int fd = connect_to(at);
        char byte = 0;
        CHECK(rread(fd, &byte, 1) == 1);
        usleep(50'000);
        CHECK(rwrite(fd, "", 1) == 1);
        CHECK(rread(fd, &byte, 1) == 0);
        CHECK(rclose(fd) == 0);
      });
}

// An echo server with one loop, and a client with 40 connections and as many streams of bytes.
class Echo {
 public:
  explicit Echo(int fd) : fd_(fd) {}
  short wants() const { return pending_.empty() ? POLLIN : POLLOUT; }
  // False: the peer has ended.
  bool go_on() {
    if (pending_.empty()) {
      pending_.resize(30'000);
      const ssize_t count = rread(fd_, pending_.data(), pending_.size());
      if (count < 0) CHECK(errno == EAGAIN);
      pending_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
      return count != 0;
    }
    const ssize_t sent = rwrite(fd_, pending_.data(), pending_.size());
    if (sent < 0) CHECK(errno == EAGAIN);
    if (sent > 0) pending_.erase(pending_.begin(), pending_.begin() + sent);
    return true;
  }

 private:
  int fd_;
  std::vector<std::uint8_t> pending_;
};

constexpr int kConnections = 40;
constexpr std::size_t kBytesEach = 200'000;

void serve_echo(int listener) {
  CHECK(rfcntl(listener, F_SETFL, O_NONBLOCK) == 0);
  std::map<int, Echo> open;
  int ended = 0;
  while (ended < kConnections) {
    std::vector<pollfd> all{{listener, POLLIN, 0}};
    for (const auto& [fd, echo] : open) all.push_back({fd, echo.wants(), 0});
    CHECK(rpoll(all.data(), all.size(), kLastResortMs) > 0);
    if (all[0].revents != 0) {
      const int fd = raccept(listener, nullptr, nullptr);
      if (fd >= 0) {
        CHECK(rfcntl(fd, F_SETFL, O_NONBLOCK) == 0);
        open.emplace(fd, Echo(fd));
      }
    }
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i].revents == 0 || open.at(all[i].fd).go_on()) continue;
      CHECK(rclose(all[i].fd) == 0);
      open.erase(all[i].fd);
      ++ended;
    }
  }
}

struct Stream {
  Stream(int descriptor, std::uint32_t seed) : fd(descriptor), out(seed), in(seed) {}
  int fd;
  Pattern out, in;
  std::vector<std::uint8_t> pending;
  std::size_t to_send = kBytesEach, to_receive = kBytesEach;
};

void drive(Stream& stream, short events) {
  if ((events & POLLOUT) != 0 && stream.to_send > 0) {
    while (stream.pending.size() < std::min<std::size_t>(stream.to_send, 7000)) {
      stream.pending.push_back(stream.out.next());
    }
    const ssize_t sent = rwrite(stream.fd, stream.pending.data(), stream.pending.size());
    if (sent < 0) CHECK(errno == EAGAIN);
    if (sent > 0) {
      stream.pending.erase(stream.pending.begin(), stream.pending.begin() + sent);
      stream.to_send -= static_cast<std::size_t>(sent);
    }
  }
  if ((events & POLLIN) != 0) {
    std::uint8_t bytes[5000];
    const ssize_t count = rread(stream.fd, bytes, sizeof bytes);
    if (count < 0) CHECK(errno == EAGAIN);
    CHECK(count != 0);
    for (ssize_t i = 0; i < count; ++i) CHECK(bytes[i] == stream.in.next());
    if (count > 0) stream.to_receive -= static_cast<std::size_t>(count);
  }
}

TEST(RsocketPoll, ServesManyConnectionsFromOneLoop) {
  run_sides(serve_echo, [](const sockaddr_in& at) {
    std::vector<Stream> streams;
    for (std::uint32_t i = 0; i < kConnections; ++i) {
      streams.emplace_back(connect_without_waiting(at), i);
    }
    for (;;) {
      std::vector<pollfd> all;
      std::vector<Stream*> of;
      for (Stream& stream : streams) {
        if (stream.to_receive == 0) continue;
        const int wanted = POLLIN | (stream.to_send > 0 ? POLLOUT : 0);
        all.push_back({stream.fd, static_cast<short>(wanted), 0});
        of.push_back(&stream);
      }
      if (all.empty()) break;
      CHECK(rpoll(all.data(), all.size(), kLastResortMs) > 0);
      for (std::size_t i = 0; i < all.size(); ++i) drive(*of[i], all[i].revents);
    }
    for (const Stream& stream : streams) CHECK(rclose(stream.fd) == 0);
  });
}

}  // namespace
}  // namespace gdr::test
