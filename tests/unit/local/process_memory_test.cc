#include "local/process_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace gdr::local {
namespace {

constexpr std::size_t kBytes = 1 << 20;

std::atomic<std::uint64_t> epoch{3};
const While kHeld{&epoch, 3};

// A child whose memory at `bytes` is a copy of this process's, and shared with it at `seen`.
class ProcessMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    seen_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    for (std::size_t i = 0; i < kBytes; ++i) seen_[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
    child_ = fork();
    if (child_ == 0) {
      alarm(600);
      while (true) pause();
    }
  }
  void TearDown() override {
    end_child();
    munmap(seen_, kBytes);
  }
  void end_child() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  std::uint8_t* seen_ = nullptr;
  pid_t child_ = -1;
};

// Cuts `total` bytes from `base` on into pieces, some of them empty, and leaves room for one more.
std::vector<iovec> cut(std::uint8_t* base, std::size_t total, std::mt19937& random) {
  std::vector<iovec> pieces;
  for (std::size_t at = 0; at < total;) {
    const std::size_t length = std::min<std::size_t>(total - at, random() % 3 * (random() % 5000));
    pieces.push_back({base + at, length});
    at += length;
  }
  pieces.reserve(pieces.size() + 1);
  return pieces;
}

TEST_F(ProcessMemoryTest, WritesAndReadsBetweenListsThatAreCutDifferently) {
  std::mt19937 random(5);
  std::vector<std::uint8_t> bytes(kBytes);
  for (const std::size_t total : {1, 63, 64, 65, 128, 4097, 70'001, 300'000}) {
    for (std::size_t i = 0; i < total; ++i) bytes[i] = static_cast<std::uint8_t>(i * 13 + total);
    auto from = cut(bytes.data(), total, random), to = cut(seen_ + 5, total, random);
    while (to.back().iov_len == 0) to.pop_back();
    const std::uint8_t before = seen_[4], behind = seen_[5 + total];
    ASSERT_EQ(write_process({child_, kHeld}, from, to), 0);
    EXPECT_EQ(std::memcmp(seen_ + 5, bytes.data(), total), 0) << total;
    EXPECT_EQ(seen_[4], before);
    EXPECT_EQ(seen_[5 + total], behind);

    std::vector<std::uint8_t> back(total);
    auto into = cut(back.data(), total, random), out = cut(seen_ + 5, total, random);
    ASSERT_EQ(read_process({child_, kHeld}, into, out), 0);
    EXPECT_EQ(std::memcmp(back.data(), bytes.data(), total), 0) << total;
  }
}

// The bytes are those of the list before it was split.
void expect_split(std::vector<iovec> list, std::uintptr_t remote,
                  std::vector<std::size_t> lengths) {
  std::size_t bytes = 0;
  for (const iovec& piece : list) bytes += piece.iov_len;
  std::vector<iovec> room = list;
  room.push_back({});
  const auto split =
      split_tail({room.data(), list.size()}, {reinterpret_cast<void*>(remote), bytes});
  std::vector<std::size_t> found;
  auto* expected = static_cast<std::byte*>(list.front().iov_base);
  for (const iovec& piece : split) {
    found.push_back(piece.iov_len);
    EXPECT_EQ(piece.iov_base, expected);
    expected += piece.iov_len;
  }
  EXPECT_EQ(found, lengths);
}

TEST(SplitTail, CutsWhereTheLastCacheLineOfItsPlaceBegins) {
  const auto list = [](const std::vector<std::size_t>& lengths) {
    std::vector<iovec> pieces;
    std::byte* at = reinterpret_cast<std::byte*>(0x7000);
    for (const std::size_t length : lengths) {
      pieces.push_back({at, length});
      at += length;
    }
    return pieces;
  };
  expect_split(list({64}), 0x1010, {64});  // a cache line or less is as it was
  expect_split(list({65}), 0x1000, {64, 1});
  expect_split(list({128}), 0x1000, {64, 64});
  expect_split(list({100}), 0x1030, {80, 20});
  expect_split(list({50, 50}), 0x1030, {50, 30, 20});
  expect_split(list({80, 20}), 0x1030, {80, 20});  // is so already
  expect_split(list({70, 20, 10}), 0x1030, {70, 10, 10, 10});
  expect_split(list({79, 0, 21, 0}), 0x1030, {79, 0, 1, 20, 0});
}

