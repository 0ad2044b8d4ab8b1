// What a requester does with answers, and with their absence.
#include "fixture.h"

namespace gdr::engine::test {
namespace {

// --- Acknowledgements

TEST_F(RcCompleter, AnAcknowledgeAnswersEverythingBeforeIt) {
  post_writes(4);
  drain();
  receive(ack(502));
  EXPECT_EQ(owner.completed, Statuses(3, kGood));
  receive(ack(503));
  EXPECT_EQ(owner.completed, Statuses(4, kGood));
  EXPECT_EQ(connection().next_timeout(), kNever);
}

TEST_F(RcCompleter, AnAcknowledgeInsideAMessageCompletesNothing) {
  post_writes(1, 3 * kMtu);
  drain();
  receive(ack(501));
  EXPECT_TRUE(owner.completed.empty());
  receive(ack(502));
  EXPECT_EQ(owner.completed, Statuses{kGood});
}

TEST_F(RcCompleter, DuplicateAcknowledgesAreHarmless) {
  post_writes(2);
  drain();
  receive(ack(500));
  receive(ack(500));
  receive(ack(499));
  EXPECT_EQ(owner.completed, Statuses{kGood});
  EXPECT_FALSE(poll());
  EXPECT_EQ(count(Event::kUnexpectedResponse), 0);
}

TEST_F(RcCompleter, IgnoresAndCountsAcknowledgesOfWhatWasNeverSent) {
  post_writes(1);
  drain();
  receive(ack(501));
  receive(nak(700, wire::NakCode::kSequenceError));
  receive(rnr(501));
  receive(nak(501, wire::NakCode::kRemoteAccessError));
  EXPECT_TRUE(owner.completed.empty());
  EXPECT_FALSE(poll());
  EXPECT_EQ(count(Event::kUnexpectedResponse), 4);
  receive(ack(500));
  EXPECT_EQ(owner.completed, Statuses{kGood});
}

TEST_F(RcCompleter, CountsAcknowledgesOfWhatLiesBeforeTheFirstPacketAsUnexpected) {
  post_writes(1);
  drain();
  receive(ack(498));
  receive(response(Operation::kReadResponseOnly, 499, 8));
  EXPECT_EQ(count(Event::kUnexpectedResponse), 2);
  EXPECT_TRUE(owner.completed.empty());
}

TEST_F(RcCompleter, IgnoresResponsesToWhatIsNoRead) {
  post_writes(2);
  drain();
  receive(response(Operation::kReadResponseOnly, 500, 8));
  receive(response(Operation::kReadResponseOnly, 501, 8));
  EXPECT_TRUE(owner.completed.empty());
  EXPECT_TRUE(owner.responses.empty());
  EXPECT_EQ(count(Event::kUnexpectedResponse), 2);
}

TEST_F(RcCompleter, IgnoresAnswersWhenNothingIsOutstanding) {
  receive(ack(0x7fffff));
  receive(ack(500));
  receive(response(Operation::kReadResponseOnly, 500, 8));
  receive(response(Operation::kAtomicAcknowledge, 499, 0));
  EXPECT_TRUE(owner.completed.empty());
}

TEST_F(RcCompleter, AResponseAcknowledgesWhatIsBeforeIt) {
  post_writes(2);
  post(work(WorkKind::kRead, 8));
  drain();
  receive(response(Operation::kReadResponseOnly, 502, 8));
  EXPECT_EQ(owner.completed, Statuses(3, kGood));
}

// --- Gaps

TEST_F(RcCompleter, GoesBackToWhatASequenceNakAsksFor) {
  post_writes(4);
  drain();
  receive(nak(501, wire::NakCode::kSequenceError));
  EXPECT_EQ(owner.completed, Statuses{kGood});  // what is before it has arrived
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].packet.psn, 501u);
  EXPECT_EQ(sent[0].work, 0u);
  EXPECT_TRUE(sent[0].retransmitted);
  EXPECT_EQ(count(Event::kRetransmittedPacket), 3);
  receive(ack(503));
  EXPECT_EQ(owner.completed, Statuses(4, kGood));
}

TEST_F(RcCompleter, GoesBackIntoTheMiddleOfAMessage) {
  post_writes(1, 4 * kMtu);
  drain();
  receive(nak(502, wire::NakCode::kSequenceError));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].packet.operation(), Operation::kWriteMiddle);
  EXPECT_EQ(sent[0].offset, 2 * kMtu);
  EXPECT_EQ(sent[1].packet.operation(), Operation::kWriteLast);
}

