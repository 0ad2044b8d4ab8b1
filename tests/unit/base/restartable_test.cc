#include "base/restartable.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <new>
#include <thread>
#include <vector>

namespace gdr {
namespace {

constexpr int kMostSteps = 300;  // the way there takes some hundred
constexpr std::uint64_t kHeld = 7, kTakenAway = 8;

constexpr SixtyFour kSixtyFour = {{{1, 2}, {3, 4}, {5, 6}, {7, 8}}};

struct Shared {
  std::atomic<std::uint64_t> word{kHeld};
  std::atomic<std::uint32_t> first{0}, second{0};
  std::atomic<std::uint64_t> wide{0};
  alignas(16) char bytes[128]{};
  std::atomic<bool> done{false}, result{false};
};

class RestartableTest : public testing::Test {
 protected:
  RestartableTest() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (page) Shared;
  }
  ~RestartableTest() override { munmap(shared_, 4096); }
  While held() const { return {&shared_->word, kHeld}; }

  using Deed = std::function<bool(const While&)>;
  using IsDone = std::function<bool()>;

  // Stops a child after each instruction of the deed in turn, and takes its right away there: what
  // has not been done by then is not done when it goes on. The deed itself is never reached so,
  // since whoever is stopped within a sequence begins it again.
  void check_at_each_instruction(const Deed& deed, const IsDone& is_done) {
    check_at_each_instruction(deed, is_done, [&](pid_t) { shared_->word = kTakenAway; });
  }
  void check_at_each_instruction(const Deed& deed, const IsDone& is_done,
                                 const std::function<void(pid_t)>& take_away) {
    int before = 0;
    for (int steps = 1; steps < kMostSteps; ++steps) {
      new (shared_) Shared;
      const pid_t child = fork();
      if (child == 0) {
        alarm(600);
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        raise(SIGSTOP);
        shared_->result = deed(held());
        shared_->done = true;
        _exit(0);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      for (int i = 0; i < steps && WIFSTOPPED(status); ++i) {
        ASSERT_EQ(ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0);
        ASSERT_EQ(waitpid(child, &status, 0), child);
      }
      const bool was_done = is_done();
      if (!was_done) ++before;
      take_away(child);
      if (WIFSTOPPED(status)) {
        ASSERT_EQ(ptrace(PTRACE_DETACH, child, nullptr, nullptr), 0);
        ASSERT_EQ(waitpid(child, &status, 0), child);
      }
      ASSERT_TRUE(shared_->done.load());
      ASSERT_EQ(is_done(), was_done) << "after " << steps << " instructions";
      ASSERT_EQ(shared_->result.load(), was_done) << "after " << steps << " instructions";
    }
    EXPECT_EQ(before, kMostSteps - 1) << "a sequence is left where it was stopped";
  }

  Shared* shared_;
};

TEST_F(RestartableTest, DoesWhatItIsToldWhileTheWordHasTheValue) {
  char from[64];
  std::memset(from, 'x', sizeof from);
  EXPECT_TRUE(store_while(held(), shared_->first, 3));
  EXPECT_TRUE(store_while(held(), shared_->wide, std::uint64_t{1} << 40));
  EXPECT_TRUE(copy_while(held(), shared_->bytes, from, 64));
  EXPECT_EQ(shared_->first.load(), 3u);
  EXPECT_EQ(shared_->wide.load(), std::uint64_t{1} << 40);
  EXPECT_EQ(std::memcmp(shared_->bytes, from, 64), 0);
  EXPECT_TRUE(store_two_while(held(), shared_->first, 4, shared_->second, 5));
  EXPECT_EQ(shared_->first.load() * 10 + shared_->second.load(), 45u);
  from[63] = 'y';
  EXPECT_TRUE(copy_and_store_while(held(), shared_->bytes, from, 64, shared_->second, 12));
  EXPECT_EQ(shared_->bytes[63], 'y');
  EXPECT_EQ(shared_->second.load(), 12u);
  EXPECT_TRUE(store_two_while(held(), shared_->first, 0, shared_->wide, std::uint64_t{1} << 41));
  EXPECT_EQ(shared_->first.load(), 0u);
  EXPECT_EQ(shared_->wide.load(), std::uint64_t{1} << 41);
  const char other[32] = {'o'};
  char to[48] = {};
  EXPECT_TRUE(copy_both_and_store_while(held(), {to, other, 32}, shared_->bytes + 8, kSixtyFour,
                                        shared_->second, 13));
  EXPECT_EQ(to[0], 'o');
  EXPECT_EQ(std::memcmp(shared_->bytes + 8, &kSixtyFour, 64), 0);
  EXPECT_EQ(shared_->second.load(), 13u);
  EXPECT_TRUE(copy_both_and_store_while(held(), {nullptr, nullptr, 0}, shared_->bytes, kSixtyFour,
                                        shared_->second, 14));
  EXPECT_EQ(std::memcmp(shared_->bytes, &kSixtyFour, 64), 0);
  EXPECT_EQ(shared_->second.load(), 14u);
  EXPECT_EQ(system_call_while(held(), SYS_getppid, 0), getppid());
  EXPECT_EQ(system_call_while(held(), SYS_close, -1), -EBADF);
}

TEST_F(RestartableTest, DoesNothingOnceTheWordHasAnotherValue) {
  shared_->word = kTakenAway;
  const char from[64] = {1};
  EXPECT_FALSE(store_while(held(), shared_->first, 3));
  EXPECT_FALSE(store_while(held(), shared_->wide, std::uint64_t{3}));
  EXPECT_FALSE(store_two_while(held(), shared_->first, 4, shared_->second, 5));
  EXPECT_FALSE(copy_while(held(), shared_->bytes, from, 64));
  EXPECT_FALSE(copy_and_store_while(held(), shared_->bytes, from, 64, shared_->second, 12));
  EXPECT_FALSE(store_two_while(held(), shared_->first, 4, shared_->wide, std::uint64_t{5}));
  EXPECT_FALSE(copy_both_and_store_while(held(), {shared_->bytes, from, 16}, shared_->bytes + 64,
                                         kSixtyFour, shared_->second, 12));
  EXPECT_EQ(system_call_while(held(), SYS_close, STDIN_FILENO), kEnded);
  EXPECT_EQ(shared_->first.load() + shared_->second.load() + shared_->wide.load(), 0u);
  EXPECT_EQ(shared_->bytes[0], 0);
}

TEST_F(RestartableTest, StoresNothingAfterTheWordHasChangedWhereverItIsStopped) {
  if (!is_restartable()) GTEST_SKIP() << "no restartable sequences: see rseq(2)";
  check_at_each_instruction([&](const While& held) { return store_while(held, shared_->first, 3); },
                            [&] { return shared_->first.load() == 3; });
}

TEST_F(RestartableTest, CountsNoCompletionAfterTheWordHasChangedWhereverItIsStopped) {
  if (!is_restartable()) GTEST_SKIP() << "no restartable sequences: see rseq(2)";
  static const char from[64] = {1, 2, 3};
  check_at_each_instruction(
      [&](const While& held) {
        return copy_and_store_while(held, shared_->bytes, from, 64, shared_->second, 1);
      },
      [&] { return shared_->second.load() == 1; });
}

TEST_F(RestartableTest, CountsNoCompletionThatCarriesBytesAfterTheWordHasChanged) {
  if (!is_restartable()) GTEST_SKIP() << "no restartable sequences: see rseq(2)";
  static const char from[64] = {1, 2, 3};
  check_at_each_instruction(
      [&](const While& held) {
        return copy_both_and_store_while(held, {shared_->bytes, from, 32}, shared_->bytes + 64,
                                         kSixtyFour, shared_->second, 1);
      },
      [&] { return shared_->second.load() == 1; });
}

TEST_F(RestartableTest, LetsGoOfNoLockAfterTheWordHasChangedWhereverItIsStopped) {
  if (!is_restartable()) GTEST_SKIP() << "no restartable sequences: see rseq(2)";
  check_at_each_instruction(
      [&](const While& held) {
        return store_two_while(held, shared_->first, 3, shared_->wide, std::uint64_t{4});
      },
      [&] { return shared_->wide.load() == 4; });
}

TEST_F(RestartableTest, MakesNoSystemCallAfterTheWordHasChangedWhereverItIsStopped) {
  if (!is_restartable()) GTEST_SKIP() << "no restartable sequences: see rseq(2)";
  const int file = memfd_create("restartable", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  const auto is_written = [&] {
    char byte = 0;
    return pread(file, &byte, 1, 0) == 1 && byte == 'w';
  };
  check_at_each_instruction(
      [&](const While& held) {
        if (ftruncate(file, 0) != 0) return false;
        return system_call_while(held, SYS_pwrite64, file, reinterpret_cast<long>("w"), 1) == 1;
      },
      is_written);
  close(file);
}

// Processors that this program may run on.
std::vector<int> own_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) processors.push_back(i);
  }
  return processors;
}