TEST_F(ProcessMemoryTest, OneCallMovesWhatIsThereAndSaysHowMuch) {
  // Only in this process: where the hole is.
  auto* pages = static_cast<std::uint8_t*>(
      mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + 4096, 4096);
  std::uint8_t bytes[24];
  std::memset(bytes, 0xee, sizeof bytes);
  const iovec here[] = {{bytes, 8}, {bytes + 8, 8}, {bytes + 16, 8}};
  const iovec there[] = {{pages + 10, 8}, {pages + 4090, 8}, {pages + 8192, 8}};
  EXPECT_EQ(write_in_one_call({getpid(), kHeld}, here, there), 8 + 6);
  EXPECT_EQ(pages[17], 0xee);
  EXPECT_EQ(pages[4095], 0xee);
  EXPECT_EQ(pages[8192], 0) << "nothing behind it";
  EXPECT_EQ(read_in_one_call({getpid(), kHeld}, here, there), 8 + 6);
  EXPECT_EQ(write_in_one_call({getpid(), kHeld}, here, {there + 1, 1}), 6);
  const iovec hole{pages + 4096, 8};
  EXPECT_EQ(write_in_one_call({getpid(), kHeld}, {here, 1}, {&hole, 1}), -EFAULT);
  EXPECT_EQ(write_in_one_call({getpid(), {&epoch, 4}}, {here, 1}, {there, 1}), kEnded);
  munmap(pages, 4096);
  munmap(pages + 8192, 4096);
}

TEST_F(ProcessMemoryTest, MemoryThatIsNotThereIsAnErrorOnEitherSide) {
  std::uint8_t bytes[256] = {};
  iovec here[2] = {{bytes, sizeof bytes}, {}};
  iovec there{reinterpret_cast<void*>(0x1000), sizeof bytes};
  EXPECT_EQ(write_process({child_, kHeld}, {here, 1}, {&there, 1}), EFAULT);
  here[0] = {reinterpret_cast<void*>(0x1000), 256};
  there = {seen_, 256};
  EXPECT_EQ(write_process({child_, kHeld}, {here, 1}, {&there, 1}), EFAULT);
}

