#include "memory/own_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

namespace gdr::memory {
namespace {

constexpr std::size_t kPage = 4096;

using Copy = int (*)(std::span<const iovec>, std::span<const iovec>);

class OwnMemory : public testing::TestWithParam<Copy> {
 protected:
  static std::uint8_t* map(int rights) {
    void* page = mmap(nullptr, 2 * kPage, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(page, MAP_FAILED);
    return static_cast<std::uint8_t*>(page);
  }
  int copy(const void* from, void* to, std::size_t bytes) {
    const iovec source{const_cast<void*>(from), bytes}, target{to, bytes};
    return GetParam()({&source, 1}, {&target, 1});
  }
};

std::vector<iovec> cut(std::uint8_t* base, std::size_t total, std::mt19937& random) {
  std::vector<iovec> pieces;
  for (std::size_t at = 0; at < total;) {
    const std::size_t length =
        std::min<std::size_t>(total - at, random() % 3 * (random() % 90'000));
    pieces.push_back({base + at, length});
    at += length;
  }
  return pieces;
}

TEST_P(OwnMemory, IsCopiedBetweenListsThatAreCutDifferently) {
  std::mt19937 random(3);
  for (const std::size_t total : {1, 64, 65, 4097, 65'536, 300'001}) {
    std::vector<std::uint8_t> from(total), to(total + 2, 0xee);
    for (std::uint8_t& byte : from) byte = static_cast<std::uint8_t>(random());
    ASSERT_EQ(GetParam()(cut(from.data(), total, random), cut(to.data() + 1, total, random)), 0);
    EXPECT_EQ(std::memcmp(from.data(), to.data() + 1, total), 0) << total;
    EXPECT_EQ(to.front(), 0xee);
    EXPECT_EQ(to.back(), 0xee);
  }
}

TEST_P(OwnMemory, ThatIsNotThereIsAnErrorAndTheNextCopyIsRightAgain) {
  std::uint8_t* gone = map(PROT_NONE);
  std::uint8_t* fixed = map(PROT_READ);
  std::vector<std::uint8_t> bytes(2 * kPage, 0x11);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(copy(gone, bytes.data(), 100), EFAULT);
    EXPECT_EQ(copy(bytes.data(), gone, 2 * kPage), EFAULT);
    EXPECT_EQ(copy(bytes.data(), fixed, 100), EFAULT) << "it may not be written";
    std::vector<std::uint8_t> to(2 * kPage, 0);
    ASSERT_EQ(copy(bytes.data(), to.data(), to.size()), 0);
    EXPECT_EQ(bytes, to);
  }
  munmap(gone, 2 * kPage);
  munmap(fixed, 2 * kPage);
}

TEST_P(OwnMemory, OfAParentAndItsChildDoesNotMix) {
  std::vector<std::uint8_t> from(1 << 20, 0x21), to(from.size());
  ASSERT_EQ(copy(from.data(), to.data(), 1), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(600);
    std::fill(from.begin(), from.end(), 0x42);
  }
  bool right = true;
  for (int i = 0; i < 50; ++i) {
    right = right && copy(from.data(), to.data(), to.size()) == 0 && from == to;
  }
  if (child == 0) _exit(right ? 0 : 1);
  EXPECT_TRUE(right);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(ByCallAndByPipe, OwnMemory, testing::Values(copy_own, copy_own_by_pipe));

TEST(OwnMemoryWithoutDescriptors, IsTouchedFirst) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(600);
    rlimit none{0, 0};
    if (setrlimit(RLIMIT_NOFILE, &none) != 0) _exit(2);
    std::vector<std::uint8_t> from(10'000, 0x33), to(from.size());
    const iovec source{from.data(), from.size()}, target{to.data(), to.size()};
    if (copy_own_by_pipe({&source, 1}, {&target, 1}) != 0 || from != to) _exit(3);
    void* gone = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const iovec nowhere{gone, 100}, little{to.data(), 100};
    _exit(copy_own_by_pipe({&little, 1}, {&nowhere, 1}) == EFAULT ? 0 : 4);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace gdr::memory
