// The requester of a reliable connection: work in, packets out.
#include "fixture.h"

namespace gdr::engine::test {
namespace {

class RcRequester : public Link {
 protected:
  std::deque<std::pair<Operation, std::uint32_t>> pending;  // answers on their way
};

// --- One message

TEST_F(RcRequester, CutsAMessageIntoPacketsOfThePathMtu) {
  Work given = work(WorkKind::kWriteImmediate, 2 * kMtu + 6);
  given.solicited = true;
  given.immediate = 9;
  post(given);
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].packet.operation(), Operation::kWriteFirst);
  EXPECT_EQ(sent[1].packet.operation(), Operation::kWriteMiddle);
  EXPECT_EQ(sent[2].packet.operation(), Operation::kWriteLastImmediate);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sent[i].packet.psn, 500 + i);
    EXPECT_EQ(sent[i].source, Source::kWork);
    EXPECT_EQ(sent[i].work, 0u);
    EXPECT_EQ(sent[i].offset, i * kMtu);
    EXPECT_FALSE(sent[i].retransmitted);
    // The solicited event bit and the request to acknowledge stand in the last packet only.
    EXPECT_EQ(sent[i].packet.solicited, i == 2);
    EXPECT_EQ(sent[i].packet.ack_request, i == 2);
  }
  EXPECT_EQ(sent[0].packet.reth.length, 2 * kMtu + 6);
  EXPECT_EQ(sent[0].packet.reth.rkey, kKey);
  EXPECT_EQ(sent[2].payload_bytes, 6u);
  EXPECT_EQ(sent[2].packet.pad, 2u);
  EXPECT_EQ(sent[2].packet.immediate, 9u);
}

TEST_F(RcRequester, AWriteWithoutImmediateIsNoEventThoughItWasPostedAsSolicited) {
  Work given = work(WorkKind::kWrite, 8);
  given.solicited = true;
  post(given);
  EXPECT_FALSE(drain().at(0).packet.solicited);
}

struct Kind {
  const char* name;
  WorkKind kind;
  Operation only, first, last;
};
// What ctest names the test after.
std::ostream& operator<<(std::ostream& to, const Kind& kind) { return to << kind.name; }

class RcRequesterSends : public Link, public testing::WithParamInterface<Kind> {};

TEST_P(RcRequesterSends, WithItsOwnOpcodes) {
  post(work(GetParam().kind, 4));
  post(work(GetParam().kind, kMtu + 1));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].packet.operation(), GetParam().only);
  EXPECT_EQ(sent[1].packet.operation(), GetParam().first);
  EXPECT_EQ(sent[2].packet.operation(), GetParam().last);
  EXPECT_EQ(sent[2].work, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    EachKind, RcRequesterSends,
    testing::Values(Kind{"Send", WorkKind::kSend, Operation::kSendOnly, Operation::kSendFirst,
                         Operation::kSendLast},
                    Kind{"SendImmediate", WorkKind::kSendImmediate, Operation::kSendOnlyImmediate,
                         Operation::kSendFirst, Operation::kSendLastImmediate},
                    Kind{"SendInvalidate", WorkKind::kSendInvalidate,
                         Operation::kSendOnlyInvalidate, Operation::kSendFirst,
                         Operation::kSendLastInvalidate},
                    Kind{"Write", WorkKind::kWrite, Operation::kWriteOnly, Operation::kWriteFirst,
                         Operation::kWriteLast},
                    Kind{"WriteImmediate", WorkKind::kWriteImmediate,
                         Operation::kWriteOnlyImmediate, Operation::kWriteFirst,
                         Operation::kWriteLastImmediate}));

TEST_F(RcRequester, SendsAMessageOfNoBytesAsOnePacket) {
  post(work(WorkKind::kSend, 0));
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->packet.operation(), Operation::kSendOnly);
  EXPECT_EQ(sent->source, Source::kNone);
  EXPECT_EQ(sent->payload_bytes, 0u);
  receive(ack(500));
  EXPECT_EQ(owner.completed, std::vector{Status::kSuccess});
}

TEST_F(RcRequester, AReadTakesAsManyPsnsAsItsAnswerHasPackets) {
  post(work(WorkKind::kRead, 2 * kMtu + 1));
  post(work(WorkKind::kSend, 4));
  EXPECT_EQ(psns(), (Psns{500, 503}));
}

