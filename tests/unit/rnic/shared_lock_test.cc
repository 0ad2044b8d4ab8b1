#include "rnic/shared_lock.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "base/clock.h"

namespace gdr::rnic {
namespace {

struct Shared {
  SharedLock lock{};
  volatile std::uint64_t count = 0;
  std::atomic<int> stage{0};
};

class Register : public Liveness {
 public:
  bool alive(Token token) override { return token != dead; }
  std::atomic<Token> dead{0};
};

class SharedLockTest : public testing::Test {
 protected:
  SharedLockTest() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (page) Shared;
  }
  ~SharedLockTest() override { munmap(shared_, 4096); }

  template <typename Body>
  static pid_t start(Body body) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    alarm(20);
    body();
    _exit(0);
  }
  static bool ended_well(pid_t pid) {
    int status = 0;
    return waitpid(pid, &status, 0) == pid && status == 0;
  }

  Shared* shared_;
  Register register_;
};

TEST_F(SharedLockTest, LetsOneProcessInAtATime) {
  constexpr std::uint64_t kEach = 100'000;
  pid_t children[3];
  for (Token token = 1; token <= 3; ++token) {
    children[token - 1] = start([&] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const LockGuard guard(shared_->lock, token, register_);
        shared_->count = shared_->count + 1;
      }
    });
  }
  for (const pid_t child : children) EXPECT_TRUE(ended_well(child));
  EXPECT_EQ(shared_->count, 3 * kEach);
}

TEST_F(SharedLockTest, IsTakenOverFromADeadProcess) {
  constexpr Token kChild = 7, kOwn = 8;
  const pid_t child = start([&] { lock(shared_->lock, kChild, register_); });
  ASSERT_TRUE(ended_well(child));
  EXPECT_EQ(try_lock(shared_->lock, kOwn, register_), Taken::kNo);  // not known to be dead
  register_.dead = kChild;
  EXPECT_EQ(try_lock(shared_->lock, kOwn, register_), Taken::kOrphan);
  EXPECT_EQ(try_lock(shared_->lock, kOwn, register_), Taken::kNo);  // and now it is held
  unlock(shared_->lock);
  EXPECT_EQ(try_lock(shared_->lock, kOwn, register_), Taken::kFree);
}

TEST_F(SharedLockTest, IsTakenByOneOfThoseWhoFindItsHolderDead) {
  constexpr Token kDead = 7;
  for (int round = 0; round < 200; ++round) {
    lock(shared_->lock, kDead, register_);
    register_.dead = kDead;
    std::atomic<int> inside{0};
    const auto enter = [&](Token token) {
      const LockGuard guard(shared_->lock, token, register_);
      EXPECT_EQ(inside.fetch_add(1), 0);
      inside.fetch_sub(1);
    };
    std::thread other([&] { enter(1); });
    enter(2);
    other.join();
    register_.dead = 0;
  }
}

TEST_F(SharedLockTest, GivesUpAfterTheSpinsItWasGiven) {
  lock(shared_->lock, 1, register_);
  EXPECT_EQ(try_lock_for(shared_->lock, 2, register_, 1000), Taken::kNo);
  unlock(shared_->lock);
  EXPECT_EQ(try_lock_for(shared_->lock, 2, register_, 1000), Taken::kFree);
}

TEST_F(SharedLockTest, WaitingForThePresentHolderTakesNothing) {
  wait_for_present_holder(shared_->lock, register_);  // nobody: returns at once
  lock(shared_->lock, 1, register_);
  std::atomic<bool> released{false};
  std::thread holder([&] {
    usleep(30'000);
    released = true;
    unlock(shared_->lock);
  });
  wait_for_present_holder(shared_->lock, register_);
  EXPECT_TRUE(released);
  holder.join();
  EXPECT_EQ(try_lock(shared_->lock, 2, register_), Taken::kFree);
}

TEST_F(SharedLockTest, WaitingForThePresentHolderEndsWithItsDeath) {
  lock(shared_->lock, 1, register_);
  register_.dead = 1;
  wait_for_present_holder(shared_->lock, register_);
}

TEST_F(SharedLockTest, WaitingForThePresentHolderIsNotStarvedByItsNextTurns) {
  lock(shared_->lock, 1, register_);
  std::atomic<bool> stop{false};
  // Another turn of the same process every time, so fast that nobody sees the lock free.
  std::thread greedy([&] {
    while (!stop) {
      shared_->lock.word.fetch_add(1);
      usleep(100);
    }
  });
  const Nanoseconds start = now();
  std::thread waiter([&] {
    for (int i = 0; i < 100; ++i) wait_for_present_holder(shared_->lock, register_);
    stop = true;
  });
  while (!stop && now() - start < 5 * kSecond) usleep(1000);
  EXPECT_TRUE(stop) << "the wait for one turn waits for all";
  stop = true;
  greedy.join();
  unlock(shared_->lock);
  waiter.join();
}

}  // namespace
}  // namespace gdr::rnic