TEST_F(ProcessMemoryTest, ARangeThatEndsInAHoleIsAnErrorAndNotAShortCopy) {
  ASSERT_EQ(mprotect(seen_, kBytes, PROT_READ | PROT_WRITE), 0);
  std::vector<std::uint8_t> bytes(3 * 4096, 0xee);
  iovec here[2] = {{bytes.data(), bytes.size()}, {}};
  // Two pages of it, then whatever lies behind: an unmapped page that this process makes.
  auto* hole = static_cast<std::uint8_t*>(
      mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(hole + 2 * 4096, 4096);
  iovec there{hole, bytes.size()};
  EXPECT_EQ(write_process({getpid(), kHeld}, {here, 1}, {&there, 1}), EFAULT);
  munmap(hole, 2 * 4096);
}

TEST_F(ProcessMemoryTest, AProcessThatIsGoneIsNoSuchProcess) {
  const pid_t pid = child_;
  end_child();
  std::uint8_t bytes[8] = {};
  iovec here[2] = {{bytes, 8}, {}};
  iovec there{seen_, 8};
  EXPECT_EQ(write_process({pid, kHeld}, {here, 1}, {&there, 1}), ESRCH);
  EXPECT_EQ(read_process({pid, kHeld}, {here, 1}, {&there, 1}), ESRCH);
}

class MemoryFileTest : public ProcessMemoryTest {
 protected:
  void SetUp() override {
    ProcessMemoryTest::SetUp();
    file_.reset(open(("/proc/" + std::to_string(child_) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
    if (!file_) GTEST_SKIP() << "/proc/PID/mem may not be opened here";
  }
  int write(void* from, void* to, std::size_t bytes) {
    const iovec here{from, bytes}, there{to, bytes};
    return write_few(file_.get(), kHeld, {&here, 1}, {&there, 1});
  }
  int read(void* to, void* from, std::size_t bytes) {
    const iovec here{to, bytes}, there{from, bytes};
    return read_few(file_.get(), kHeld, {&here, 1}, {&there, 1});
  }

  UniqueFd file_;
  std::uint8_t bytes_[4096] = {};
};

TEST_F(MemoryFileTest, CarriesAFewBytesBothWays) {
  for (std::size_t i = 0; i < sizeof bytes_; ++i) bytes_[i] = static_cast<std::uint8_t>(0xc0 ^ i);
  EXPECT_EQ(write(bytes_, seen_ + 3, 64), 0);
  EXPECT_EQ(std::memcmp(seen_ + 3, bytes_, 64), 0);
  EXPECT_EQ(seen_[2], 14);
  EXPECT_EQ(seen_[67], 67 * 7 % 256);
  EXPECT_EQ(read(bytes_, seen_ + 4090, 2048), 0);
  EXPECT_EQ(std::memcmp(seen_ + 4090, bytes_, 2048), 0);
}

TEST_F(MemoryFileTest, LeavesToTheOthersWhatIsMuchOrNotThere) {
  EXPECT_EQ(write(bytes_, seen_, 65), kNotFew);  // its tail has to be written by itself
  EXPECT_EQ(read(bytes_, seen_, 4096), kNotFew);
  EXPECT_EQ(write(bytes_, reinterpret_cast<void*>(0x1000), 8), kNotFew);
  EXPECT_EQ(read(bytes_, reinterpret_cast<void*>(0x1000), 8), kNotFew);
  EXPECT_EQ(write(reinterpret_cast<void*>(0x1000), seen_, 8), kNotFew);
  file_.reset();
  EXPECT_EQ(write(bytes_, seen_, 8), kNotFew);
}

TEST_F(MemoryFileTest, IsThatOfAProcessAndNotOfWhoeverHasItsNumber) {
  end_child();
  EXPECT_EQ(write(bytes_, seen_, 8), ESRCH);
  EXPECT_EQ(read(bytes_, seen_, 8), ESRCH);
}

// More than one call of the kernel carries (2 GiB less a page).
TEST_F(ProcessMemoryTest, CarriesMoreThanOneCallOfTheKernelCan) {
  constexpr std::size_t kTotal = (std::size_t{2} << 30) + 12'345, kSlab = 16 << 20;
  auto* big = static_cast<std::uint8_t*>(mmap(nullptr, kTotal, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (big == MAP_FAILED) GTEST_SKIP() << "no 2 GiB of address space";
  // The target is one small page mapped over and over, so that the test needs no 2 GiB.
  const int page = memfd_create("page", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(page, kSlab), 0);
  auto* target = static_cast<std::uint8_t*>(
      mmap(nullptr, kTotal + kSlab, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  for (std::size_t at = 0; at < kTotal; at += kSlab) {
    ASSERT_NE(mmap(target + at, kSlab, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, page, 0),
              MAP_FAILED);
  }
  close(page);
  std::memset(target, 0xff, kSlab);
  iovec here[2] = {{big, kTotal}, {}};
  iovec there{target, kTotal};
  EXPECT_EQ(write_process({getpid(), kHeld}, {here, 1}, {&there, 1}), 0);
  // The bytes behind the kernel's limit were the last to arrive at the slab's first places.
  EXPECT_EQ(target[0], 0);
  EXPECT_EQ(target[kTotal % kSlab], 0);
  munmap(big, kTotal);
  munmap(target, kTotal + kSlab);
}

TEST(CopyWithin, MovesEveryByteBetweenListsThatAreCutDifferently) {
  std::mt19937 random(9);
  for (const std::size_t total : {0, 1, 63, 64, 65, 129, 5000, 100'003}) {
    std::vector<std::uint8_t> from(total + 1), to(total + 2, 0xa5);
    for (std::size_t i = 0; i < total; ++i) from[i] = static_cast<std::uint8_t>(i * 31 + 7);
    const auto source = cut(from.data(), total, random), target = cut(to.data() + 1, total, random);
    copy_within(source, target);
    EXPECT_EQ(std::memcmp(to.data() + 1, from.data(), total), 0) << total;
    EXPECT_EQ(to[0], 0xa5);
    EXPECT_EQ(to[total + 1], 0xa5);
  }
}

}  // namespace
}  // namespace gdr::local
