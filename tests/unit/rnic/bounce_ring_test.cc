#include "rnic/bounce_ring.h"

#include <sys/mman.h>

#include <cstring>
#include <random>
#include <vector>

#include "completion_queue_fixture.h"

namespace gdr::rnic {
namespace {

constexpr std::size_t kPage = 4096;

std::byte value_at(std::uint64_t message, std::size_t i) {
  return static_cast<std::byte>(message * 131 + i * 7 + (i >> 8));
}

class BounceRingTest : public CompletionQueueTest {
 protected:
  void SetUp() override {
    CompletionQueueTest::SetUp();
    target_.resize(2 * kBouncedBytes);
    RegionAttributes attributes{};
    attributes.protection_domain = domain_;
    attributes.iova = reinterpret_cast<std::uint64_t>(target_.data());
    attributes.length = target_.size();
    attributes.access = IBV_ACCESS_LOCAL_WRITE;
    key_ = *adapter_->register_memory(attributes.iova, attributes);
  }

  SharedCompletionQueue& shared() { return adapter_->segment().completion_queue(queue_->index()); }
  SharedCompletion message(std::uint64_t id, std::size_t bytes, std::uint32_t qp_number = 7) {
    SharedCompletion completion = entry(id, qp_number);
    completion.carried = static_cast<std::uint16_t>(bytes);
    completion.carried_to = reinterpret_cast<std::uint64_t>(target_.data());
    completion.carried_key = key_;
    return completion;
  }
  Push push_bytes(std::uint64_t id, std::span<const iovec> pieces, std::size_t bytes,
                  std::uint32_t qp_number = 7) {
    return push_completion(adapter_->segment(), queue_->index(), message(id, bytes, qp_number),
                           {.many = pieces}, false, kToken, liveness_);
  }
  Push push_pattern(std::uint64_t id, std::size_t bytes, std::uint32_t qp_number = 7) {
    std::vector<std::byte> source(bytes);
    for (std::size_t i = 0; i < bytes; ++i) source[i] = value_at(id, i);
    const iovec piece{source.data(), bytes};
    return push_bytes(id, {&piece, 1}, bytes, qp_number);
  }
  // Polls one completion; where its bytes first differ, or -1.
  std::int64_t polled_wrong(std::uint64_t id, std::size_t bytes) {
    std::memset(target_.data(), 0x5a, target_.size());
    SharedCompletion one[1];
    if (queue_->poll(one) != 1 || one[0].wr_id != id) return 0;
    for (std::size_t i = 0; i < target_.size(); ++i) {
      const std::byte wanted = i < bytes ? value_at(id, i) : std::byte{0x5a};
      if (target_[i] != wanted) return static_cast<std::int64_t>(i);
    }
    return -1;
  }

  std::vector<std::byte> target_;
  std::uint32_t key_ = 0;
};

TEST_F(BounceRingTest, GivesEveryByteOfPiecesOfAnyLengthRoundAfterRound) {
  queue_ = completion_queue(64);
  std::minstd_rand random(7);
  std::uint64_t sent = 0, seen = 0;
  std::vector<std::size_t> sizes;
  for (int round = 0; round < 300; ++round) {
    for (std::size_t n = random() % 12; n > 0; --n) {
      const std::size_t bytes = 257 + random() % (kBouncedBytes - 256);
      std::vector<std::byte> source(bytes);
      for (std::size_t i = 0; i < bytes; ++i) source[i] = value_at(sent, i);
      std::vector<iovec> pieces;
      for (std::size_t at = 0; at < bytes; at += pieces.back().iov_len) {
        const std::size_t most = pieces.size() < 5 ? 1 + random() % 50 : bytes;
        pieces.push_back({source.data() + at, std::min(most, bytes - at)});
      }
      ASSERT_EQ(push_bytes(sent, pieces, bytes), Push::kPushed);
      sizes.push_back(bytes);
      ++sent;
    }
    for (; seen < sent; ++seen) ASSERT_EQ(polled_wrong(seen, sizes[seen]), -1) << seen;
  }
}

TEST_F(BounceRingTest, ReadsNoByteBehindThoseOfItsSender) {
  auto* pages = static_cast<std::byte*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + kPage, kPage, PROT_NONE), 0);
  for (std::size_t bytes = 257; bytes < 300; ++bytes) {
    std::byte* source = pages + kPage - bytes;
    for (std::size_t i = 0; i < bytes; ++i) source[i] = value_at(bytes, i);
    const iovec piece{source, bytes};
    ASSERT_EQ(push_bytes(bytes, {&piece, 1}, bytes), Push::kPushed);
    EXPECT_EQ(polled_wrong(bytes, bytes), -1);
  }
  munmap(pages, 2 * kPage);
}

