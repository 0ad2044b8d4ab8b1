#include "rnic/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

namespace gdr::rnic {
namespace {

constexpr Token kToken = make_token(9, 1234);

std::unique_ptr<Segment> make() {
  auto segment = Segment::create(kToken, *parse_devices("soft0,soft1"));
  EXPECT_TRUE(segment) << segment.error().message;
  return *std::move(segment);
}

UniqueFd duplicate(const Segment& segment) {
  return UniqueFd(fcntl(segment.descriptor(), F_DUPFD_CLOEXEC, 0));
}

// A memfd with a segment's header in it, and as many bytes and seals as asked for.
UniqueFd forgery(std::uint64_t bytes, int seals, std::uint64_t magic = kSegmentMagic,
                 std::uint32_t layout = kSegmentLayout) {
  UniqueFd descriptor(memfd_create("forgery", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(descriptor.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(pwrite(descriptor.get(), &magic, sizeof magic, 0), ssize_t{sizeof magic});
  EXPECT_EQ(pwrite(descriptor.get(), &layout, sizeof layout, 8), ssize_t{sizeof layout});
  EXPECT_EQ(fcntl(descriptor.get(), F_ADD_SEALS, seals), 0);
  return descriptor;
}

constexpr int kAllSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

TEST(Segment, CannotBeTruncatedByWhoeverHoldsItsDescriptor) {
  const auto segment = make();
  EXPECT_NE(ftruncate(segment->descriptor(), 4096), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(ftruncate(segment->descriptor(), kSegmentBytes + 4096), 0);
  EXPECT_NE(fcntl(segment->descriptor(), F_ADD_SEALS, F_SEAL_WRITE), 0);
}

TEST(Segment, IsClosedOnExec) {
  const auto segment = make();
  EXPECT_NE(fcntl(segment->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Segment, ShowsItsTokenAndDevicesToWhoeverMapsIt) {
  const auto segment = make();
  auto mapped = Segment::map(duplicate(*segment));
  ASSERT_TRUE(mapped) << mapped.error().message;
  SegmentHeader& header = (*mapped)->header();
  EXPECT_EQ(header.token, kToken);
  EXPECT_EQ(header.device_count, 2u);
  EXPECT_STREQ(header.devices[1].name, "soft1");
  segment->queue_pair(5).qkey = 0xabcd;
  EXPECT_EQ((*mapped)->queue_pair(5).qkey.load(), 0xabcdu);
}

TEST(Segment, IsRefusedWhenItIsNotOne) {
  const auto refused = [](UniqueFd descriptor) {
    auto mapped = Segment::map(std::move(descriptor));
    return !mapped && mapped.error().code == EPROTO;
  };
  EXPECT_TRUE(Segment::map(forgery(kSegmentBytes, kAllSeals)));  // the forgery itself is good
  EXPECT_TRUE(refused(forgery(kSegmentBytes - 4096, kAllSeals)));
  EXPECT_TRUE(refused(forgery(kSegmentBytes + 4096, kAllSeals)));
  EXPECT_TRUE(refused(forgery(kSegmentBytes, 0)));
  EXPECT_TRUE(refused(forgery(kSegmentBytes, F_SEAL_GROW | F_SEAL_SEAL)));
  EXPECT_TRUE(refused(forgery(kSegmentBytes, F_SEAL_SHRINK | F_SEAL_SEAL)));
  EXPECT_TRUE(refused(forgery(kSegmentBytes, kAllSeals, kSegmentMagic + 1)));
  EXPECT_TRUE(refused(forgery(kSegmentBytes, kAllSeals, kSegmentMagic, kSegmentLayout + 1)));
  EXPECT_FALSE(Segment::map(forgery(kSegmentBytes, kAllSeals | F_SEAL_WRITE)));
  EXPECT_TRUE(refused(UniqueFd(open("/dev/null", O_RDWR))));
  EXPECT_FALSE(Segment::map(UniqueFd(-1)));
}

TEST(Segment, MasksEveryIndexIntoItsTable) {
  const auto segment = make();
  EXPECT_EQ(&segment->queue_pair(kQueuePairs + 3), &segment->queue_pair(3));
  EXPECT_EQ(&segment->completion_queue(~0u), &segment->completion_queue(kCompletionQueues - 1));
  EXPECT_EQ(&segment->region(kRegions), &segment->region(0));
  EXPECT_EQ(&segment->flow(kFlows + 1), &segment->flow(1));
  EXPECT_EQ(&segment->service_request(kServiceRequests), &segment->service_request(0));
}

TEST(Segment, GivesNoBytesOutsideItsArena) {
  const auto segment = make();
  EXPECT_NE(segment->arena(kArenaAt, kArenaBytes), nullptr);
  EXPECT_EQ(segment->arena(kArenaAt, kArenaBytes + 1), nullptr);
  EXPECT_EQ(segment->arena(kArenaAt - 64, 1), nullptr);
  EXPECT_EQ(segment->arena(kArenaAt + 1, 1), nullptr);  // not on a cache line
  EXPECT_EQ(segment->arena(kSegmentBytes, 1), nullptr);
  EXPECT_EQ(segment->arena(kSegmentBytes + 64, 0), nullptr);
  EXPECT_EQ(segment->arena(~std::uint64_t{63}, 128), nullptr);
  EXPECT_EQ(segment->arena(kArenaAt, ~std::uint64_t{0}), nullptr);
}

TEST(Segment, AllocatesTheFirstPlaceThatFits) {
  const auto segment = make();
  const std::uint64_t a = *segment->allocate(1), b = *segment->allocate(8192),
                      c = *segment->allocate(4096);
  EXPECT_EQ(a, kArenaAt);
  EXPECT_EQ(b, a + 4096);
  EXPECT_EQ(c, b + 8192);
  segment->free(b);
  EXPECT_EQ(*segment->allocate(8193), c + 4096);  // does not fit into the gap
  EXPECT_EQ(*segment->allocate(4096), b);
  EXPECT_EQ(*segment->allocate(4096), b + 4096);
}

TEST(Segment, RefusesWhatDoesNotFitAndGoesOn) {
  const auto segment = make();
  EXPECT_EQ(segment->allocate(kArenaBytes + 1).error().code, ENOMEM);
  EXPECT_EQ(segment->allocate(~std::uint64_t{0}).error().code, ENOMEM);
  const std::uint64_t most = *segment->allocate(kArenaBytes - 4096);
  EXPECT_TRUE(segment->allocate(4096));
  EXPECT_EQ(segment->allocate(1).error().code, ENOMEM);
  segment->free(most);
  segment->free(most);  // twice does nothing
  EXPECT_TRUE(segment->allocate(kArenaBytes - 4096));
}

std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Segment, TakesLittleAddressSpaceUntilItsArenaIsUsed) {
  const std::uint64_t before = mapped_bytes();
  const auto segment = make();
  const auto peers = *Segment::map(duplicate(*segment));
  EXPECT_LT(mapped_bytes(), before + 256 * kMiB);
  ASSERT_TRUE(segment->allocate(300 * kMiB));
  EXPECT_GE(mapped_bytes(), before + 300 * kMiB);
}

TEST(Segment, ShowsTheSameBytesWhereverTheyLieInItsArena) {
  const auto segment = make();
  auto peers = *Segment::map(duplicate(*segment));
  std::uint8_t mark = 0;
  for (const std::uint64_t bytes : {1 * kMiB, 60 * kMiB, 10 * kMiB, 500 * kMiB, 3000 * kMiB}) {
    const std::uint64_t at = *segment->allocate(bytes), last = at + bytes - 64;
    auto* own = static_cast<std::uint8_t*>(segment->arena(at, bytes));
    ASSERT_NE(own, nullptr);
    own[0] = ++mark;
    own[bytes - 1] = mark;
    EXPECT_EQ(segment->arena(at, bytes), own);
    // By whatever part of the range is asked for, here and in another mapping.
    for (Segment* seen : {segment.get(), peers.get()}) {
      EXPECT_EQ(*static_cast<std::uint8_t*>(seen->arena(at, 64)), mark);
      EXPECT_EQ(static_cast<std::uint8_t*>(seen->arena(at, bytes))[bytes - 1], mark);
      EXPECT_EQ(static_cast<std::uint8_t*>(seen->arena(last, 64))[63], mark);
    }
    EXPECT_EQ(segment->arena(at, bytes), own) << "and does not move";
  }
}

// In a process of its own, whose limit it is.
[[noreturn]] void allocate_beyond_the_limit() {
  const auto segment = *Segment::create(kToken, *parse_devices("soft0"));
  const rlim_t limit = mapped_bytes() + 100 * kMiB;
  const rlimit limits{limit, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limits) != 0) _exit(1);
  const auto refused = segment->allocate(200 * kMiB);
  if (refused || refused.error().code != ENOMEM) _exit(2);
  if (!segment->allocate(10 * kMiB)) _exit(3);
  if (segment->arena(kArenaAt + 200 * kMiB, 64) != nullptr) _exit(4);
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &none) != 0) _exit(5);
  const auto allowed = segment->allocate(200 * kMiB);
  _exit(allowed && segment->arena(*allowed, 200 * kMiB) != nullptr ? 0 : 6);
}
TEST(Segment, RefusesWhatItMayNotMapAndGoesOn) {
  EXPECT_EXIT(allocate_beyond_the_limit(), testing::ExitedWithCode(0), "");
}

TEST(Segment, FreedPagesAreZeroAndGivenBack) {
  const auto segment = make();
  constexpr std::uint64_t kBytes = 1 << 20;
  const std::uint64_t at = *segment->allocate(kBytes);
  auto* bytes = static_cast<std::uint8_t*>(segment->arena(at, kBytes));
  std::memset(bytes, 0xff, kBytes);
  const auto blocks = [&] {
    struct stat status {};
    fstat(segment->descriptor(), &status);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  };
  const std::uint64_t used = blocks();
  segment->free(at);
  EXPECT_LE(blocks() + kBytes, used);
  ASSERT_EQ(*segment->allocate(kBytes), at);
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(bytes[kBytes - 1], 0);
}

}  // namespace
}  // namespace gdr::rnic
