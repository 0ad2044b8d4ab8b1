#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <map>
#include <span>
#include <thread>

#include "rsockets/repoll.h"
#include "sides.h"

namespace gdr::test {
namespace {

void add(int poll, int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  CHECK(repoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0);
}

void set_nonblocking(int fd) { CHECK(rfcntl(fd, F_SETFL, O_NONBLOCK) == 0); }

// Every byte that is there; false: and the end.
bool drain(int fd, std::size_t& taken) {
  std::uint8_t bytes[5000];
  for (;;) {
    const ssize_t count = rread(fd, bytes, sizeof bytes);
    if (count < 0) CHECK(errno == EAGAIN);
    if (count <= 0) return count != 0;
    taken += static_cast<std::size_t>(count);
  }
}

constexpr int kClients = 12;
constexpr std::size_t kBytesToEach = 300'000;

// Edge-triggered: an event that is lost would leave a connection asleep for ever.
TEST(RsocketEventPoll, TellsOfEachEdgeOfManyConnections) {
  run_sides(
      [](int listener) {
        const int poll = repoll_create(EPOLL_CLOEXEC);
        CHECK(poll >= 0);
        set_nonblocking(listener);
        add(poll, listener, EPOLLIN | EPOLLET);
        std::map<int, std::size_t> taken;
        for (int ended = 0; ended < kClients;) {
          epoll_event found[4];
          const int count = repoll_wait(poll, found, 4, 15'000);
          CHECK(count > 0);
          for (const epoll_event& one : std::span(found, static_cast<std::size_t>(count))) {
            if (one.data.fd != listener) {
              if (drain(one.data.fd, taken[one.data.fd])) continue;
              CHECK(taken[one.data.fd] == kBytesToEach);
              taken.erase(one.data.fd);
              CHECK(rclose(one.data.fd) == 0);
              ++ended;
              continue;
            }
            for (int fd = 0; (fd = raccept(listener, nullptr, nullptr)) >= 0;) {
              set_nonblocking(fd);
              add(poll, fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
            }
            CHECK(errno == EAGAIN);
          }
        }
        CHECK(rclose(poll) == 0);
        CHECK(repoll_wait(poll, nullptr, 1, 0) == -1 && errno == EBADF);
      },
      [](const sockaddr_in& at) {
        std::vector<int> all;
        for (int i = 0; i < kClients; ++i) all.push_back(connect_to(at));
        const std::vector<std::uint8_t> bytes(1000, 7);
        for (std::size_t sent = 0; sent < kBytesToEach; sent += bytes.size()) {
          for (const int fd : all) send_all(fd, bytes.data(), bytes.size());
        }
        for (const int fd : all) CHECK(rclose(fd) == 0);
      });
}

TEST(RsocketEventPoll, WakesWhoSleepsWhenAMemberComes) {
  run_sides(
      [](int listener) {
        const int poll = repoll_create(0);
        std::thread waits([poll, listener] {
          epoll_event found{};
          CHECK(repoll_wait(poll, &found, 1, 10'000) == 1 && found.data.fd == listener);
        });
        usleep(100'000);
        add(poll, listener, EPOLLIN);
        waits.join();
        const int fd = accept_one(listener);
        // Beside an ordinary descriptor, and seen by rpoll(), too.
        int ordinary[2];
        CHECK(pipe(ordinary) == 0);
        add(poll, ordinary[0], EPOLLIN);
        add(poll, fd, EPOLLIN);
        pollfd one{poll, POLLIN, 0};
        CHECK(rpoll(&one, 1, 0) == 0);
        CHECK(write(ordinary[1], "", 1) == 1);
        epoll_event found[2];
        CHECK(repoll_wait(poll, found, 2, 5'000) == 1 && found[0].data.fd == ordinary[0]);
        char byte = 0;
        CHECK(read(ordinary[0], &byte, 1) == 1);
        CHECK(rwrite(fd, "", 1) == 1);
        CHECK(rpoll(&one, 1, kLastResortMs) == 1 && one.revents == POLLIN);
        CHECK(repoll_wait(poll, found, 2, 0) == 1 && found[0].data.fd == fd);
        CHECK(rclose(fd) == 0);
        // What is closed has left.
        CHECK(repoll_wait(poll, found, 2, 20) == 0);
        epoll_event event{};
        CHECK(repoll_ctl(poll, EPOLL_CTL_MOD, listener, &event) == 0);
        CHECK(repoll_ctl(poll, EPOLL_CTL_DEL, listener, nullptr) == 0);
        CHECK(repoll_ctl(poll, EPOLL_CTL_DEL, listener, nullptr) == -1 && errno == ENOENT);
        CHECK(repoll_ctl(poll, 4711, listener, &event) == -1 && errno == EINVAL);
        CHECK(repoll_ctl(poll, EPOLL_CTL_ADD, listener, nullptr) == -1 && errno == EFAULT);
        CHECK(repoll_ctl(ordinary[0], EPOLL_CTL_ADD, listener, &event) == -1 && errno == EINVAL);
        CHECK(rclose(poll) == 0);
      },
      [](const sockaddr_in& at) {
        usleep(200'000);
        const int fd = connect_to(at);
        char byte = 0;
        CHECK(rread(fd, &byte, 1) == 1);
        CHECK(rwrite(fd, "", 1) == 1);
        CHECK(rread(fd, &byte, 1) == 0);
        CHECK(rclose(fd) == 0);
      });
}

}  // namespace
}  // namespace gdr::test
