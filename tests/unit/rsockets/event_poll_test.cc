#include "rsockets/event_poll.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace gdr::rsockets {
namespace {

// A socket of which only readiness is used, with what another thread does meanwhile.
class FakeSocket final : public Socket {
 public:
  Readiness ready(short events) override {
    const Readiness found{static_cast<short>(events & readable_), edges_};
    if (behind_look_) std::exchange(behind_look_, nullptr)();
    return found;
  }
  short prepare_sleep(short events, std::vector<pollfd>& /*sleep_on*/) override {
    return static_cast<short>(events & readable_);
  }
  void woken() override {}
  std::uint64_t edges() const override { return edges_; }

  void arrive() {
    readable_ = POLLIN;
    ++edges_;
  }
  void behind_next_look(std::function<void()> act) { behind_look_ = std::move(act); }

  int descriptor() const override { return -1; }
  int bind(const sockaddr* /*address*/, socklen_t /*length*/) override { return -EINVAL; }
  int listen(int /*backlog*/) override { return -EINVAL; }
  int accept(std::shared_ptr<Socket>& /*accepted*/) override { return -EINVAL; }
  int connect(const sockaddr* /*address*/, socklen_t /*length*/) override { return -EINVAL; }
  int shutdown(int /*how*/) override { return -EINVAL; }
  void close() override {}
  void close_until(std::chrono::steady_clock::time_point /*until*/) override {}
  ssize_t receive(std::span<const iovec> /*into*/, int /*flags*/, sockaddr* /*from*/,
                  socklen_t* /*length*/, int* /*told*/) override {
    return -EINVAL;
  }
  ssize_t send(std::span<const iovec> /*bytes*/, int /*flags*/, const sockaddr* /*to*/,
               socklen_t /*length*/) override {
    return -EINVAL;
  }
  int peer_name(sockaddr* /*address*/, socklen_t* /*length*/) override { return -EINVAL; }
  int name(sockaddr* /*address*/, socklen_t* /*length*/) override { return -EINVAL; }
  int set_option(int /*level*/, int /*option*/, const void* /*value*/,
                 socklen_t /*length*/) override {
    return -EINVAL;
  }
  int option(int /*level*/, int /*option*/, void* /*value*/, socklen_t* /*length*/) override {
    return -EINVAL;
  }
  int status_flags() const override { return 0; }
  void set_status_flags(int /*flags*/) override {}
  off_t map(void* /*buffer*/, std::size_t /*length*/, int /*protection*/,
            off_t /*offset*/) override {
    return -EINVAL;
  }
  int unmap(void* /*buffer*/, std::size_t /*length*/) override { return -EINVAL; }
  ssize_t write_mapped(std::span<const std::uint8_t> /*bytes*/, off_t /*offset*/,
                       int /*flags*/) override {
    return -EINVAL;
  }

 private:
  short readable_ = 0;
  std::uint64_t edges_ = 0;
  std::function<void()> behind_look_;
};

struct EventPollOfOne : testing::Test {
  EventPollOfOne() {
    EXPECT_EQ(EventPoll::create(EPOLL_CLOEXEC, poll), 0);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    EXPECT_EQ(poll->control(EPOLL_CTL_ADD, 100, socket, &event), 0);
  }
  // How many events there are now.
  int take() {
    std::array<epoll_event, 4> found{};
    return poll->wait(found, EventPoll::Clock::duration::zero());
  }

  std::shared_ptr<FakeSocket> socket = std::make_shared<FakeSocket>();
  std::shared_ptr<EventPoll> poll;
};

TEST_F(EventPollOfOne, TellsOfAnEdgeOnce) {
  EXPECT_EQ(take(), 0);
  socket->arrive();
  EXPECT_EQ(take(), 1);
  EXPECT_EQ(take(), 0);
  socket->arrive();
  EXPECT_EQ(take(), 1);
  EXPECT_EQ(take(), 0);
}

TEST_F(EventPollOfOne, TellsOfAnEdgeThatCameBehindTheLook) {
  socket->arrive();
  socket->behind_next_look([this] { socket->arrive(); });
  EXPECT_EQ(take(), 1);
  EXPECT_EQ(take(), 1) << "the second edge was taken for seen";
  EXPECT_EQ(take(), 0);
}

}  // namespace
}  // namespace gdr::rsockets
