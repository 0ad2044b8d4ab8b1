// Transfers to memory that only its owner's service thread reaches: what becomes of what it was
// asked for.
#include "transfer_fixture.h"

namespace gdr::local {
namespace {

// A transfer to memory that its owner's service thread has to reach; nothing is asked of it before
// the first poll.
class ServedTransferTest : public TransferTest {
 protected:
  void SetUp() override {
    TransferTest::SetUp();
    peer_ = self_as_peer();
    PieceList to = elsewhere(to_, {});
    for (Piece& piece : to.pieces()) piece.where = Where::kServed;
    ASSERT_TRUE(
        transfer_.begin(list(from_, nullptr, {}), to, {peer_.get(), kHeld}, kToken, means()));
  }
  std::optional<Outcome> poll_for(Nanoseconds time) {
    std::optional<Outcome> outcome;
    for (const Nanoseconds end = now() + time; now() < end && !outcome; usleep(1000)) {
      outcome = transfer_.poll();
    }
    return outcome;
  }
  std::shared_ptr<peers::Peer> peer_;
  Transfer transfer_;
};

// What the other process's service thread was asked for and has not begun can be taken back; what
// it has begun is waited for.
TEST_F(ServedTransferTest, DrainingTakesBackWhatItsOwnerHasNotBegun) {
  EXPECT_FALSE(transfer_.poll());
  EXPECT_EQ(rnic::service_state(segment_->service_request(0).word.load()),
            rnic::ServiceState::kAsked);
  transfer_.drain();
  EXPECT_EQ(segment_->service_request(0).word.load(), 0u);
}

TEST_F(ServedTransferTest, TheDeathOfTheOwnerEndsWhatItWasAskedFor) {
  EXPECT_FALSE(transfer_.poll());
  other_end_.reset();
  peer_->check_alive();
  const std::optional<Outcome> outcome = poll_for(test::kLastResort);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, ESRCH);
}

// All places of the owner's table taken by others, who do not go on.
class FullTable : public ServedTransferTest {
 protected:
  void SetUp() override {
    ServedTransferTest::SetUp();
    for (std::uint32_t i = 0; i < rnic::kServiceRequests; ++i) {
      segment_->service_request(i).word.store(
          rnic::service_word(rnic::make_token(9, 9), rnic::ServiceState::kWriting));
    }
  }
};

TEST_F(FullTable, IsWaitedForNoLongerThanAnAnswer) {
  EXPECT_FALSE(poll_for(5 * kSecond));
  const std::optional<Outcome> outcome = poll_for(test::kLastResort);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, ETIMEDOUT);
}

TEST_F(FullTable, IsNotWaitedForOnceItsOwnerIsDead) {
  EXPECT_FALSE(poll_for(50 * kMillisecond));
  other_end_.reset();
  peer_->check_alive();
  const std::optional<Outcome> outcome = poll_for(test::kLastResort);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, ESRCH);
}

TEST_F(FullTable, LetsARequestInAsSoonAsAPlaceIsFree) {
  EXPECT_FALSE(poll_for(50 * kMillisecond));
  segment_->service_request(40).word.store(0);
  EXPECT_FALSE(poll_for(50 * kMillisecond));
  EXPECT_EQ(segment_->service_request(40).word.load(),
            rnic::service_word(kToken, rnic::ServiceState::kAsked));
  transfer_.drain();
}

// As its owner frees an answer that was not fetched for long.
TEST_F(ServedTransferTest, WhoseAnswerIsGoneFailsAndFreesNoPlaceOfAnothers) {
  EXPECT_FALSE(transfer_.poll());
  const std::uint64_t others =
      rnic::service_word(rnic::make_token(9, 9), rnic::ServiceState::kAsked);
  segment_->service_request(0).word.store(others);
  const std::optional<Outcome> outcome = poll_for(test::kLastResort);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error, EPROTO);
  EXPECT_EQ(segment_->service_request(0).word.load(), others);
}

}  // namespace
}  // namespace gdr::local