void move_to(pid_t process, int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(processor), &one);
  ASSERT_EQ(sched_setaffinity(process, sizeof one, &one), 0);
}

TEST_F(RestartableTest, AddsOnTheProcessorThatItRunsOnAndOnNoOther) {
  if (!is_restartable()) GTEST_SKIP() << "no restartable sequences: see rseq(2)";
  std::thread([&] {
    const int here = own_processors().back();
    move_to(0, here);
    const auto processor = static_cast<std::uint32_t>(here);
    EXPECT_EQ(processor_now(), processor);
    EXPECT_TRUE(add_on(processor, shared_->wide, 5));
    EXPECT_FALSE(add_on(processor + 1, shared_->wide, 7));
    EXPECT_TRUE(add_on(processor, shared_->wide, std::uint64_t{1} << 40));
  }).join();
  EXPECT_EQ(shared_->wide.load(), 5 + (std::uint64_t{1} << 40));
}

// There another thread may be adding.
TEST_F(RestartableTest, AddsNothingOnceItHasBeenMovedWhereverItIsStopped) {
  if (!is_restartable()) GTEST_SKIP() << "no restartable sequences: see rseq(2)";
  const std::vector<int> processors = own_processors();
  if (processors.size() < 2) GTEST_SKIP() << "one processor";
  std::thread([&] {
    move_to(0, processors[0]);  // and so is each child
    check_at_each_instruction(
        [&](const While&) {
          return add_on(static_cast<std::uint32_t>(processors[0]), shared_->wide, 1);
        },
        [&] { return shared_->wide.load() == 1; },
        [&](pid_t child) { move_to(child, processors[1]); });
  }).join();
}

}  // namespace
}  // namespace gdr