TEST_F(RcRequester, AsksForAcknowledgementsOftenEnough) {
  sending.most_in_flight = 1 << 20;
  post(work(WorkKind::kWrite, 40 * kMtu));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 40u);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].packet.ack_request, i % 16 == 15 || i == 39) << i;
  }
}

TEST_F(RcRequester, AsksMoreOftenWhenItsWindowIsSmall) {
  sending.most_in_flight = 16 * 512;  // 8 packets to begin with
  post(work(WorkKind::kWrite, 40 * kMtu));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 8u);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].packet.ack_request, i % 2 == 1) << i;
  }
}

TEST_F(RcRequester, AsksForAnAcknowledgementWithTheLastPacketThatTheWindowTakes) {
  sending.most_in_flight = 20 * (kMtu + 256);
  post(work(WorkKind::kWrite, 400 * kMtu));
  std::vector<Transmit> sent = drain();
  ASSERT_FALSE(sent.empty());
  EXPECT_LT(sent.size(), 400u);
  EXPECT_TRUE(sent.back().packet.ack_request);
}

// --- Reads and atomics

TEST_F(RcRequester, PlacesAReadsAnswerAndCompletesIt) {
  post(work(WorkKind::kRead, kMtu + 4));
  drain();
  receive(response(Operation::kReadResponseFirst, 500, kMtu));
  EXPECT_TRUE(owner.completed.empty());
  receive(response(Operation::kReadResponseLast, 501, 4));
  EXPECT_EQ(owner.responses, (std::vector<Placement>{{0, kMtu}, {kMtu, 4}}));
  EXPECT_EQ(owner.completed, std::vector{Status::kSuccess});
  EXPECT_EQ(connection().next_timeout(), kNever);
}

TEST_F(RcRequester, ReturnsTheValueOfAnAtomic) {
  Work given = work(WorkKind::kCompareSwap, 8);
  given.compare_or_add = 3;
  given.swap = 4;
  post(given);
  std::optional<Transmit> sent = poll();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->packet.atomic.compare, 3u);
  EXPECT_EQ(sent->packet.atomic.swap_or_add, 4u);
  wire::Packet answer = response(Operation::kAtomicAcknowledge, 500, 0);
  answer.atomic_original = 0x1122334455667788;
  receive(answer);
  EXPECT_EQ(owner.atomic_result, 0x1122334455667788u);
  EXPECT_EQ(owner.completed, std::vector{Status::kSuccess});
}

TEST_F(RcRequester, HasNoMoreReadsAndAtomicsOutThanItsDepth) {
  sending.initiator_depth = 2;
  post(work(WorkKind::kRead, 8));
  post(work(WorkKind::kFetchAdd, 8));
  post(work(WorkKind::kRead, 8));
  post(work(WorkKind::kWrite, 8));
  EXPECT_EQ(psns(), (Psns{500, 501}));
  receive(response(Operation::kReadResponseOnly, 500, 8));
  EXPECT_EQ(psns(), (Psns{502, 503}));
}

TEST_F(RcRequester, AFencedRequestWaitsForTheReadsBeforeIt) {
  post(work(WorkKind::kRead, 8));
  Work fenced = work(WorkKind::kWrite, 8);
  fenced.fence = true;
  post(fenced);
  EXPECT_EQ(psns(), (Psns{500}));
  receive(response(Operation::kReadResponseOnly, 500, 8));
  EXPECT_EQ(psns(), (Psns{501}));
}

TEST_F(RcRequester, AsksForALongReadInPiecesThatFitTheWindow) {
  sending.most_in_flight = 32 * (kMtu + 256);
  constexpr std::uint32_t kPackets = 100;
  post(work(WorkKind::kRead, kPackets * kMtu));
  std::uint32_t asked = 0, answered = 0, most = 0;
  while (owner.completed.empty()) {
    for (const Transmit& sent : drain()) {
      EXPECT_EQ(sent.packet.psn, 500 + asked);
      EXPECT_EQ(sent.packet.reth.address, kBase + asked * kMtu);
      const std::uint32_t packets = sent.packet.reth.length / kMtu;
      for (std::uint32_t i = 0; i < packets; ++i) {
        const Operation operation = packets == 1 ? Operation::kReadResponseOnly
                                    : i == 0     ? Operation::kReadResponseFirst
                                                 : (i + 1 == packets ? Operation::kReadResponseLast
                                                                     : Operation::kReadResponseMiddle);
        pending.push_back({operation, 500 + asked + i});
      }
      asked += packets;
      most = std::max(most, asked - answered);
    }
    ASSERT_FALSE(pending.empty());
    receive(response(pending.front().first, pending.front().second, kMtu));
    pending.pop_front();
    ++answered;
  }
  EXPECT_EQ(asked, kPackets);
  EXPECT_LE(most, 32u);
  EXPECT_EQ(owner.responses.back(), (Placement{(kPackets - 1) * kMtu, kMtu}));
  EXPECT_EQ(owner.completed, std::vector{Status::kSuccess});
}

