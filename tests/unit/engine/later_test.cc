// Owners whose memory takes its bytes later than packets bring them, and gives them later than
// packets could carry them.
#include "fixture.h"

namespace gdr::engine::test {
namespace {

// --- What was taken is not in place yet

TEST_F(RcResponder, AcknowledgesAWriteOnlyOnceItsBytesAreInPlace) {
  owner.taken = 1;
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  EXPECT_FALSE(poll());
  owner.in_place = 1;
  expect_ack(poll(), 100, 1);
  EXPECT_FALSE(poll());
}

TEST_F(RcResponder, AcknowledgesWhatIsInPlaceBeforeWhatIsNot) {
  owner.taken = 1;
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  owner.taken = 2;
  receive(write(Operation::kWriteOnly, 101, 4, 4));
  owner.in_place = 1;
  expect_ack(poll(), 100, 1);
  EXPECT_FALSE(poll());
  owner.in_place = 2;
  expect_ack(poll(), 101, 2);
}

TEST_F(RcResponder, AcknowledgesPacketsOfAMessageWhoseRestIsToCome) {
  owner.taken = 1;
  receive(write(Operation::kWriteFirst, 100, kMtu, 2 * kMtu));
  expect_ack(poll(), 100, 0);  // it promises no bytes: the message has not ended
  receive(with_payload(Operation::kWriteLast, 101, kMtu));
  EXPECT_FALSE(poll());
  owner.in_place = 1;
  expect_ack(poll(), 101, 1);
}

TEST_F(RcResponder, SendsNoNakThatWouldAnswerAMessageThatIsNotInPlace) {
  owner.taken = 1;
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  receive(write(Operation::kWriteOnly, 103, 4, 4));  // behind a gap
  EXPECT_FALSE(poll());
  owner.in_place = 1;
  expect_nak(poll(), 101, wire::NakCode::kSequenceError);
}

TEST_F(RcResponder, ReadsBehindWritesThatAreInPlaceOnly) {
  owner.taken = 1;
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  receive(read(101, 8));
  EXPECT_FALSE(poll());
  owner.in_place = 1;
  const auto sent = drain();
  ASSERT_EQ(sent.size(), 1u);  // which acknowledges the write, too
  EXPECT_EQ(sent[0].packet.operation(), Operation::kReadResponseOnly);
}

TEST_F(RcResponder, NamesNoReadInAnAcknowledgeOfWhatCameBeforeAnUnplacedWrite) {
  receive(write(Operation::kWriteOnly, 100, 4, 4, false));
  receive(read(101, 8));
  ASSERT_EQ(drain().size(), 1u);
  owner.taken = 1;
  receive(write(Operation::kWriteOnly, 102, 4, 4));
  expect_ack(poll(), 100, 2);
  EXPECT_FALSE(poll());
}

TEST_F(RcResponder, TellsOfALostWriteByItsOwnPsn) {
  owner.taken = 1;
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  owner.taken = 2;
  receive(write(Operation::kWriteOnly, 101, 4, 4));
  receive(read(102, 8));
  owner.lost = 2;
  owner.in_place = 2;
  expect_nak(poll(), 101, wire::NakCode::kRemoteOperationalError);
  EXPECT_FALSE(poll());  // and the read has no answer, which would acknowledge the write
  EXPECT_EQ(owner.failure, Fault::kRequest);
}

// As whoever copies does not wait for the responder.
TEST_F(RcResponder, TellsOfAWriteThatIsLostBeforeItIsLookedAt) {
  owner.loses_at_once = true;
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  expect_nak(poll(), 100, wire::NakCode::kRemoteOperationalError);
  EXPECT_FALSE(poll());
}

TEST_F(RcResponder, AnswersNoAtomicBehindAWriteThatWasLost) {
  owner.taken = 1;
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  receive(atomic(Operation::kFetchAdd, 101, 5));
  owner.lost = owner.in_place = 1;
  expect_nak(poll(), 100, wire::NakCode::kRemoteOperationalError);
  EXPECT_FALSE(poll());
}

TEST_F(RcResponder, RefusesTheNextPacketOfAMessageOfWhichAPieceWasLost) {
  owner.taken = 1;
  receive(write(Operation::kWriteFirst, 100, kMtu, 3 * kMtu));
  drain();
  owner.lost = owner.in_place = 1;
  receive(with_payload(Operation::kWriteMiddle, 101, kMtu));
  expect_nak(poll(), 101, wire::NakCode::kRemoteOperationalError);
  EXPECT_EQ(owner.writes.size(), 1u);
}

// --- What is to be sent is not there yet

TEST_F(RcCompleter, SendsAPacketOnceItsBytesAreThere) {
  owner.bytes_are_here = false;
  post_writes(2);
  EXPECT_FALSE(poll());
  owner.bytes_are_here = true;
  EXPECT_EQ(psns(), (Psns{500, 501}));
}

TEST_F(RcCompleter, AnswersWhileItsOwnBytesAreNotThere) {
  owner.bytes_are_here = false;
  post_writes(1);
  receive(write(Operation::kWriteOnly, 100, 4, 4));
  expect_ack(poll(), 100, 1);
  EXPECT_FALSE(poll());
}

TEST_F(RcCompleter, ProbesWithThePacketThatItWantedOnceItsBytesAreThere) {
  post_writes(2);
  ASSERT_EQ(psns(), (Psns{500, 501}));
  owner.bytes_are_here = false;
  ASSERT_TRUE(jump());  // the probe
  post_writes(1);
  EXPECT_FALSE(poll());
  owner.bytes_are_here = true;
  EXPECT_EQ(psns(), (Psns{500, 502}));
}

TEST_F(RcResponder, SendsAnAnswerToAReadOnceItsBytesAreThere) {
  owner.bytes_are_here = false;
  receive(read(100, 2 * kMtu));
  EXPECT_FALSE(poll());
  owner.bytes_are_here = true;
  const auto sent = drain();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].packet.operation(), Operation::kReadResponseFirst);
  EXPECT_EQ(sent[0].rest, kMtu);
  EXPECT_EQ(sent[1].packet.operation(), Operation::kReadResponseLast);
  EXPECT_EQ(sent[1].rest, 0u);
}

}  // namespace
}  // namespace gdr::engine::test
