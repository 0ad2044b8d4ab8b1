#include "memory/fault_guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "mapping.h"
#include "missing_pages.h"

namespace gdr::memory {
namespace {

constexpr std::size_t kOnePage = 4096;

// Where a fault of the test's own is caught; or is seen to.
volatile sig_atomic_t times_caught = 0;
void* volatile caught_at = nullptr;

void catch_by_making_it_readable(int /*signal*/, siginfo_t* info, void* /*context*/) {
  times_caught = times_caught + 1;
  caught_at = info->si_addr;
  const auto page = reinterpret_cast<std::uint64_t>(info->si_addr) & ~(kOnePage - 1);
  mprotect(reinterpret_cast<void*>(page), kOnePage, PROT_READ);
}
void count_only(int /*signal*/) { times_caught = times_caught + 1; }

struct Ending {
  bool by_signal;
  int number;
};

// How a process of its own ends that does this: which handlers a process has is for all its tests.
// Those that use it run first (DeathTest), before another test has put the handler in place.
Ending ending_of(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (const int signal : {SIGSEGV, SIGBUS}) (void)std::signal(signal, SIG_DFL);
    alarm(600);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) return {true, WTERMSIG(status)};
  return {false, WEXITSTATUS(status)};
}

void expect_exits(int code, const std::function<int()>& body) {
  const Ending ending = ending_of(body);
  EXPECT_FALSE(ending.by_signal) << strsignal(ending.number);
  EXPECT_EQ(ending.number, code);
}

class Gone : public Mapping {
 public:
  Gone() : Mapping(2 * kOnePage) { EXPECT_TRUE(test::take_pages_away(data(), 2 * kOnePage)); }
};

bool reads(const void* at) {
  return without_fault([at] { (void)*static_cast<const volatile char*>(at); });
}

TEST(FaultGuard, TellsOfMemoryThatIsNotThereEachTimeAndOnEveryThread) {
  catch_faults();
  const Gone gone;
  const Mapping there(kOnePage);
  const auto look = [&] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(reads(gone.data()));
      EXPECT_TRUE(reads(there.data()));
      EXPECT_FALSE(without_fault([&] { std::memset(gone.data() + 100, 1, 5000); }));
    }
  };
  look();
  std::thread(look).join();
}

TEST(FaultGuard, TellsOfAFileThatHasBecomeShorter) {
  catch_faults();
  const int file = memfd_create("short", 0);
  ASSERT_EQ(ftruncate(file, kOnePage), 0);
  void* page = mmap(nullptr, kOnePage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_TRUE(reads(page));
  ASSERT_EQ(ftruncate(file, 0), 0);
  EXPECT_FALSE(reads(page)) << "which is a SIGBUS";
  munmap(page, kOnePage);
  close(file);
}

TEST(FaultGuard, TellsOfMemoryThatHasBeenUnmapped) {
  catch_faults();
  void* page = mmap(nullptr, kOnePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const bool reads_before = reads(page);
  const int unmapped = munmap(page, kOnePage);
  const bool reads_after = reads(page);  // before anything else may be mapped there
  EXPECT_TRUE(reads_before);
  EXPECT_EQ(unmapped, 0);
  EXPECT_FALSE(reads_after);
}

#if defined(__x86_64__)
TEST(FaultGuard, LeavesHowFloatingPointNumbersAreRounded) {
  catch_faults();
  const Gone gone;
  const unsigned before = _mm_getcsr();
  const unsigned to_zero = before | _MM_ROUND_TOWARD_ZERO | _MM_FLUSH_ZERO_ON;
  _mm_setcsr(to_zero);
  const bool whole = reads(gone.data());
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_FALSE(whole);
  EXPECT_EQ(after, to_zero);
}
#endif

std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all(600);
  std::iota(all.begin(), all.end(), std::size_t{0});
  all.insert(all.end(), {1023, 1024, 1025, 2047, 4096, 4097, 8191});
  return all;
}

TEST(FaultGuard, CopiesEveryByteOfEveryLengthAndNoMore) {
  std::vector<unsigned char> from(2 * kOnePage + 64), to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<unsigned char>(i * 7 + i / 256);
  for (const std::size_t length : lengths()) {
    const std::size_t shift = length % 17;
    std::fill(to.begin(), to.end(), 0xee);
    EXPECT_TRUE(copy_if_there(to.data() + 8, from.data() + shift, length));
    EXPECT_EQ(std::memcmp(to.data() + 8, from.data() + shift, length), 0) << length;
    EXPECT_EQ(std::count(to.begin(), to.begin() + 8, 0xee), 8) << length;
    EXPECT_TRUE(std::all_of(to.begin() + 8 + static_cast<std::ptrdiff_t>(length), to.end(),
                            [](unsigned char byte) { return byte == 0xee; }))
        << length;
  }
}

// Three pages there, then a hole of one, then as much as the longest copy beyond it takes.
TEST(FaultGuard, CopiesOfEveryLengthTellOfAHoleOnEitherSide) {
  catch_faults();
  const Mapping bytes(7 * kOnePage);
  ASSERT_TRUE(test::take_pages_away(bytes.data() + 3 * kOnePage, kOnePage));
  unsigned char* const hole = bytes.data() + 3 * kOnePage;
  std::vector<unsigned char> other(2 * kOnePage + 64, 0x5a);
  for (const std::size_t length : lengths()) {
    if (length == 0) continue;
    EXPECT_TRUE(copy_if_there(hole - length, other.data(), length)) << length;
    EXPECT_TRUE(copy_if_there(other.data(), hole - length, length)) << length;
    EXPECT_FALSE(copy_if_there(hole - length + 1, other.data(), length)) << length;
    EXPECT_FALSE(copy_if_there(other.data(), hole - length + 1, length)) << length;
    EXPECT_FALSE(copy_if_there(hole + kOnePage - 1, other.data(), length)) << length;
    EXPECT_FALSE(copy_if_there(other.data(), hole + kOnePage - 1, length)) << length;
  }
}

TEST(FaultGuard, LooksAtEveryPageOfTheBytes) {
  catch_faults();
  const Mapping bytes(3 * kOnePage);
  EXPECT_TRUE(is_there(bytes.data(), 3 * kOnePage));
  ASSERT_TRUE(test::take_pages_away(bytes.data() + kOnePage, kOnePage));
  EXPECT_FALSE(is_there(bytes.data(), 3 * kOnePage));
  EXPECT_FALSE(is_there(bytes.data() + kOnePage - 1, 2));
  EXPECT_FALSE(is_there(bytes.data() + 2 * kOnePage - 1, 2));
  EXPECT_TRUE(is_there(bytes.data(), kOnePage));
  EXPECT_TRUE(is_there(bytes.data() + 2 * kOnePage, kOnePage));
  EXPECT_TRUE(is_there(bytes.data() + kOnePage, 0)) << "nothing is anywhere";
}

TEST(FaultGuard, LeavesTheSignalMaskAsItWas) {
  catch_faults();
  const Gone gone;
  sigset_t wanted, before, after;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGUSR1);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &wanted, &before), 0);
  EXPECT_FALSE(reads(gone.data()));
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, &after), 0);
  EXPECT_EQ(sigismember(&after, SIGUSR1), 1);
  EXPECT_EQ(sigismember(&after, SIGSEGV), 0);
}

