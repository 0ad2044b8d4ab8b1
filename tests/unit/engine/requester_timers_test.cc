// What a requester does when nothing is heard, and how much it has under way.
#include "fixture.h"

namespace gdr::engine::test {
namespace {

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