TEST_F(RcCompleter, ACopyOfANakIsObeyedOnce) {
  post_writes(1);
  drain();
  now += 100 * kMicrosecond;
  receive(ack(500));  // it knows the round trip now
  post_writes(3);
  drain();
  receive(nak(502, wire::NakCode::kSequenceError));
  EXPECT_EQ(psns(), (Psns{502, 503}));
  receive(nak(502, wire::NakCode::kSequenceError));
  EXPECT_FALSE(poll());
  // A round trip later it means that the packet was lost once more.
  now += 100 * kMicrosecond;
  receive(nak(502, wire::NakCode::kSequenceError));
  EXPECT_EQ(psns(), (Psns{502, 503}));
}

TEST_F(RcCompleter, AnAcknowledgeBeyondAnUnansweredReadMeansThatItsAnswerWasLost) {
  post(work(WorkKind::kRead, 8));
  post_writes(2);
  drain();
  receive(ack(502));
  EXPECT_TRUE(owner.completed.empty());
  // Expect the read alone: what is behind it has arrived.
  EXPECT_EQ(psns(), (Psns{500}));
  receive(response(Operation::kReadResponseOnly, 500, 8));
  EXPECT_EQ(owner.completed, Statuses(3, kGood));
}

TEST_F(RcCompleter, AsksForTheRestOfAReadFromTheFirstMissingResponseOn) {
  post(work(WorkKind::kRead, 4 * kMtu));
  drain();
  receive(response(Operation::kReadResponseFirst, 500, kMtu));
  receive(response(Operation::kReadResponseMiddle, 502, kMtu));
  receive(response(Operation::kReadResponseLast, 503, kMtu));
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].packet.operation(), Operation::kReadRequest);
  EXPECT_EQ(sent[0].packet.psn, 501u);
  EXPECT_EQ(sent[0].packet.reth.address, kBase + kMtu);
  EXPECT_EQ(sent[0].packet.reth.length, 3 * kMtu);
  // Receive an answer as the specification has it, which begins as a first packet.
  receive(response(Operation::kReadResponseFirst, 501, kMtu));
  receive(response(Operation::kReadResponseMiddle, 502, kMtu));
  receive(response(Operation::kReadResponseLast, 503, kMtu));
  EXPECT_EQ(owner.completed, Statuses{kGood});
  EXPECT_EQ(owner.responses,
            (std::vector<Placement>{{0, kMtu}, {kMtu, kMtu}, {2 * kMtu, kMtu}, {3 * kMtu, kMtu}}));
}

TEST_F(RcCompleter, TakesAnAnswerThatGoesOnAsLinuxRxeHasIt) {
  post(work(WorkKind::kRead, 3 * kMtu));
  drain();
  receive(response(Operation::kReadResponseFirst, 500, kMtu));
  receive(response(Operation::kReadResponseLast, 502, kMtu));
  EXPECT_EQ(psns(), (Psns{501}));
  receive(response(Operation::kReadResponseMiddle, 501, kMtu));
  receive(response(Operation::kReadResponseLast, 502, kMtu));
  EXPECT_EQ(owner.completed, Statuses{kGood});
}

TEST_F(RcCompleter, AsksOnceMoreWhenTheSecondAnswerLacksTheSamePacket) {
  post(work(WorkKind::kRead, 4 * kMtu));
  drain();
  receive(response(Operation::kReadResponseMiddle, 502, kMtu));
  EXPECT_EQ(psns(), (Psns{500}));
  receive(response(Operation::kReadResponseLast, 503, kMtu));
  EXPECT_FALSE(poll());  // still the first answer
  receive(response(Operation::kReadResponseMiddle, 501, kMtu));
  EXPECT_EQ(psns(), (Psns{500}));
}

// --- Wrong answers

TEST_F(RcCompleter, AReadResponseOfTheWrongLengthIsABadResponse) {
  for (const std::size_t length : {0, 3, 5}) {
    owner = FakeOwner();
    made.reset();
    post(work(WorkKind::kRead, kMtu + 4));
    drain();
    receive(response(Operation::kReadResponseFirst, 500, kMtu));
    receive(response(Operation::kReadResponseLast, 501, length));
    EXPECT_EQ(owner.completed, Statuses{Status::kBadResponse}) << length << " bytes";
    EXPECT_EQ(owner.responses.size(), 1u);
  }
}

