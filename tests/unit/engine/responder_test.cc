// The responder of a reliable connection: one packet in, and what comes out.
#include "fixture.h"

namespace gdr::engine::test {
namespace {

// --- Ready: nothing is open

TEST_F(RcResponder, PlacesAWriteAndAcknowledgesIt) {
  receive(write(Operation::kWriteOnly, 100, 100, 100));
  // Expect the bytes in place and one ACK.
  EXPECT_EQ(owner.writes, (std::vector<Placement>{{kBase, 100}}));
  EXPECT_EQ(std::memcmp(owner.region.data(), payloads.back().data(), 100), 0);
  expect_ack(poll(), 100, 1);
  EXPECT_FALSE(poll());
}

TEST_F(RcResponder, AcknowledgesOnlyWhenAsked) {
  receive(write(Operation::kWriteOnly, 100, 4, 4, false));
  EXPECT_FALSE(poll());
  EXPECT_EQ(owner.writes.size(), 1u);
}

TEST_F(RcResponder, AnswersAllThatCameSinceTheLastPollWithOneAcknowledge) {
  for (std::uint32_t psn = 100; psn < 110; ++psn) {
    receive(write(Operation::kWriteOnly, psn, 4, 4));
  }
  expect_ack(poll(), 109, 10);
  EXPECT_FALSE(poll());
}

TEST_F(RcResponder, PlacesASendAndCompletesItsReceive) {
  owner.receives = {1000};
  wire::Packet first = with_payload(Operation::kSendFirst, 100, kMtu, false);
  receive(first);
  receive(with_payload(Operation::kSendMiddle, 101, kMtu, false));
  EXPECT_TRUE(owner.received.empty());
  wire::Packet last = with_payload(Operation::kSendLastImmediate, 102, 10);
  last.immediate = 0xabcd;
  last.solicited = true;
  receive(last);
  EXPECT_EQ(owner.placed, (std::vector<Placement>{{0, kMtu}, {kMtu, kMtu}, {2 * kMtu, 10}}));
  ASSERT_EQ(owner.received.size(), 1u);
  const Received& received = owner.received[0];
  EXPECT_EQ(received.bytes, 2 * kMtu + 10);
  EXPECT_TRUE(received.has_immediate);
  EXPECT_TRUE(received.solicited);
  EXPECT_FALSE(received.is_write);
  EXPECT_EQ(received.immediate, 0xabcdu);
  expect_ack(poll(), 102, 1);
}

TEST_F(RcResponder, TakesAMessageOfNoBytes) {
  owner.receives = {0};
  receive(with_payload(Operation::kSendOnly, 100, 0));
  ASSERT_EQ(owner.received.size(), 1u);
  EXPECT_EQ(owner.received[0].bytes, 0u);
  // Receive a write of no bytes with a key that was never issued: no key is looked at (C9-88).
  wire::Packet empty = write(Operation::kWriteOnly, 101, 0, 0);
  empty.reth.rkey = 1234;
  receive(empty);
  expect_ack(poll(), 101, 2);
}

TEST_F(RcResponder, AWriteWithImmediateCompletesAReceiveWithItsLastPacket) {
  receive(write(Operation::kWriteFirst, 100, kMtu, kMtu + 8, false));
  owner.receives = {0};  // comes in time though it was not there for the first packet
  wire::Packet last = with_payload(Operation::kWriteLastImmediate, 101, 8);
  last.immediate = 5;
  receive(last);
  EXPECT_EQ(owner.writes, (std::vector<Placement>{{kBase, kMtu}, {kBase + kMtu, 8}}));
  ASSERT_EQ(owner.received.size(), 1u);
  EXPECT_TRUE(owner.received[0].is_write);
  EXPECT_EQ(owner.received[0].bytes, kMtu + 8);
  EXPECT_EQ(owner.received[0].immediate, 5u);
}

TEST_F(RcResponder, ASendWithInvalidateNamesAWindowOrIsRefused) {
  owner.receives = {64, 64};
  wire::Packet first = with_payload(Operation::kSendOnlyInvalidate, 100, 8);
  first.invalidate_key = kWindow;
  receive(first);
  ASSERT_EQ(owner.received.size(), 1u);
  EXPECT_TRUE(owner.received[0].has_invalidate);
  EXPECT_EQ(owner.received[0].immediate, kWindow);
  expect_ack(poll(), 100, 1);
  wire::Packet second = with_payload(Operation::kSendOnlyInvalidate, 101, 8);
  second.invalidate_key = kWindow + 1;
  receive(second);
  EXPECT_EQ(owner.received.size(), 1u);
  expect_nak(poll(), 101, wire::NakCode::kRemoteAccessError);
  EXPECT_EQ(owner.failure, Fault::kAccess);
}

// --- Reads and atomics

TEST_F(RcResponder, AnswersAReadWithAsManyPacketsAsItNeeds) {
  receive(read(100, 2 * kMtu + 5));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].packet.operation(), Operation::kReadResponseFirst);
  EXPECT_EQ(sent[1].packet.operation(), Operation::kReadResponseMiddle);
  EXPECT_EQ(sent[2].packet.operation(), Operation::kReadResponseLast);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sent[i].packet.psn, 100 + i);
    EXPECT_EQ(sent[i].source, Source::kRegion);
    EXPECT_EQ(sent[i].rkey, kKey);
    EXPECT_EQ(sent[i].address, kBase + i * kMtu);
  }
  EXPECT_EQ(sent[1].payload_bytes, kMtu);
  EXPECT_EQ(sent[2].payload_bytes, 5u);
  EXPECT_EQ(sent[2].packet.pad, 3u);
  EXPECT_EQ(sent[2].packet.aeth.msn, 1u);
  // The next request has the PSN behind the answer's last.
  receive(write(Operation::kWriteOnly, 103, 4, 4));
  expect_ack(poll(), 103, 2);
}

