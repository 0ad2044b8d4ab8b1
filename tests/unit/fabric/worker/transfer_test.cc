#include "fabric/worker/transfer.h"

#include <gtest/gtest.h>

#include <set>

#include "fabric/worker/layout.h"

namespace gdr::fabric::worker {
namespace {

constexpr Transfer kOne{
    .run_seed = 5, .round = 3, .from = 1, .to = 2, .from_rail = 4, .to_rail = 6};

TEST(FabricTransfer, BothSidesDeriveTheSame) {
  Transfer other = kOne;
  EXPECT_EQ(data_seed(kOne), data_seed(other));
  EXPECT_EQ(packet_sequences(kOne).sender, packet_sequences(other).sender);
  EXPECT_EQ(packet_sequences(kOne).receiver, packet_sequences(other).receiver);
}

TEST(FabricTransfer, EveryPartOfItsNameCounts) {
  std::vector<Transfer> all(7, kOne);
  all[1].run_seed = 6;
  all[2].round = 4;
  all[3].from = 2;
  all[4].to = 1;
  all[5].from_rail = 6;
  all[6].to_rail = 4;
  std::set<std::uint64_t> seeds;
  std::set<std::uint32_t> sequences;
  for (const Transfer& transfer : all) {
    seeds.insert(data_seed(transfer));
    seeds.insert(stale_seed(transfer));
    sequences.insert(packet_sequences(transfer).sender);
    sequences.insert(packet_sequences(transfer).receiver);
  }
  EXPECT_EQ(seeds.size(), 2 * all.size());
  EXPECT_EQ(sequences.size(), 2 * all.size());
}

TEST(FabricTransfer, TheWayBackIsAnotherTransfer) {
  Transfer back = kOne;
  std::swap(back.from, back.to);
  std::swap(back.from_rail, back.to_rail);
  EXPECT_NE(data_seed(kOne), data_seed(back));
}

TEST(FabricTransfer, PacketSequenceNumbersHave24BitsAndDifferInSuccessiveRounds) {
  Transfer transfer = kOne;
  for (transfer.round = 0; transfer.round < 1000; ++transfer.round) {
    Transfer next = transfer;
    ++next.round;
    EXPECT_LE(packet_sequences(transfer).sender, 0xffffffu);
    EXPECT_LE(packet_sequences(transfer).receiver, 0xffffffu);
    EXPECT_NE(packet_sequences(transfer).sender, packet_sequences(next).sender);
  }
}

TEST(FabricLayout, AnAreaHoldsWhatIsProvedAndAMessage) {
  EXPECT_GE(area_bytes(4 << 20, 1 << 20), (4u << 20) + kProofOffset);
  EXPECT_GE(area_bytes(1, 1 << 20), 1u << 20);
  // The guard behind what is proved ends before outgoing begins.
  EXPECT_LE(kGuard + kProofOffset + (4 << 20) + kGuard, kGuard + area_bytes(4 << 20, 1) + kGuard);
}

}  // namespace
}  // namespace gdr::fabric::worker