// --- Order and local work

TEST_F(RcRequester, CarriesOutLocalWorkOnceEverythingBeforeItHasCompleted) {
  post(work(WorkKind::kWrite, 8));
  post(work(WorkKind::kLocal, 0));
  post(work(WorkKind::kWrite, 8));
  EXPECT_EQ(psns(), (Psns{500}));
  EXPECT_EQ(owner.locals, 0);
  receive(ack(500));
  EXPECT_EQ(psns(), (Psns{501}));
  EXPECT_EQ(owner.locals, 1);
  EXPECT_EQ(owner.completed, (std::vector{Status::kSuccess, Status::kSuccess}));
}

TEST_F(RcRequester, LocalWorkThatHasToWaitIsTriedAgainByATimer) {
  owner.local_waits = true;
  post(work(WorkKind::kLocal, 0));
  post(work(WorkKind::kWrite, 8));
  EXPECT_FALSE(poll());
  EXPECT_TRUE(jump());
  EXPECT_FALSE(poll());
  EXPECT_EQ(owner.locals, 2);
  EXPECT_TRUE(owner.completed.empty());
  // Receive requests of the other side meanwhile: they are answered.
  receive(with_payload(Operation::kSendOnly, 100, 8));
  owner.local_waits = false;
  EXPECT_TRUE(jump());
  EXPECT_EQ(psns().back(), 500u);
  EXPECT_EQ(owner.completed, std::vector{Status::kSuccess});
}

TEST_F(RcRequester, AWorkThatTheLocalCheckRefusedEndsAfterThoseBeforeIt) {
  post(work(WorkKind::kWrite, 8));
  Work wrong = work(WorkKind::kWrite, 8);
  wrong.error = Status::kLocalProtectionError;
  post(wrong);
  post(work(WorkKind::kWrite, 8));
  EXPECT_EQ(psns(), (Psns{500}));
  receive(ack(500));
  EXPECT_FALSE(poll());
  EXPECT_EQ(owner.completed, (std::vector{Status::kSuccess, Status::kLocalProtectionError}));
}

TEST_F(RcRequester, AWorkWhoseMemoryIsGoneEndsAfterThoseBeforeIt) {
  post(work(WorkKind::kWrite, 8));
  post(work(WorkKind::kWrite, 8));
  ASSERT_TRUE(poll());
  std::optional<Transmit> second = poll();
  ASSERT_TRUE(second);
  connection().payload_unavailable(*second, now);
  EXPECT_TRUE(owner.completed.empty());
  receive(ack(500));
  EXPECT_EQ(owner.completed, (std::vector{Status::kSuccess, Status::kLocalProtectionError}));
  EXPECT_FALSE(poll());
}

TEST_F(RcRequester, ARepetitionWhoseMemoryIsGoneDoesNotMatterOnceTheFirstHasArrived) {
  post(work(WorkKind::kWrite, 8));
  post(work(WorkKind::kWrite, 8));
  post(work(WorkKind::kWrite, 8));
  drain();
  receive(nak(500, wire::NakCode::kSequenceError));
  ASSERT_TRUE(poll());
  std::optional<Transmit> again = poll();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->retransmitted);
  connection().payload_unavailable(*again, now);
  EXPECT_FALSE(poll());
  receive(ack(501));
  EXPECT_EQ(owner.completed, (std::vector{Status::kSuccess, Status::kSuccess}));
  EXPECT_EQ(psns(), (Psns{502}));
}

