// The staging of transfers: who stages, who waits for it, and how its pages are locked.
#include <set>

#include "transfer_fixture.h"

namespace gdr::local {
namespace {

TEST_F(TransferTest, StagesForTheClientOfTheGpuMemoryThatIsHere) {
  Transfer transfer;
  const PieceList gpu = list(from_, pinned_from_.get(), {}), host = list(to_, nullptr, {});
  ASSERT_TRUE(transfer.begin(gpu, elsewhere(to_, {}), {nullptr, kHeld}, kToken, means()));
  EXPECT_EQ(transfer.stages_for(), &client_);
  transfer.drain();
  ASSERT_TRUE(transfer.begin(elsewhere(to_, {}), gpu, {nullptr, kHeld}, kToken, means()));
  EXPECT_EQ(transfer.stages_for(), &client_);
  transfer.drain();
  ASSERT_TRUE(transfer.begin(gpu, host, {nullptr, kHeld}, kToken, means()));
  EXPECT_EQ(transfer.stages_for(), nullptr) << "nothing is staged";
  transfer.drain();
}

TEST_F(TransferTest, WaitsForStagingWhenAllOfItIsInUse) {
  std::vector<std::uint64_t> chunks;
  while (const auto chunk = staging_->take()) chunks.push_back(*chunk);
  EXPECT_EQ(chunks.size(), Staging::kChunks);
  Transfer transfer;
  const auto peer = self_as_peer();
  const PieceList from = list(from_, pinned_from_.get(), {}), to = elsewhere(to_, {});
  EXPECT_FALSE(transfer.begin(from, to, {peer.get(), kHeld}, kToken, means()));
  staging_->give_back(chunks.back());
  EXPECT_TRUE(transfer.begin(from, to, {peer.get(), kHeld}, kToken, means()));
  transfer.drain();
}

TEST_F(TransferTest, LocksEveryFreeChunkOfTheStagingAndGivesOutNoneMeanwhile) {
  const std::optional<std::uint64_t> taken = staging_->take();
  ASSERT_TRUE(taken);
  std::set<std::uint64_t> out;
  client_.while_locking = [&] {
    if (client_.locked.size() == 1) {
      EXPECT_FALSE(staging_->take());
    }
  };
  staging_->lock_pages(client_);
  std::set<void*> places;
  for (const auto& [place, bytes] : client_.locked) {
    EXPECT_EQ(bytes, Staging::kChunk);
    EXPECT_NE(place, staging_->at(*taken)) << "somebody is using it";
    EXPECT_TRUE(places.insert(place).second) << "locked twice";
  }
  EXPECT_EQ(places.size(), Staging::kChunks - 1);
  staging_->give_back(*taken);
  for (std::size_t i = 1; i < Staging::kChunks; ++i) {
    EXPECT_TRUE(out.insert(staging_->take().value_or(*taken)).second) << "given out twice";
  }
  EXPECT_FALSE(out.contains(*taken)) << "what is locked comes first";
  while (const std::optional<std::uint64_t> chunk = staging_->take()) {
    EXPECT_TRUE(out.insert(*chunk).second) << "given out twice";
  }
  EXPECT_EQ(out.size(), Staging::kChunks);
}

}  // namespace
}  // namespace gdr::local
