// A program's thread that loses its core while it takes what has arrived: what is outstanding must
// not be given up for that.
#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "link.h"
#include "side.h"

namespace gdr::test {
namespace {

constexpr int kRounds = 20;
constexpr std::size_t kReadBytes = 4096;
constexpr timespec kStall = {0, 60'000'000};  // 60 ms
// Gives up after some 4 ms.
constexpr Patience kShort = {.timeout = 8, .retry_count = 3};

std::atomic<bool> stalls{false};

// Mostly the thread is in a system call for packets then, and holds what others need for it.
void stall(int) {
  stalls.store(true);
  nanosleep(&kStall, nullptr);
  stalls.store(false);
}

// Polls a queue that stays empty, as a program does that waits.
class Poller {
 public:
  explicit Poller(ibv_cq* queue) : thread_([this, queue] { poll(queue); }) {}
  ~Poller() {
    ends_.store(true);
    thread_.join();
  }
  void stall_it() {
    pthread_kill(thread_.native_handle(), SIGUSR1);
    while (!stalls.load()) std::this_thread::yield();
  }

 private:
  void poll(ibv_cq* queue) {
    ibv_wc wc;
    while (!ends_.load()) require(ibv_poll_cq(queue, 1, &wc) == 0, "nothing comes to this queue");
  }

  std::atomic<bool> ends_{false};
  std::thread thread_;
};

void read_while_the_poller_stalls(const Link& link) {
  link.enter(0);
  struct sigaction action {};
  action.sa_handler = stall;
  require(sigaction(SIGUSR1, &action, nullptr) == 0, "a handler");
  Side side;
  Memory& near = side.memory(kReadBytes);
  Memory& far = side.memory(kReadBytes);
  far.fill_pattern(1, 0, kReadBytes);
  ibv_qp* reads = side.queue_pair(IBV_QPT_RC);
  ibv_qp* answers = side.queue_pair(IBV_QPT_RC);
  side.connect(reads, side.endpoint(answers), kShort);
  side.connect(answers, side.endpoint(reads), kShort);
  Side other;  // whose queue stays empty
  Poller poller(other.queue());
  for (int round = 0; round < kRounds; ++round) {
    near.fill(0);
    poller.stall_it();
    side.read(reads, near, 0, kReadBytes, far.remote());
    while (stalls.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    side.expect(IBV_WC_SUCCESS);
    require(near.first_not_pattern(1, 0, kReadBytes) == -1, "the bytes that were read");
  }
}

TEST(StalledReceiver, IsNoReasonToGiveUpWhatHasBeenAnswered) {
  const auto link = Link::make({.kind = LinkKind::kLoopback});
  ASSERT_TRUE(link) << link.error().message;
  Child program([&](Wire&) { read_while_the_poller_stalls(**link); });
  program.finish();
}

}  // namespace
}  // namespace gdr::test
