// XRC: a reliable connection whose requests each name a shared receive queue (annex A14).
#include "fixture.h"

namespace gdr::engine::test {
namespace {

class Xrc : public Link {
 protected:
  Xrc() : Link(wire::Transport::kExtendedReliable) {}
};

TEST_F(Xrc, EveryRequestPacketNamesTheQueue) {
  post(work(WorkKind::kSend, 2 * kMtu + 1));
  post(work(WorkKind::kRead, 8));
  post(work(WorkKind::kFetchAdd, 8));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 5u);
  for (const Transmit& transmit : sent) {
    EXPECT_EQ(transmit.packet.transport(), wire::Transport::kExtendedReliable);
    EXPECT_TRUE(transmit.packet.info->is(wire::kHasXrceth));
    EXPECT_EQ(transmit.packet.xrc_srq, kSrq);
  }
}

TEST_F(Xrc, AMessageTakesAReceiveOfTheQueueThatItNames) {
  owner.receives = {64};
  receive(with_payload(Operation::kSendOnly, 100, 16));
  EXPECT_EQ(owner.last_srq, kSrq);
  EXPECT_EQ(owner.received.size(), 1u);
  std::optional<Transmit> sent = poll();
  expect_ack(sent, 100, 1);
  EXPECT_EQ(sent->packet.transport(), wire::Transport::kExtendedReliable);
}

TEST_F(Xrc, KeysAreLookedForBesideTheQueueThatARequestNames) {
  receive(write(Operation::kWriteFirst, 100, kMtu, kMtu + 8, false));
  receive(write(Operation::kWriteLast, 101, 8, 0));
  receive(read(102, 8));
  EXPECT_EQ(owner.selected, (std::vector<std::uint32_t>{kSrq, kSrq}));
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->source, Source::kRegion);
  EXPECT_EQ(sent->packet.xrc_srq, kSrq);
}

TEST_F(Xrc, MemoryThatWentDuringAReadIsLookedForBesideItsOwnQueue) {
  receive(read(100, 8));
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  owner.selected.clear();
  connection().payload_unavailable(*sent, now);
  EXPECT_EQ(owner.selected, std::vector<std::uint32_t>{kSrq});
  expect_nak(poll(), 100, wire::NakCode::kRemoteOperationalError);
}

TEST_F(Xrc, ARequestThatNamesAQueueOutsideTheDomainIsInvalid) {
  wire::Packet given = write(Operation::kWriteOnly, 100, 8, 8);
  given.xrc_srq = kSrq + 1;
  receive(given);
  expect_nak(poll(), 100, wire::NakCode::kInvalidRequest);
  EXPECT_EQ(owner.failure, Fault::kRequest);
  EXPECT_TRUE(owner.writes.empty());
}

TEST_F(Xrc, AQueueThatIsGoneWhenItsReceiveIsWantedIsInvalid) {
  owner.receive_result = Placed::kRefused;
  receive(with_payload(Operation::kSendOnly, 100, 8));
  expect_nak(poll(), 100, wire::NakCode::kInvalidRequest);
}

TEST_F(Xrc, AMessageThatChangesItsQueueIsInvalid) {
  owner.receives = {4096};
  receive(with_payload(Operation::kSendFirst, 100, kMtu));
  wire::Packet last = with_payload(Operation::kSendLast, 101, 8);
  last.xrc_srq = kSrq + 1;
  receive(last);
  expect_nak(poll(), 101, wire::NakCode::kInvalidRequest);
}

TEST_F(Xrc, TakesItsOwnAcknowledgesOnly) {
  post(work(WorkKind::kSend, 8));
  drain();
  wire::Packet other = ack(500);
  other.opcode = wire::make_opcode(wire::Transport::kReliableConnection, Operation::kAcknowledge);
  other.info = wire::find_opcode(other.opcode);
  receive(other);
  EXPECT_TRUE(owner.completed.empty());
  receive(ack(500));
  EXPECT_EQ(owner.completed.size(), 1u);
}

}  // namespace
}  // namespace gdr::engine::test