TEST_F(RcResponder, AnswersAReadOfNoBytesWithoutLookingAtItsKey) {
  wire::Packet request = read(100, 0);
  request.reth.rkey = 4321;
  receive(request);
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->packet.operation(), Operation::kReadResponseOnly);
  EXPECT_EQ(sent->source, Source::kNone);
}

TEST_F(RcResponder, KeepsAnAcknowledgeBehindTheReadBeforeIt) {
  receive(read(100, 2 * kMtu));
  receive(write(Operation::kWriteOnly, 102, 4, 4));
  EXPECT_EQ(psns(), (std::vector<std::uint32_t>{100, 101, 102}));
}

TEST_F(RcResponder, AReadsAnswerAcknowledgesWhatCameBeforeIt) {
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  receive(read(101, 8));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].packet.operation(), Operation::kReadResponseOnly);
  EXPECT_EQ(sent[0].packet.aeth.msn, 2u);
}

TEST_F(RcResponder, CarriesOutAnAtomicOnceAndReturnsTheValueBefore) {
  receive(atomic(Operation::kFetchAdd, 100, 5));
  receive(atomic(Operation::kCompareSwap, 101, 77, 5));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].packet.operation(), Operation::kAtomicAcknowledge);
  EXPECT_EQ(sent[0].packet.atomic_original, 0u);
  EXPECT_EQ(sent[1].packet.atomic_original, 5u);
  std::uint64_t value;
  std::memcpy(&value, owner.region.data(), 8);
  EXPECT_EQ(value, 77u);
}

TEST_F(RcResponder, RefusesMoreReadsAtATimeThanItHolds) {
  receive(read(100, 8));
  receive(read(101, 8));
  receive(read(102, 8));
  std::vector<Transmit> sent = drain();
  // Expect the two that it holds, then the NAK.
  ASSERT_EQ(sent.size(), 3u);
  expect_nak(sent[2], 102, wire::NakCode::kInvalidRequest);
  EXPECT_EQ(owner.failure, Fault::kRequest);
}

// --- Gaps

TEST_F(RcResponder, SendsOneSequenceNakForEachGap) {
  receive(write(Operation::kWriteOnly, 101, 4, 4));
  expect_nak(poll(), 100, wire::NakCode::kSequenceError);
  receive(write(Operation::kWriteOnly, 102, 4, 4));
  receive(write(Operation::kWriteOnly, 103, 4, 4));
  EXPECT_FALSE(poll());
  EXPECT_TRUE(owner.writes.empty());
  // Receive what was missing, then another gap.
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  expect_ack(poll(), 100, 1);
  receive(write(Operation::kWriteOnly, 102, 4, 4));
  expect_nak(poll(), 101, wire::NakCode::kSequenceError);
}

TEST_F(RcResponder, AsksAgainWhenTheRequesterWentBackAndLostThePacketAgain) {
  receive(write(Operation::kWriteOnly, 101, 4, 4));
  receive(write(Operation::kWriteOnly, 102, 4, 4));
  expect_nak(poll(), 100, wire::NakCode::kSequenceError);
  receive(write(Operation::kWriteOnly, 101, 4, 4));
  expect_nak(poll(), 100, wire::NakCode::kSequenceError);
}

TEST_F(RcResponder, TakesBackANakThatTheMissingPacketOvertook) {
  receive(write(Operation::kWriteOnly, 101, 4, 4));
  receive(write(Operation::kWriteOnly, 100, 4, 4, false));
  expect_ack(poll(), 100, 1);
}

// --- Receiver not ready

TEST_F(RcResponder, PlacesNothingWhileNoReceiveIsPosted) {
  settings.minimum_rnr_timer = 14;
  receive(with_payload(Operation::kSendOnly, 100, 16));
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  EXPECT_EQ(wire::acknowledge_of(sent->packet.aeth.syndrome), wire::Acknowledge::kRnrNak);
  EXPECT_EQ(wire::value_of(sent->packet.aeth.syndrome), 14);
  EXPECT_EQ(sent->packet.psn, 100u);
  // What follows is ignored; the packet itself is taken when it comes again.
  receive(write(Operation::kWriteOnly, 101, 4, 4));
  EXPECT_FALSE(poll());
  EXPECT_TRUE(owner.writes.empty());
  owner.receives = {64};
  receive(with_payload(Operation::kSendOnly, 100, 16));
  expect_ack(poll(), 100, 1);
}

