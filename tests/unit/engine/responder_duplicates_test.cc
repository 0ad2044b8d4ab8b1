// The responder of a reliable connection and packets that it has had before.
#include "fixture.h"

namespace gdr::engine::test {
namespace {

TEST_F(RcResponder, AcknowledgesDuplicateWriteWithoutPlacingItAgain) {
  const wire::Packet given = write(Operation::kWriteOnly, 100, 16, 16);
  receive(given);
  expect_ack(poll(), 100, 1);
  receive(write(Operation::kWriteOnly, 101, 16, 16));
  expect_ack(poll(), 101, 2);
  owner.writes.clear();
  // Receive the first again: expect the newest PSN acknowledged, for that says all.
  receive(given);
  EXPECT_TRUE(owner.writes.empty());
  expect_ack(poll(), 101, 2);
  EXPECT_EQ(owner.events[Event::kDuplicateRequest], 1);
}

TEST_F(RcResponder, IgnoresWhatLiesBeforeTheFirstPacketOfTheConnection) {
  receive(write(Operation::kWriteOnly, 99, 16, 16));
  EXPECT_FALSE(poll());
  receive(write(Operation::kWriteOnly, 100, 16, 16));
  expect_ack(poll(), 100, 1);
  receive(write(Operation::kWriteOnly, 99, 16, 16));
  EXPECT_FALSE(poll());
  EXPECT_EQ(owner.events[Event::kImpossibleRequest], 2);
  EXPECT_EQ(owner.events[Event::kDuplicateRequest], 0);
}

TEST_F(RcResponder, AnAcknowledgeNeverNamesAReadOrAtomic) {
  const wire::Packet given = write(Operation::kWriteOnly, 100, 16, 16);
  receive(given);
  receive(read(101, 2 * kMtu));
  receive(atomic(Operation::kFetchAdd, 103, 5));
  (void)drain();
  // Receive the write again: were the responses lost, an ACK of 103 would pass for them.
  receive(given);
  expect_ack(poll(), 100, 3);
}

TEST_F(RcResponder, AcknowledgesADuplicateSendWithoutTakingAReceive) {
  owner.receives = {64, 64};
  const wire::Packet given = with_payload(Operation::kSendOnly, 100, 16);
  receive(given);
  receive(given);
  EXPECT_EQ(owner.received.size(), 1u);
  EXPECT_EQ(owner.receives.size(), 1u);
  expect_ack(poll(), 100, 1);
}

TEST_F(RcResponder, AnswersADuplicateReadAgain) {
  receive(read(100, 2 * kMtu));
  EXPECT_EQ(psns(), (std::vector<std::uint32_t>{100, 101}));
  receive(read(100, 2 * kMtu));
  EXPECT_EQ(psns(), (std::vector<std::uint32_t>{100, 101}));
}

TEST_F(RcResponder, AnswersAnyPartOfAReadAgainFromItsMiddleOn) {
  receive(read(100, 3 * kMtu + 1));
  EXPECT_EQ(psns().size(), 4u);
  receive(read(102, kMtu + 1, 2 * kMtu));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].packet.operation(), Operation::kReadResponseFirst);
  EXPECT_EQ(sent[0].packet.psn, 102u);
  EXPECT_EQ(sent[0].address, kBase + 2 * kMtu);
  EXPECT_EQ(sent[1].packet.operation(), Operation::kReadResponseLast);
  EXPECT_EQ(sent[1].payload_bytes, 1u);
}

TEST_F(RcResponder, ADuplicateOfAReadThatIsBeingAnsweredChangesNothing) {
  receive(read(100, 3 * kMtu));
  ASSERT_TRUE(poll());
  // Receive a probe for what is still to come, from a requester that waits for it.
  receive(read(101, 2 * kMtu, kMtu));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].packet.operation(), Operation::kReadResponseMiddle);
  EXPECT_EQ(sent[1].packet.operation(), Operation::kReadResponseLast);
}

TEST_F(RcResponder, DoesNotAnswerADuplicateReadOutsideOfTheOriginal) {
  receive(read(100, 2 * kMtu));
  drain();
  receive(read(101, 2 * kMtu, kMtu));  // beyond its end
  receive(read(101, kMtu, 0));         // not where this packet was
  wire::Packet other_key = read(101, kMtu, kMtu);
  other_key.reth.rkey = kKey + 1;
  receive(other_key);
  EXPECT_FALSE(poll());
}

TEST_F(RcResponder, ReplaysAnAtomicWithoutCarryingItOutAgain) {
  receive(atomic(Operation::kFetchAdd, 100, 5));
  receive(atomic(Operation::kFetchAdd, 101, 5));
  drain();
  receive(atomic(Operation::kFetchAdd, 101, 5));
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->packet.atomic_original, 5u);
  EXPECT_EQ(owner.atomics, 2);
}

TEST_F(RcResponder, KeepsAsManyAtomicsAsItHasResourcesFor) {
  for (std::uint32_t psn = 100; psn < 103; ++psn) {
    receive(atomic(Operation::kFetchAdd, psn, 1));
    drain();
  }
  receive(atomic(Operation::kFetchAdd, 100, 1));
  EXPECT_FALSE(poll());
  receive(atomic(Operation::kFetchAdd, 101, 1));
  EXPECT_TRUE(poll());
  EXPECT_EQ(owner.atomics, 3);
}

TEST_F(RcResponder, AStaleDuplicateReadMakesRoomForANewOne) {
  receive(read(100, 8));
  receive(read(101, 8));
  drain();
  // Receive a copy that the network kept back, and, before it is answered, the next request.
  receive(read(100, 8));
  receive(read(102, 8));
  EXPECT_EQ(psns(), (std::vector<std::uint32_t>{102}));
  EXPECT_FALSE(owner.failure);
}

}  // namespace
}  // namespace gdr::engine::test
