#include "rnic/shared_lock.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <thread>

#include "base/clock.h"
#include "processor_time.h"
#include "soon.h"

namespace gdr::rnic {
namespace {

constexpr Token kFirst = 11, kOther = 12;

struct Shared {
  SharedLock lock{};
  volatile std::uint64_t count = 0;
  std::atomic<int> stage{0};
};

class Register : public Liveness {
 public:
  Register() { set_epoch(epoch); }
  bool alive(Token token) override { return token != dead; }
  bool cut_off(Token token, HeldFor /*purpose*/, Nanoseconds waited) override {
    longest_wait = std::max(longest_wait.load(), waited);
    return token == stopped;
  }
  std::atomic<Token> dead{0}, stopped{0};
  std::atomic<Nanoseconds> longest_wait{0};
  std::atomic<std::uint64_t> epoch{0};  // of this process
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
    alarm(600);
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
  for (Token token = kFirst; token < kFirst + 3; ++token) {
    children[token - kFirst] = start([&] {
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
  const pid_t child =
      start([&] { lock(shared_->lock, kChild, register_, HeldFor::kCopies, kChild); });
  ASSERT_TRUE(ended_well(child));
  EXPECT_EQ(try_lock(shared_->lock, kOwn, register_, kOwn), Taken::kNo);  // not known to be dead
  register_.dead = kChild;
  EXPECT_EQ(try_lock(shared_->lock, kOwn, register_, kOwn), Taken::kOrphan);
  EXPECT_EQ(try_lock(shared_->lock, kOwn, register_, kOwn), Taken::kNo);  // and now it is held
  unlock(shared_->lock);
  EXPECT_EQ(try_lock(shared_->lock, kOwn, register_, kOwn), Taken::kFree);
}

TEST_F(SharedLockTest, IsTakenByOneOfThoseWhoFindItsHolderDead) {
  constexpr Token kDead = 7;
  for (int round = 0; round < 200; ++round) {
    lock(shared_->lock, kDead, register_, HeldFor::kCopies, kDead);
    register_.dead = kDead;
    std::atomic<int> inside{0};
    const auto enter = [&](Token token) {
      const LockGuard guard(shared_->lock, token, register_);
      EXPECT_EQ(inside.fetch_add(1), 0);
      inside.fetch_sub(1);
    };
    std::thread other([&] { enter(kFirst); });
    enter(kOther);
    other.join();
    register_.dead = 0;
  }
}

TEST_F(SharedLockTest, GivesUpAfterTheSpinsItWasGiven) {
  lock(shared_->lock, kFirst, register_, HeldFor::kCopies, kFirst);
  std::uint64_t word = 0;
  const auto attempt = [&] {
    return try_lock_for(shared_->lock, kOther, register_, kOther, 1000, &word);
  };
  EXPECT_EQ(attempt(), Taken::kNo);
  unlock(shared_->lock);
  EXPECT_EQ(attempt(), Taken::kFree);
  EXPECT_EQ(word, shared_->lock.word.load());
}

TEST_F(SharedLockTest, WaitingForThePresentHolderTakesNothing) {
  wait_for_present_holder(shared_->lock, register_);  // nobody: returns at once
  lock(shared_->lock, kFirst, register_, HeldFor::kCopies, kFirst);
  std::atomic<bool> released{false};
  std::thread holder([&] {
    usleep(30'000);
    released = true;
    unlock(shared_->lock);
  });
  wait_for_present_holder(shared_->lock, register_);
  EXPECT_TRUE(released);
  holder.join();
  EXPECT_EQ(try_lock(shared_->lock, kOther, register_, kOther), Taken::kFree);
}

TEST_F(SharedLockTest, WaitingForThePresentHolderEndsWithItsDeath) {
  lock(shared_->lock, kFirst, register_, HeldFor::kCopies, kFirst);
  register_.dead = kFirst;
  wait_for_present_holder(shared_->lock, register_);
}

TEST_F(SharedLockTest, WaitingForThePresentHolderIsNotStarvedByItsNextTurns) {
  lock(shared_->lock, kFirst, register_, HeldFor::kCopies, kFirst);
  std::atomic<bool> stop{false};
  // Another turn of the same process every time, so fast that nobody sees the lock free.
  std::thread greedy([&] {
    while (!stop) {
      shared_->lock.word.fetch_add(1);
      usleep(100);
    }
  });
  std::thread waiter([&] {
    for (int i = 0; i < 100; ++i) wait_for_present_holder(shared_->lock, register_);
    stop = true;
  });
  EXPECT_TRUE(test::soon([&] { return stop.load(); })) << "the wait for one turn waits for all";
  stop = true;
  greedy.join();
  unlock(shared_->lock);
  waiter.join();
}

TEST_F(SharedLockTest, IsTakenOverFromOneThatIsCutOff) {
  lock(shared_->lock, kFirst, register_, HeldFor::kCopies, kOther);
  const auto attempt = [&] { return try_lock(shared_->lock, kOther, register_, kOther); };
  EXPECT_EQ(attempt(), Taken::kNo);
  register_.stopped = kFirst;
  EXPECT_EQ(attempt(), Taken::kOrphan);
}

TEST_F(SharedLockTest, OfItsOwnProcessIsNotTakenOverAlthoughThatIsStopped) {
  constexpr Token kOwner = kFirst;
  lock(shared_->lock, kOwner, register_, HeldFor::kBookkeeping, kOwner);
  register_.stopped = kOwner;
  EXPECT_EQ(try_lock(shared_->lock, kOther, register_, kOwner), Taken::kNo);
  const Nanoseconds start = now();
  EXPECT_EQ(wait_and_lock(shared_->lock, kOther, register_, HeldFor::kBookkeeping, kOwner), 0u);
  EXPECT_LT(now() - start, 20 * kSecond);
  EXPECT_EQ(holder_of(shared_->lock.word), kOwner);
}

TEST_F(SharedLockTest, OfOneWhoWasCutOffAndComesBackIsLeftToBeMended) {
  const While held = register_.while_held();
  std::uint64_t word = 0;
  ASSERT_EQ(try_lock(shared_->lock, kFirst, register_, kOther, &word), Taken::kFree);
  register_.epoch = 1;
  unlock(shared_->lock, word, held);
  EXPECT_EQ(try_lock(shared_->lock, kOther, register_, kOther), Taken::kOrphan);
}

TEST_F(SharedLockTest, TakenOverMeanwhileIsNotLetGoOfByItsFormerHolder) {
  const While held = register_.while_held();
  std::uint64_t word = 0;
  ASSERT_EQ(try_lock(shared_->lock, kFirst, register_, kOther, &word), Taken::kFree);
  register_.stopped = kFirst;
  register_.epoch = 1;
  ASSERT_EQ(try_lock(shared_->lock, kOther, register_, kOther), Taken::kOrphan);
  unlock(shared_->lock, word, held);
  EXPECT_EQ(holder_of(shared_->lock.word), kOther);
}

TEST_F(SharedLockTest, WaitingTellsForHowLongAndUsesLittleProcessorTime) {
  lock(shared_->lock, kFirst, register_, HeldFor::kCopies, kOther);
  const Nanoseconds before = test::processor_time();
  std::thread later([&] {
    usleep(300'000);
    register_.stopped = kFirst;
  });
  wait_for_present_holder(shared_->lock, register_);
  later.join();
  EXPECT_LT(test::processor_time() - before, 150 * kMillisecond);
  EXPECT_GT(register_.longest_wait.load(), kMillisecond);
  EXPECT_LT(register_.longest_wait.load(), 20 * kSecond);
}

}  // namespace
}  // namespace gdr::rnic
