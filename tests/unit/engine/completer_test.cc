// What a requester does with answers, and with their absence.
#include "fixture.h"

namespace gdr::engine::test {
namespace {

using Psns = std::vector<std::uint32_t>;
using Statuses = std::vector<Status>;
constexpr Status kGood = Status::kSuccess;

class RcCompleter : public Link {
 protected:
  void post_writes(int n, std::uint64_t length = 8) {
    for (int i = 0; i < n; ++i) post(work(WorkKind::kWrite, length));
  }
  int count(Event event) { return owner.events[event]; }
};

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

// --- Timers

TEST_F(RcCompleter, ProbesWithTheOldestPacketWhenNothingIsHeard) {
  post_writes(3);
  drain();
  ASSERT_TRUE(jump());
  EXPECT_EQ(now, kSecond + kMillisecond);
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].packet.psn, 500u);
  EXPECT_TRUE(sent[0].packet.ack_request);
  EXPECT_EQ(count(Event::kTimeout), 0);
  // Everything had arrived, the acknowledgement was lost.
  receive(ack(502));
  EXPECT_EQ(owner.completed, Statuses(3, kGood));
}

TEST_F(RcCompleter, GoesBackBehindAProbeThatAloneIsAcknowledged) {
  post_writes(3);
  drain();
  jump();
  EXPECT_EQ(psns(), (Psns{500}));
  receive(ack(500));
  EXPECT_FALSE(poll());
  jump();
  EXPECT_EQ(psns(), (Psns{501, 502}));
}

TEST_F(RcCompleter, DoesNotGoBackWhenTheOtherSideWasOnlySlow) {
  post_writes(3);
  drain();
  jump();
  EXPECT_EQ(psns(), (Psns{500}));
  receive(ack(500));
  receive(ack(501));
  now += 100 * kMicrosecond;
  connection().handle_timeout(now);
  EXPECT_FALSE(poll());
  receive(ack(502));
  EXPECT_EQ(owner.completed, Statuses(3, kGood));
}

TEST_F(RcCompleter, ProbesBehindAProbedReadThatAloneIsAnswered) {
  post(work(WorkKind::kRead, 8));
  post_writes(2);
  drain();
  jump();
  EXPECT_EQ(psns(), (Psns{500}));
  receive(response(Operation::kReadResponseOnly, 500, 8));
  jump();
  EXPECT_EQ(psns(), (Psns{501}));
  receive(ack(501));
  jump();
  EXPECT_EQ(psns(), (Psns{502}));
}

TEST_F(RcCompleter, ProbesLessAndLessOften) {
  sending.timeout = 0;
  post_writes(1);
  drain();
  std::vector<Nanoseconds> waits;
  for (int i = 0; i < 14; ++i) {
    const Nanoseconds before = now;
    ASSERT_TRUE(jump());
    EXPECT_EQ(psns(), (Psns{500}));
    waits.push_back((now - before) / kMillisecond);
  }
  EXPECT_EQ(waits, (std::vector<Nanoseconds>{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000,
                                             1000, 1000}));
  EXPECT_TRUE(owner.completed.empty());  // no timeout is for ever
}

TEST_F(RcCompleter, GivesUpAfterItsRetries) {
  sending.retry_count = 2;
  post_writes(2);
  drain();
  const Nanoseconds began = now;
  while (owner.completed.empty()) {
    ASSERT_TRUE(jump());
    drain();
  }
  EXPECT_EQ(owner.completed, Statuses{Status::kRetryExceeded});
  EXPECT_EQ(now - began, 3 * sending.timeout);
  EXPECT_EQ(count(Event::kTimeout), 3);
}

TEST_F(RcCompleter, ProgressGivesAllRetriesBack) {
  sending.retry_count = 1;
  post_writes(4);
  drain();
  for (std::uint32_t psn = 500; psn < 504; ++psn) {
    while (count(Event::kTimeout) <= static_cast<int>(psn) - 500) {
      ASSERT_TRUE(jump());
      drain();
    }
    receive(ack(psn));
  }
  EXPECT_EQ(owner.completed, Statuses(4, kGood));
}

TEST_F(RcCompleter, GoesBackToTheBeginningAfterATimeout) {
  post_writes(3);
  drain();
  while (count(Event::kTimeout) == 0) {
    drain();
    ASSERT_TRUE(jump());
  }
  EXPECT_EQ(psns(), (Psns{500, 501, 502}));
}

TEST_F(RcCompleter, TheWindowGrowsByAllThatAnAcknowledgeAnswers) {
  post_writes(1000);
  drain();
  while (count(Event::kTimeout) == 0) {
    ASSERT_TRUE(jump());
    if (count(Event::kTimeout) == 0) drain();
  }
  EXPECT_EQ(psns().size(), 8u);
  receive(ack(507));
  EXPECT_EQ(psns().size(), 16u);
}

TEST_F(RcCompleter, HasLessUnderWayWhenASwitchWarns) {
  post_writes(1000);
  const auto before = static_cast<std::uint32_t>(psns().size());
  wire::Packet notice = packet(Operation::kAcknowledge, 0);
  notice.opcode = wire::kCongestionNotification;
  notice.info = wire::find_opcode(notice.opcode);
  receive(notice);
  EXPECT_EQ(count(Event::kCongestionNotified), 1);
  receive(ack(500 + before - 1));
  EXPECT_LT(psns().size(), before);
}

TEST_F(RcCompleter, AProbedReadIsAskedForFromTheFirstMissingResponseOn) {
  post(work(WorkKind::kRead, 2 * kMtu));
  drain();
  receive(response(Operation::kReadResponseFirst, 500, kMtu));
  jump();
  std::vector<Transmit> sent = drain();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].packet.psn, 501u);
  EXPECT_EQ(sent[0].packet.reth.length, kMtu);
  receive(response(Operation::kReadResponseOnly, 501, kMtu));
  EXPECT_EQ(owner.completed, Statuses{kGood});
}

}  // namespace
}  // namespace gdr::engine::test