TEST_F(RcCompleter, AReadResponseOutOfItsOrderIsABadResponse) {
  const Operation kinds[] = {Operation::kReadResponseFirst, Operation::kReadResponseMiddle,
                             Operation::kReadResponseLast, Operation::kReadResponseOnly};
  const Operation right[] = {Operation::kReadResponseFirst, Operation::kReadResponseMiddle,
                             Operation::kReadResponseLast};
  for (std::uint32_t place = 0; place < 3; ++place) {
    for (const Operation kind : kinds) {
      if (kind == right[place]) continue;
      owner = FakeOwner();
      made.reset();
      post(work(WorkKind::kRead, 3 * kMtu));
      drain();
      for (std::uint32_t i = 0; i < place; ++i) receive(response(right[i], 500 + i, kMtu));
      receive(response(kind, 500 + place, kMtu));
      EXPECT_EQ(owner.completed, Statuses{Status::kBadResponse})
          << static_cast<int>(kind) << " as number " << place;
    }
  }
}

TEST_F(RcCompleter, AnAtomicIsNotAnsweredByAReadResponse) {
  post(work(WorkKind::kFetchAdd, 8));
  drain();
  receive(response(Operation::kReadResponseOnly, 500, 8));
  EXPECT_EQ(owner.completed, Statuses{Status::kBadResponse});
}

TEST_F(RcCompleter, AResponseThatCannotBePlacedIsALocalProtectionError) {
  owner.responses_fit = false;
  post(work(WorkKind::kRead, 8));
  drain();
  receive(response(Operation::kReadResponseOnly, 500, 8));
  EXPECT_EQ(owner.completed, Statuses{Status::kLocalProtectionError});
}

// --- Errors of the other side

struct Refusal {
  const char* name;
  wire::NakCode code;
  Status status;
};
// What ctest names the test after.
std::ostream& operator<<(std::ostream& to, const Refusal& refusal) { return to << refusal.name; }

class RcCompleterNak : public RcCompleter, public testing::WithParamInterface<Refusal> {};

TEST_P(RcCompleterNak, EndsTheRightWorkWithItsStatus) {
  post_writes(4);
  drain();
  receive(nak(502, GetParam().code));
  EXPECT_EQ(owner.completed, (Statuses{kGood, kGood, GetParam().status}));
  // Expect silence.
  EXPECT_FALSE(poll());
  EXPECT_EQ(connection().next_timeout(), kNever);
  receive(ack(503));
  EXPECT_EQ(owner.completed.size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(EachCode, RcCompleterNak,
                         testing::Values(Refusal{"InvalidRequest", wire::NakCode::kInvalidRequest,
                                                 Status::kRemoteInvalidRequest},
                                         Refusal{"AccessError", wire::NakCode::kRemoteAccessError,
                                                 Status::kRemoteAccessError},
                                         Refusal{"OperationalError",
                                                 wire::NakCode::kRemoteOperationalError,
                                                 Status::kRemoteOperationalError}));

// --- Receiver not ready

TEST_F(RcCompleter, WaitsAsLongAsAnRnrNakSays) {
  post(work(WorkKind::kSend, 8));
  post_writes(1);
  drain();
  receive(rnr(500, 14));  // 1.28 ms
  EXPECT_FALSE(poll());
  EXPECT_EQ(connection().next_timeout(), now + 1280 * kMicrosecond);
  now += 1279 * kMicrosecond;
  connection().handle_timeout(now);
  EXPECT_FALSE(poll());
  now += kMicrosecond;
  connection().handle_timeout(now);
  EXPECT_EQ(psns(), (Psns{500}));
  EXPECT_EQ(count(Event::kTimeout), 0);
}

TEST_F(RcCompleter, SendsOnePacketAfterAnRnrNakAndTheRestOnceItIsTaken) {
  post(work(WorkKind::kSend, 2 * kMtu));
  post_writes(1);
  drain();
  receive(rnr(500));
  jump();
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].packet.ack_request);
  receive(ack(500));
  EXPECT_EQ(psns(), (Psns{501, 502}));
}

TEST_F(RcCompleter, GivesUpAfterAsManyRnrNaksAsItMayRetry) {
  sending.rnr_retry = 2;
  post(work(WorkKind::kSend, 8));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(owner.completed.empty());
    drain();
    receive(rnr(500));
    jump();
  }
  EXPECT_EQ(owner.completed, Statuses{Status::kRnrRetryExceeded});
}

TEST_F(RcCompleter, SevenRnrRetriesAreForEver) {
  sending.rnr_retry = 7;
  post(work(WorkKind::kSend, 8));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(psns(), (Psns{500}));
    receive(rnr(500));
    jump();
  }
  EXPECT_TRUE(owner.completed.empty());
}

TEST_F(RcCompleter, ASequenceNakDuringTheWaitDoesNotEndIt) {
  post(work(WorkKind::kSend, 8));
  post_writes(1);
  drain();
  receive(rnr(500));
  receive(nak(500, wire::NakCode::kSequenceError));
  EXPECT_FALSE(poll());
}

}  // namespace
}  // namespace gdr::engine::test