TEST_F(BounceRingTest, TakesNoMoreThanItHoldsUntilTheOldestIsPolled) {
  queue_ = completion_queue(64);
  constexpr std::size_t kBytes = 8000;
  std::uint64_t sent = 0;
  while (push_pattern(sent, kBytes) == Push::kPushed) ++sent;
  EXPECT_EQ(push_pattern(sent, kBytes), Push::kNoRoom);
  EXPECT_FALSE(may_bounce(shared(), kBytes));
  EXPECT_GE(sent, kBounceRingBytes / (kBytes + 32) - 1);
  EXPECT_LE(sent, kBounceRingBytes / kBytes);
  EXPECT_EQ(polled_wrong(0, kBytes), -1);
  EXPECT_TRUE(may_bounce(shared(), kBytes));
  EXPECT_EQ(push_pattern(sent, kBytes), Push::kPushed);
  for (std::uint64_t id = 1; id <= sent; ++id) ASSERT_EQ(polled_wrong(id, kBytes), -1) << id;
}

TEST_F(BounceRingTest, KeepsWhatStaysWhenAQueuePairIsPurged) {
  queue_ = completion_queue(64);
  for (std::uint64_t id = 0; id < 20; ++id) {
    ASSERT_EQ(push_pattern(id, 5000, id % 2 == 0 ? 7 : 8), Push::kPushed);
  }
  queue_->purge(7);
  for (std::uint64_t id = 1; id < 20; id += 2) EXPECT_EQ(polled_wrong(id, 5000), -1) << id;
}

TEST_F(BounceRingTest, HasAllItsRoomAgainOnceEverythingIsPurged) {
  queue_ = completion_queue(64);
  for (int round = 0; round < 5; ++round) {
    std::uint64_t sent = 0;
    while (push_pattern(sent, 8000) == Push::kPushed) ++sent;
    EXPECT_GE(sent, 30u) << round;
    queue_->purge(7);
  }
}

TEST_F(BounceRingTest, RefusesLongerMessages) {
  EXPECT_TRUE(may_bounce(shared(), kBouncedBytes));
  EXPECT_EQ(push_pattern(1, kBouncedBytes), Push::kPushed);
  EXPECT_EQ(polled_wrong(1, kBouncedBytes), -1);
  EXPECT_FALSE(may_bounce(shared(), kBouncedBytes + 1));
  EXPECT_EQ(push_pattern(2, kBouncedBytes + 1), Push::kNoRoom);
}

// Whoever may write into the segment may say anything of the ring.
TEST_F(BounceRingTest, StaysWithinItselfWhateverOthersSay) {
  const std::uint32_t nonsense[] = {0xffff'ffff, 0xffff'fff0, kBounceRingBytes - 1, 1, 0x8000'0001};
  for (const std::uint32_t at : nonsense) {
    shared().bounce_tail = at;
    shared().bounce_head = at;
    shared().known_bounce_head = at;
    EXPECT_EQ(push_pattern(at, 9000), Push::kPushed);
    EXPECT_EQ(polled_wrong(at, 9000), -1) << at;
  }
  EXPECT_TRUE(bounced(target_.data(), kBounceRingBytes - 10, 11).empty());
  EXPECT_TRUE(bounced(target_.data(), 0, kBouncedBytes + 1).empty());
  EXPECT_TRUE(bounced(nullptr, 0, 300).empty());
  const std::uint64_t ring = shared().bounce;
  shared().bounce = kSegmentBytes - 64;
  EXPECT_EQ(push_pattern(1, 9000), Push::kNoRoom);
  shared().bounce = ring;
}

}  // namespace
}  // namespace gdr::rnic
