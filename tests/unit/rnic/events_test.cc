#include "rnic/events.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace gdr::rnic {
namespace {

bool is_readable(const EventQueue& queue) {
  pollfd wait{.fd = queue.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&wait, 1, 0) == 1;
}

class Events : public testing::Test {
 protected:
  void SetUp() override {
    auto made = EventQueue::create();
    ASSERT_TRUE(made) << made.error().message;
    queue_ = std::move(*made);
  }
  void make_nonblocking() { ASSERT_EQ(fcntl(queue_->descriptor(), F_SETFL, O_NONBLOCK), 0); }

  std::unique_ptr<EventQueue> queue_;
  int first_ = 0, second_ = 0;  // their addresses stand for verbs objects
};

TEST_F(Events, AreTakenInTheOrderTheyCame) {
  queue_->push({IBV_EVENT_CQ_ERR, &first_});
  queue_->push({IBV_EVENT_QP_FATAL, &second_});
  auto one = queue_->take();
  ASSERT_TRUE(one);
  EXPECT_EQ(one->type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(one->object, &first_);
  auto two = queue_->take();
  ASSERT_TRUE(two);
  EXPECT_EQ(two->type, IBV_EVENT_QP_FATAL);
  EXPECT_EQ(two->object, &second_);
}

TEST_F(Events, DescriptorIsReadableExactlyWhileOneWaits) {
  EXPECT_FALSE(is_readable(*queue_));
  queue_->push({IBV_EVENT_PORT_ACTIVE, nullptr});
  queue_->push({IBV_EVENT_PORT_ACTIVE, nullptr});
  EXPECT_TRUE(is_readable(*queue_));
  ASSERT_TRUE(queue_->take());
  EXPECT_TRUE(is_readable(*queue_));
  ASSERT_TRUE(queue_->take());
  EXPECT_FALSE(is_readable(*queue_));
}

TEST_F(Events, NonBlockingDescriptorGivesEagainWhenEmpty) {
  make_nonblocking();
  const auto none = queue_->take();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, EAGAIN);
}

TEST_F(Events, OfADestroyedObjectAreForgottenAndTheRestKept) {
  make_nonblocking();
  queue_->push({IBV_EVENT_QP_FATAL, &first_});
  queue_->push({IBV_EVENT_CQ_ERR, &second_});
  queue_->push({IBV_EVENT_COMM_EST, &first_});
  queue_->drop(&first_);
  auto left = queue_->take();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->object, &second_);
  EXPECT_FALSE(is_readable(*queue_));
  EXPECT_FALSE(queue_->take());
}

TEST_F(Events, WakeAWaitingThread) {
  std::atomic<void*> seen = nullptr;
  std::thread waiter([&] {
    auto event = queue_->take();
    if (event) seen = event->object;
  });
  usleep(20'000);
  // The waiter must not be woken by what is gone again at once.
  queue_->push({IBV_EVENT_QP_FATAL, &first_});
  queue_->drop(&first_);
  queue_->push({IBV_EVENT_QP_FATAL, &second_});
  waiter.join();
  // It may have been quick enough to take the first before it was dropped.
  EXPECT_TRUE(seen == &second_ || seen == &first_);
}

TEST_F(Events, WaitEndsWithEintrOnASignal) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  std::atomic<int> code = 0;
  std::thread waiter([&] {
    const auto event = queue_->take();
    code = event ? -1 : event.error().code;
  });
  // Until it has reached its wait, a signal is lost on it.
  while (code == 0) {
    pthread_kill(waiter.native_handle(), SIGUSR1);
    usleep(1'000);
  }
  waiter.join();
  EXPECT_EQ(code, EINTR);
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(Events, ReachEveryOfSeveralTakersOnce) {
  constexpr int kEvents = 400, kTakers = 4;
  std::atomic<int> taken = 0;
  std::vector<std::thread> takers;
  for (int t = 0; t < kTakers; ++t) {
    takers.emplace_back([&] {
      for (int i = 0; i < kEvents / kTakers; ++i) {
        if (queue_->take()) ++taken;
      }
    });
  }
  for (int i = 0; i < kEvents; ++i) queue_->push({IBV_EVENT_SM_CHANGE, nullptr});
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(taken, kEvents);
  EXPECT_FALSE(is_readable(*queue_));
}

}  // namespace
}  // namespace gdr::rnic
