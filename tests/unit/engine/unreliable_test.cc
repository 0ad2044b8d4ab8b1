// UC: nobody answers; what is lost takes its message along.
#include "fixture.h"

namespace gdr::engine::test {
namespace {

class Uc : public Link {
 protected:
  Uc() : Link(wire::Transport::kUnreliableConnection) {}
};

// --- Requester

TEST_F(Uc, AWorkCompletesOnceItsPacketsHaveLeft) {
  post(work(WorkKind::kWrite, 2 * kMtu));
  post(work(WorkKind::kSend, 8));
  std::optional<Transmit> first = poll();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->packet.opcode, wire::make_opcode(settings.transport, Operation::kWriteFirst));
  EXPECT_EQ(poll()->packet.psn, 501u);
  // The bytes of what was given out may still be read: its index holds.
  EXPECT_TRUE(owner.completed.empty());
  std::optional<Transmit> third = poll();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->work, 1u);
  EXPECT_FALSE(third->packet.ack_request);
  EXPECT_FALSE(poll());
  EXPECT_TRUE(owner.completed.empty());
  connection().sent();
  EXPECT_EQ(owner.completed, Statuses(2, Status::kSuccess));
  EXPECT_EQ(connection().next_timeout(), kNever);
}

TEST_F(Uc, ATimerCompletesWhatNobodySaysHasLeft) {
  post(work(WorkKind::kSend, 8));
  EXPECT_EQ(psns(), (Psns{500}));
  EXPECT_TRUE(jump());
  EXPECT_EQ(owner.completed, Statuses{Status::kSuccess});
  EXPECT_EQ(connection().next_timeout(), kNever);
}

TEST_F(Uc, LocalWorkWaitsForThoseBeforeIt) {
  post(work(WorkKind::kSend, 8));
  post(work(WorkKind::kLocal, 0));
  post(work(WorkKind::kSend, 8));
  EXPECT_EQ(psns(), (Psns{500}));
  EXPECT_EQ(owner.locals, 0);
  connection().sent();
  EXPECT_EQ(owner.locals, 1);
  // Nobody may ask for what follows it now: a timer does.
  EXPECT_TRUE(jump());
  EXPECT_EQ(psns(), (Psns{501}));
  connection().sent();
  EXPECT_EQ(owner.completed, Statuses(3, Status::kSuccess));
}

TEST_F(Uc, LocalWorkThatHasToWaitIsTriedAgainByATimer) {
  owner.local_waits = true;
  post(work(WorkKind::kLocal, 0));
  post(work(WorkKind::kSend, 8));
  EXPECT_FALSE(poll());
  EXPECT_TRUE(jump());
  EXPECT_FALSE(poll());
  connection().sent();
  owner.local_waits = false;
  EXPECT_TRUE(jump());
  EXPECT_EQ(psns(), (Psns{500}));
  EXPECT_EQ(owner.completed, Statuses{Status::kSuccess});
}

TEST_F(Uc, AWorkThatTheLocalCheckRefusedEndsTheConnection) {
  Work wrong = work(WorkKind::kSend, 8);
  wrong.error = Status::kLocalProtectionError;
  post(work(WorkKind::kSend, 8));
  post(wrong);
  post(work(WorkKind::kSend, 8));
  EXPECT_EQ(psns(), (Psns{500}));
  connection().sent();
  EXPECT_EQ(owner.completed, (Statuses{Status::kSuccess, Status::kLocalProtectionError}));
  EXPECT_FALSE(poll());
}

TEST_F(Uc, AWorkWhoseMemoryIsGoneEndsAfterThoseBeforeIt) {
  post(work(WorkKind::kSend, 8));
  post(work(WorkKind::kSend, 8));
  poll();
  std::optional<Transmit> second = poll();
  ASSERT_TRUE(second);
  connection().payload_unavailable(*second, now);
  EXPECT_EQ(owner.completed, (Statuses{Status::kSuccess, Status::kLocalProtectionError}));
  EXPECT_FALSE(poll());
}

TEST_F(Uc, SendsNoReads) {
  post(work(WorkKind::kRead, 8));
  EXPECT_FALSE(poll());
  EXPECT_EQ(owner.completed, Statuses{Status::kLocalProtectionError});
}

// --- Responder

TEST_F(Uc, PlacesWhatItReceivesAndAnswersNothing) {
  owner.receives = {64};
  receive(write(Operation::kWriteFirst, 100, kMtu, kMtu + 8));
  receive(write(Operation::kWriteLast, 101, 8, 0));
  receive(with_payload(Operation::kSendOnly, 102, 16));
  EXPECT_EQ(owner.writes.size(), 2u);
  EXPECT_EQ(owner.received.size(), 1u);
  EXPECT_FALSE(poll());
}

TEST_F(Uc, DropsAMessageOfWhichAPacketIsLost) {
  owner.receives = {4096};
  receive(with_payload(Operation::kSendFirst, 100, kMtu));
  receive(with_payload(Operation::kSendMiddle, 102, kMtu));
  receive(with_payload(Operation::kSendLast, 103, 8));
  EXPECT_TRUE(owner.received.empty());
  EXPECT_EQ(owner.placed.size(), 1u);
  EXPECT_EQ(owner.events[Event::kDroppedMessage], 1);
  // Receive the next message: it begins again.
  receive(with_payload(Operation::kSendOnly, 104, 8));
  ASSERT_EQ(owner.received.size(), 1u);
  EXPECT_EQ(owner.received[0].bytes, 8u);
}

TEST_F(Uc, DropsAMessageWhoseEndIsLost) {
  owner.receives = {4096};
  receive(with_payload(Operation::kSendFirst, 100, kMtu));
  receive(with_payload(Operation::kSendOnly, 102, 8));
  EXPECT_EQ(owner.events[Event::kDroppedMessage], 1);
  EXPECT_EQ(owner.received.size(), 1u);
}

TEST_F(Uc, DropsASendWithoutAReceive) {
  receive(with_payload(Operation::kSendFirst, 100, kMtu));
  receive(with_payload(Operation::kSendLast, 101, 8));
  EXPECT_EQ(owner.events[Event::kDroppedNoReceive], 1);
  owner.receives = {64};
  receive(with_payload(Operation::kSendOnly, 102, 8));
  EXPECT_EQ(owner.received.size(), 1u);
}

TEST_F(Uc, DropsWhatAKeyDoesNotGrant) {
  wire::Packet wrong = write(Operation::kWriteOnly, 100, 8, 8);
  wrong.reth.rkey = 1;
  receive(wrong);
  EXPECT_EQ(owner.events[Event::kRemoteAccessRefused], 1);
  EXPECT_FALSE(owner.failure);
  EXPECT_FALSE(poll());
  receive(write(Operation::kWriteOnly, 101, 8, 8));
  EXPECT_EQ(owner.writes.size(), 1u);
}

TEST_F(Uc, AMessageLongerThanItsReceiveEndsTheReceivingSide) {
  owner.receives = {4};
  receive(with_payload(Operation::kSendOnly, 100, 8));
  ASSERT_EQ(owner.received.size(), 1u);
  EXPECT_EQ(owner.received[0].outcome, Placed::kTooLong);
  EXPECT_EQ(owner.failure, Fault::kRequest);
  EXPECT_FALSE(poll());
}

TEST_F(Uc, TellsOfMarkedPackets) {
  receive(write(Operation::kWriteOnly, 100, 8, 8), true);
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->packet.opcode, wire::kCongestionNotification);
}

}  // namespace
}  // namespace gdr::engine::test