TEST_F(RcRequester, AMessageOfMoreThanTwoGigabytesIsALocalLengthError) {
  post(work(WorkKind::kWrite, (1ull << 31) + 1));
  EXPECT_FALSE(poll());
  EXPECT_EQ(owner.completed, std::vector{Status::kLocalLengthError});
}

// --- PSNs

TEST_F(RcRequester, GoesOnPastTheLastPsn) {
  sending.first_psn = 0xfffffe;
  post(work(WorkKind::kWrite, 4 * kMtu));
  EXPECT_EQ(psns(), (Psns{0xfffffe, 0xffffff, 0, 1}));
  receive(ack(0));
  post(work(WorkKind::kWrite, 8));
  EXPECT_EQ(psns(), (Psns{2}));
  receive(ack(2));
  EXPECT_EQ(owner.completed, (std::vector{Status::kSuccess, Status::kSuccess}));
}

// --- End-to-end credits

class RcRequesterCredits : public RcRequester {
 protected:
  void post_sends(int n) {
    for (int i = 0; i < n; ++i) post(work(WorkKind::kSend, 8));
  }
};

TEST_F(RcRequesterCredits, SendsNoMoreMessagesThanWerePromised) {
  post_sends(1);
  EXPECT_EQ(psns(), (Psns{500}));
  receive(ack(500, 2, 1));  // one done, two more receives
  post_sends(5);
  EXPECT_EQ(psns(), (Psns{501, 502}));
  receive(ack(502, 1, 3));
  EXPECT_EQ(psns(), (Psns{503}));
}

TEST_F(RcRequesterCredits, WithoutAnySendsOnePacketAtATime) {
  post_sends(1);
  drain();
  receive(ack(500, 0, 1));
  post(work(WorkKind::kSend, 3 * kMtu));
  post_sends(1);
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].packet.ack_request);
  EXPECT_EQ(sent[0].packet.psn, 501u);
  // Receive its acknowledgement, still without credits: it has got a receive, so expect the rest
  // of this message, and then one packet of the next once that is acknowledged.
  receive(ack(501, 0, 1));
  EXPECT_EQ(psns(), (Psns{502, 503}));
  receive(ack(503, 0, 2));
  EXPECT_EQ(psns(), (Psns{504}));
}

TEST_F(RcRequesterCredits, WritesNeedNone) {
  post_sends(1);
  drain();
  receive(ack(500, 0, 1));
  post(work(WorkKind::kWrite, 8));
  post(work(WorkKind::kRead, 8));
  EXPECT_EQ(psns(), (Psns{501, 502}));
}

TEST_F(RcRequesterCredits, AnUnsolicitedAcknowledgeBringsNewOnes) {
  post_sends(1);
  drain();
  receive(ack(500, 1, 1));
  post_sends(3);
  EXPECT_EQ(psns(), (Psns{501}));
  receive(ack(501, 0, 2));
  EXPECT_EQ(psns(), (Psns{502}));
  receive(ack(502, 0, 3));
  receive(ack(502, 4, 3));
  post_sends(2);
  EXPECT_EQ(psns(), (Psns{503, 504, 505}));
}

TEST_F(RcRequesterCredits, AnAcknowledgeOfTheSendBeforeAReadBringsNewOnes) {
  post_sends(1);
  drain();
  receive(ack(500, 0, 1));
  post(work(WorkKind::kRead, 8));
  post_sends(3);
  EXPECT_EQ(psns(), (Psns{501}));
  wire::Packet given = response(Operation::kReadResponseOnly, 501, 8);
  given.aeth = {wire::make_syndrome(wire::Acknowledge::kAck, 0), 2};
  receive(given);
  EXPECT_EQ(psns(), (Psns{502}));  // one goes without
  receive(ack(500, 8, 2));
  EXPECT_EQ(psns(), (Psns{503, 504}));
}

TEST_F(RcRequesterCredits, AnOldAcknowledgeTakesNoneBack) {
  post_sends(1);
  drain();
  receive(ack(500, 4, 1));
  receive(ack(500, 0, 1));
  post_sends(4);
  EXPECT_EQ(psns().size(), 4u);
}

TEST_F(RcRequesterCredits, APeerThatGivesNoneIsNotWaitedFor) {
  post_sends(1);
  drain();
  receive(ack(500, wire::kNoCredits, 1));
  post_sends(8);
  EXPECT_EQ(psns().size(), 8u);
}

}  // namespace
}  // namespace gdr::engine::test
