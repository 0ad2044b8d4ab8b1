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
      alarm(30);
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

TEST_F(ProcessMemoryTest, MemoryThatIsNotThereIsAnErrorOnEitherSide) {
  std::uint8_t bytes[256] = {};
  iovec here{bytes, sizeof bytes};
  iovec there[2] = {{reinterpret_cast<void*>(0x1000), sizeof bytes}, {}};
  EXPECT_EQ(write_process({child_, kHeld}, {&here, 1}, {there, 1}), EFAULT);
  here = {reinterpret_cast<void*>(0x1000), 256};
  there[0] = {seen_, 256};
  EXPECT_EQ(write_process({child_, kHeld}, {&here, 1}, {there, 1}), EFAULT);
}

TEST_F(ProcessMemoryTest, ARangeThatEndsInAHoleIsAnErrorAndNotAShortCopy) {
  ASSERT_EQ(mprotect(seen_, kBytes, PROT_READ | PROT_WRITE), 0);
  std::vector<std::uint8_t> bytes(3 * 4096, 0xee);
  iovec here{bytes.data(), bytes.size()};
  // Two pages of it, then whatever lies behind: an unmapped page that this process makes.
  auto* hole = static_cast<std::uint8_t*>(
      mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(hole + 2 * 4096, 4096);
  iovec there[2] = {{hole, bytes.size()}, {}};
  EXPECT_EQ(write_process({getpid(), kHeld}, {&here, 1}, {there, 1}), EFAULT);
  munmap(hole, 2 * 4096);
}

TEST_F(ProcessMemoryTest, AProcessThatIsGoneIsNoSuchProcess) {
  const pid_t pid = child_;
  end_child();
  std::uint8_t bytes[8] = {};
  iovec here{bytes, 8};
  iovec there[2] = {{seen_, 8}, {}};
  EXPECT_EQ(write_process({pid, kHeld}, {&here, 1}, {there, 1}), ESRCH);
  EXPECT_EQ(read_process({pid, kHeld}, {&here, 1}, {there, 1}), ESRCH);
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
  iovec here{big, kTotal};
  iovec there[2] = {{target, kTotal}, {}};
  EXPECT_EQ(write_process({getpid(), kHeld}, {&here, 1}, {there, 1}), 0);
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