TEST_F(RcResponder, AWriteWithImmediateThatFindsNoReceivePlacesNothingOfItsLastPacket) {
  receive(write(Operation::kWriteFirst, 100, kMtu, kMtu + 8, false));
  receive(with_payload(Operation::kWriteLastImmediate, 101, 8));
  EXPECT_EQ(owner.writes.size(), 1u);
  EXPECT_EQ(owner.events[Event::kRnrNakSent], 1);
  owner.receives = {0};
  receive(with_payload(Operation::kWriteLastImmediate, 101, 8));
  EXPECT_EQ(owner.writes.size(), 2u);
  expect_ack(poll(), 101, 1);
}

// --- End-to-end credits

TEST_F(RcResponder, PromisesAsManyReceivesAsWait) {
  owner.shared = false;
  owner.receives = {8, 8, 8, 8, 8, 8};
  receive(with_payload(Operation::kSendOnly, 100, 4));
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  // Five are left, and the table has no five: four.
  EXPECT_EQ(wire::value_of(sent->packet.aeth.syndrome), 4);
}

TEST_F(RcResponder, SaysWhenCreditsAreBackToWhoMayWaitForThem) {
  owner.shared = false;
  owner.receives = {8};
  receive(with_payload(Operation::kSendOnly, 100, 4));
  EXPECT_EQ(wire::value_of(poll()->packet.aeth.syndrome), 0);
  owner.receives = {8, 8};
  connection().receive_posted(now);
  std::optional<Transmit> sent = poll();
  expect_ack(sent, 100, 1);
  EXPECT_EQ(wire::value_of(sent->packet.aeth.syndrome), 2);
  // It has some now: expect no more of it.
  owner.receives.push_back(8);
  connection().receive_posted(now);
  EXPECT_FALSE(poll());
}

TEST_F(RcResponder, PromisesNothingOfReceivesThatAreShared) {
  owner.receives = {8};
  receive(with_payload(Operation::kSendOnly, 100, 4));
  EXPECT_EQ(wire::value_of(poll()->packet.aeth.syndrome), wire::kNoCredits);
  connection().receive_posted(now);
  EXPECT_FALSE(poll());
}

TEST_F(RcResponder, ALongReadDoesNotKeepItsOwnRequestsWaiting) {
  receive(read(100, 64 * kMtu));
  post(work(WorkKind::kWrite, 8));
  std::size_t answers = 0;
  std::optional<Transmit> sent = poll();
  for (; sent && !sent->packet.info->is(wire::kRequest); sent = poll()) ++answers;
  ASSERT_TRUE(sent);
  EXPECT_LE(answers, 16u);
  EXPECT_EQ(drain().size(), 64 - answers);
}

// --- Congestion

TEST_F(RcResponder, TellsOfMarkedPacketsEveryFiftyMicrosecondsAtMost) {
  receive(write(Operation::kWriteOnly, 100, 4, 4, false), true);
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->packet.opcode, wire::kCongestionNotification);
  EXPECT_TRUE(sent->packet.becn);
  EXPECT_EQ(sent->packet.destination_qp, kPeer);
  receive(write(Operation::kWriteOnly, 101, 4, 4, false), true);
  EXPECT_FALSE(poll());
  now += 49 * kMicrosecond;
  receive(write(Operation::kWriteOnly, 102, 4, 4, false), true);
  EXPECT_FALSE(poll());
  now += kMicrosecond;
  receive(write(Operation::kWriteOnly, 103, 4, 4, false), true);
  EXPECT_TRUE(poll());
}

// --- PSNs go round

TEST_F(RcResponder, GoesOnPastTheLastPsn) {
  settings.receive_psn = 0xffffff;
  receive(read(0xffffff, 2 * kMtu));
  EXPECT_EQ(psns(), (std::vector<std::uint32_t>{0xffffff, 0}));
  receive(write(Operation::kWriteOnly, 1, 4, 4));
  expect_ack(poll(), 1, 2);
  receive(read(0, kMtu, kMtu));
  EXPECT_EQ(psns(), (std::vector<std::uint32_t>{0}));
}

TEST_F(RcResponder, IgnoresPacketsOfAnotherTransport) {
  wire::Packet given = write(Operation::kWriteOnly, 100, 4, 4);
  given.opcode = wire::make_opcode(wire::Transport::kUnreliableConnection, Operation::kWriteOnly);
  given.info = wire::find_opcode(given.opcode);
  receive(given);
  EXPECT_TRUE(owner.writes.empty());
  EXPECT_EQ(owner.events[Event::kInvalidRequest], 1);
  EXPECT_FALSE(owner.failure);
}

}  // namespace
}  // namespace gdr::engine::test