TEST(FaultGuardDeathTest, LeavesOtherFaultsToTheProgramsOwnHandler) {
  expect_exits(0, [] {
    struct sigaction own {};
    own.sa_sigaction = catch_by_making_it_readable;
    own.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &own, nullptr);
    catch_faults();
    const Gone gone;
    const Mapping other(kOnePage, PROT_NONE);
    if (reads(gone.data()) || times_caught != 0) return 1;
    if (*static_cast<volatile unsigned char*>(other.data() + 5) != 0) return 2;
    if (times_caught != 1 || caught_at != other.data() + 5) return 3;
    return reads(gone.data()) ? 4 : 0;
  });
}

// As programs do that want to know what is written.
TEST(FaultGuardDeathTest, LeavesPagesWithoutRightsToTheHandlerThatMendsThem) {
  expect_exits(0, [] {
    struct sigaction own {};
    own.sa_sigaction = catch_by_making_it_readable;
    own.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &own, nullptr);
    catch_faults();
    const Mapping kept(kOnePage, PROT_NONE);
    const Mapping other(kOnePage, PROT_NONE);
    char byte = 1;
    if (!reads(kept.data()) || times_caught != 1) return 1;
    return copy_if_there(&byte, other.data(), 1) && byte == 0 && times_caught == 2 ? 0 : 2;
  });
}

TEST(FaultGuardDeathTest, TakesPagesWithoutRightsForGoneWhereNobodyMendsThem) {
  expect_exits(0, [] {
    catch_faults();
    const Mapping kept(kOnePage, PROT_NONE);
    char byte = 1;
    return reads(kept.data()) || copy_if_there(&byte, kept.data(), 1) ? 1 : 0;
  });
}

TEST(FaultGuardDeathTest, LeavesSignalsThatAProcessSendsToTheProgramsOwnHandler) {
  expect_exits(0, [] {
    (void)std::signal(SIGSEGV, count_only);
    catch_faults();
    (void)raise(SIGSEGV);
    // Also in the middle of a guarded access.
    const bool whole = without_fault([] { (void)raise(SIGSEGV); });
    return whole && times_caught == 2 ? 0 : 1;
  });
}

TEST(FaultGuardDeathTest, HandsAOneTimeHandlerOneFault) {
  const Ending ending = ending_of([] {
    struct sigaction own {};
    own.sa_handler = count_only;
    own.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGSEGV, &own, nullptr);
    catch_faults();
    (void)raise(SIGSEGV);
    if (times_caught != 1) return 1;
    (void)raise(SIGSEGV);
    return 2;
  });
  EXPECT_TRUE(ending.by_signal) << ending.number;
  EXPECT_EQ(ending.number, SIGSEGV);
}

TEST(FaultGuardDeathTest, EndsAProgramWithoutAHandlerByTheSignalAsBefore) {
  for (const bool is_sent : {false, true}) {
    const Ending ending = ending_of([is_sent] {
      catch_faults();
      const Gone gone;
      if (reads(gone.data())) return 1;
      if (is_sent) {
        (void)raise(SIGSEGV);
      } else {
        (void)*static_cast<volatile unsigned char*>(gone.data());
      }
      return 2;
    });
    EXPECT_TRUE(ending.by_signal) << ending.number;
    EXPECT_EQ(ending.number, is_sent ? SIGSEGV : SIGBUS);
  }
}

TEST(FaultGuardDeathTest, IgnoresWhatTheProgramIgnores) {
  expect_exits(0, [] {
    (void)std::signal(SIGBUS, SIG_IGN);
    catch_faults();
    (void)raise(SIGBUS);
    const Gone gone;
    return reads(gone.data()) ? 1 : 0;
  });
}

}  // namespace
}  // namespace gdr::memory
