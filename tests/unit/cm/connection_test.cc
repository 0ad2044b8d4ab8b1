// Two connections over a link in virtual time.
#include "cm/connection.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

namespace gdr::cm {
namespace {

constexpr Time kSecond = 1'000'000'000;

class Pair : public ::testing::Test {
 protected:
  // Carries what waits on both sides; `lose` says which messages do not arrive.
  void carry(const std::function<bool(const Message&)>& lose = [](const Message&) {
    return false;
  }) {
    for (bool moved = true; moved;) {
      moved = false;
      while (const auto mad = active.poll_send()) moved |= hand(*mad, passive, lose);
      while (const auto mad = passive.poll_send()) moved |= hand(*mad, active, lose);
    }
  }
  bool hand(const Mad& mad, Connection& to, const std::function<bool(const Message&)>& lose) {
    const auto message = read(mad);
    if (!lose(*message)) to.receive(*message, now);
    ++carried;
    return true;
  }
  void connect() {
    active.request({.kind = Kind::kReq, .offer = {.qp_number = 5}}, now);
    carry();
    passive.reply({.kind = Kind::kRep, .offer = {.qp_number = 6}}, now);
    carry();
    active.ready({}, now);
    carry();
    while (active.poll_event()) {
    }
    while (passive.poll_event()) {
    }
  }
  static Event::Kind next(Connection& c) {
    const auto event = c.poll_event();
    return event ? event->kind : static_cast<Event::Kind>(-1);
  }
  // Jumps from deadline to deadline; nothing arrives any more.
  void starve(Connection& c) {
    for (int i = 0; i < 100 && c.deadline() && c.state() != State::kTimeWait; ++i) {
      now = *c.deadline();
      c.expire(now);
    }
  }

  Time now = kSecond;
  int carried = 0;
  Connection active{0x100, 1}, passive{0x200, 2};
};

TEST_F(Pair, ConnectsWithThreeMessages) {
  active.request({.kind = Kind::kReq, .offer = {.qp_number = 5}}, now);
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  EXPECT_EQ(passive.remote().offer.qp_number, 5U);
  EXPECT_TRUE(passive.reply({.kind = Kind::kRep, .offer = {.qp_number = 6}}, now));
  carry();
  EXPECT_EQ(next(active), Event::kReply);
  EXPECT_EQ(active.remote().offer.qp_number, 6U);
  EXPECT_TRUE(active.ready({}, now));
  carry();
  EXPECT_EQ(next(passive), Event::kEstablished);
  EXPECT_EQ(active.state(), State::kEstablished);
  EXPECT_EQ(carried, 3);
  EXPECT_FALSE(active.deadline());
  EXPECT_FALSE(passive.deadline());
}

TEST_F(Pair, EachLostMessageOfTheHandshakeIsRepeated) {
  for (const Kind lost : {Kind::kReq, Kind::kRep, Kind::kRtu}) {
    Connection a(1, 1), b(2, 2);
    bool once = true;
    Time t = kSecond;
    a.request({.kind = Kind::kReq}, t);
    for (int i = 0; i < 50; ++i) {
      t += kSecond;
      a.expire(t);
      b.expire(t);
      while (const auto mad = a.poll_send()) {
        const auto m = read(*mad);
        if (m->kind == lost && std::exchange(once, false)) continue;
        b.receive(*m, t);
      }
      if (b.state() == State::kReqReceived) b.reply({.kind = Kind::kRep}, t);
      while (const auto mad = b.poll_send()) {
        const auto m = read(*mad);
        if (m->kind == lost && std::exchange(once, false)) continue;
        a.receive(*m, t);
      }
      if (a.state() == State::kRepReceived) a.ready({}, t);
    }
    EXPECT_FALSE(once);
    EXPECT_EQ(a.state(), State::kEstablished);
    EXPECT_EQ(b.state(), State::kEstablished);
  }
}

TEST_F(Pair, SilenceIsUnreachableWithinTwoMinutes) {
  active.request({.kind = Kind::kReq}, now);
  starve(active);
  const auto event = active.poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::kUnreachable);
  EXPECT_EQ(event->status, -ETIMEDOUT);
  EXPECT_LT(now, 121 * kSecond);
  EXPECT_GT(now, 30 * kSecond);
}

TEST_F(Pair, ARepeatedRequestIsReportedOnceAndAsksForPatience) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  now = *active.deadline();
  active.expire(now);
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  EXPECT_FALSE(passive.poll_event());
  EXPECT_GT(*active.deadline(), now + 60 * kSecond);
}

TEST_F(Pair, RejectionCarriesReasonAndPrivateData) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  Message rej{.reason = kRejectConsumerDefined};
  rej.private_data[0] = 42;
  EXPECT_TRUE(passive.reject(rej, now));
  carry();
  const auto event = active.poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::kRejected);
  EXPECT_EQ(event->status, kRejectConsumerDefined);
  EXPECT_EQ(event->message.private_data[0], 42);
}

TEST_F(Pair, BothLearnOfADisconnectAndOfTheEndOfTimeWait) {
  connect();
  EXPECT_TRUE(active.disconnect(now));
  carry();
  EXPECT_EQ(next(active), Event::kDisconnected);
  EXPECT_EQ(next(passive), Event::kDisconnected);
  now = *active.deadline();
  active.expire(now);
  passive.expire(now);
  EXPECT_EQ(next(active), Event::kTimeWaitExit);
  EXPECT_EQ(next(passive), Event::kTimeWaitExit);
  EXPECT_EQ(active.state(), State::kClosed);
}

TEST_F(Pair, ALostDisconnectReplyIsSentAgain) {
  connect();
  active.disconnect(now);
  carry([](const Message& m) { return m.kind == Kind::kDrep; });
  EXPECT_EQ(active.state(), State::kDreqSent);
  now = *active.deadline();
  active.expire(now);
  carry();
  EXPECT_EQ(active.state(), State::kTimeWait);
}

TEST_F(Pair, DisconnectFromAPeerThatDiedEnds) {
  connect();
  active.disconnect(now);
  starve(active);
  const auto event = active.poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::kDisconnected);
  EXPECT_EQ(event->status, -ETIMEDOUT);
}

TEST_F(Pair, TheEndOfThePeersProcessIsADisconnect) {
  connect();
  active.peer_ended(now);
  EXPECT_EQ(next(active), Event::kDisconnected);
  EXPECT_EQ(active.state(), State::kTimeWait);
  EXPECT_FALSE(active.poll_send()) << "there is nobody to tell";
  active.peer_ended(now);
  EXPECT_FALSE(active.poll_event()) << "it is told once";
  passive.disconnect(now);
  passive.peer_ended(now);
  EXPECT_EQ(next(passive), Event::kDisconnected) << "and the reply is not waited for";
}

TEST_F(Pair, TheEndOfAProcessThatHasNotAnsweredTheReplyIsARejection) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  passive.reply({.kind = Kind::kRep}, now);
  passive.peer_ended(now);
  EXPECT_FALSE(passive.poll_event()) << "it may have";
  now = *passive.deadline();
  passive.expire(now);
  const auto event = passive.poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::kRejected);
  EXPECT_EQ(event->status, kRejectConsumerDefined);
  EXPECT_EQ(passive.state(), State::kTimeWait);
}

// A client that connects, writes, and is gone.
TEST_F(Pair, TheEndOfAProcessOvertakesNotWhatItSaidBefore) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  passive.reply({.kind = Kind::kRep}, now);
  carry();
  EXPECT_EQ(next(active), Event::kReply);
  active.ready({.kind = Kind::kRtu}, now);
  passive.peer_ended(now);
  carry();
  EXPECT_EQ(next(passive), Event::kEstablished);
  EXPECT_EQ(next(passive), Event::kDisconnected);
  EXPECT_FALSE(passive.poll_event());
  EXPECT_EQ(passive.state(), State::kTimeWait);
}

TEST_F(Pair, WhoDisconnectsFromAProcessThatHasEndedWaitsForNoReply) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  passive.reply({.kind = Kind::kRep}, now);
  passive.peer_ended(now);
  EXPECT_TRUE(passive.disconnect(now));
  EXPECT_EQ(next(passive), Event::kDisconnected);
}

TEST_F(Pair, TheEndOfAProcessTakesBackItsRequest) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  passive.peer_ended(now);
  const auto event = passive.poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::kRejected);
  EXPECT_EQ(event->status, kRejectTimeout);
  EXPECT_FALSE(passive.reply({.kind = Kind::kRep}, now)) << "there is nobody to accept";
  EXPECT_FALSE(passive.poll_send());
}

TEST_F(Pair, TheEndOfAProcessThatHasAskedForPatienceIsARejection) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  now = *active.deadline();
  active.expire(now);
  carry();  // repeated, so patience is asked for
  EXPECT_EQ(active.remote_id(), 0x200U) << "by which it is known whose end it would be";
  active.peer_ended(now);
  const auto event = active.poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::kRejected);
  EXPECT_EQ(active.state(), State::kClosed);
}

TEST_F(Pair, TheEndOfTimeWaitIsToldOnlyAfterADisconnect) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  passive.reply({.kind = Kind::kRep}, now);
  carry();
  ASSERT_EQ(next(active), Event::kReply);
  EXPECT_TRUE(active.reject({.reason = kRejectConsumerDefined}, now));
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  EXPECT_EQ(next(passive), Event::kRejected);
  for (Connection* one : {&active, &passive}) {
    ASSERT_EQ(one->state(), State::kTimeWait);
    one->expire(*one->deadline());
    EXPECT_EQ(one->state(), State::kClosed);
    EXPECT_FALSE(one->poll_event());
  }
}

TEST_F(Pair, ARejectedReplySaysSoAndIsToldOnce) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  passive.reply({.kind = Kind::kRep}, now);
  const auto rep = passive.poll_send();
  active.receive(*read(*rep), now);
  EXPECT_TRUE(active.reject({.reason = kRejectVendorOption}, now));
  const auto rej = read(*active.poll_send());
  ASSERT_TRUE(rej);
  EXPECT_EQ(rej->subject, Subject::kRep);
  EXPECT_EQ(rej->reason, kRejectVendorOption);
  EXPECT_EQ(rej->local_id, 0x100U);
  EXPECT_EQ(rej->remote_id, 0x200U);
  // The reply was repeated meanwhile: the same answer.
  active.receive(*read(*rep), now);
  const auto again = active.poll_send();
  ASSERT_TRUE(again);
  EXPECT_EQ(read(*again)->kind, Kind::kRej);
  EXPECT_FALSE(active.reject({}, now)) << "once";
}

// However its peer behaves, a connection waits no longer than that for the next message.
TEST_F(Pair, NoPeerMayAskForMoreThanAMinutesPatience) {
  active.request({.kind = Kind::kReq}, now);
  while (active.poll_send()) {
  }
  active.receive({.kind = Kind::kMra, .remote_id = 0x100, .service_timeout = 31}, now);
  ASSERT_TRUE(active.deadline());
  EXPECT_LE(*active.deadline(), now + 70 * kSecond);
}

TEST_F(Pair, AReplyThatNobodyConfirmsIsRepeatedAndGivenUp) {
  active.request({.kind = Kind::kReq}, now);
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  passive.reply({.kind = Kind::kRep}, now);
  starve(passive);
  int reps = 0, rejections = 0;
  while (const auto mad = passive.poll_send()) {
    reps += read(*mad)->kind == Kind::kRep ? 1 : 0;
    rejections += read(*mad)->kind == Kind::kRej ? 1 : 0;
  }
  EXPECT_EQ(reps, 16);
  EXPECT_EQ(rejections, 1) << "the other side may still be there";
  const auto event = passive.poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::kUnreachable);
  EXPECT_EQ(event->status, -ETIMEDOUT);
  EXPECT_LT(now, 121 * kSecond);
}

TEST_F(Pair, ARefusedDatagramLookupIsUnreachableWithItsStatus) {
  active.request({.kind = Kind::kSidrReq, .service_id = 7}, now);
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  passive.reply({.kind = Kind::kSidrRep, .service_id = 7, .status = kSidrRejected}, now);
  carry();
  const auto event = active.poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::kUnreachable);
  EXPECT_EQ(event->status, kSidrRejected);
  EXPECT_EQ(active.state(), State::kClosed);
}

TEST_F(Pair, ALostDatagramAnswerIsSentAgainToTheRepeatedRequest) {
  active.request({.kind = Kind::kSidrReq, .service_id = 7}, now);
  carry();
  passive.reply({.kind = Kind::kSidrRep, .service_id = 7, .offer = {.qp_number = 9}}, now);
  carry([](const Message& m) { return m.kind == Kind::kSidrRep; });
  now = *active.deadline();
  active.expire(now);
  carry();
  EXPECT_EQ(next(active), Event::kEstablished);
}

TEST_F(Pair, AnAbandonedConnectionEndsItselfInEveryState) {
  struct Step {
    State state;
    Kind says;  // the last message of whoever abandons it
  };
  for (const Step step : {Step{State::kReqSent, Kind::kRej}, Step{State::kReqReceived, Kind::kRej},
                          Step{State::kRepReceived, Kind::kRej}, Step{State::kRepSent, Kind::kDreq},
                          Step{State::kEstablished, Kind::kDreq}}) {
    Connection a(1, 1), b(2, 2);
    Time t = kSecond;
    Connection* one = nullptr;
    const auto reached = [&](Connection& c) {
      if (one == nullptr && c.state() == step.state) one = &c;
      return one != nullptr;
    };
    const auto carry_to = [&](Connection& from, Connection& to) {
      while (const auto mad = from.poll_send()) to.receive(*read(*mad), t);
    };
    a.request({.kind = Kind::kReq}, t);
    if (!reached(a)) carry_to(a, b);
    if (!reached(b)) b.reply({.kind = Kind::kRep}, t);
    if (!reached(b)) carry_to(b, a);
    if (!reached(a)) a.ready({}, t);
    ASSERT_TRUE(reached(a)) << static_cast<int>(step.state);
    while (one->poll_send()) {
    }
    one->abandon(t);
    const auto said = one->poll_send();
    ASSERT_TRUE(said) << static_cast<int>(step.state);
    EXPECT_EQ(read(*said)->kind, step.says) << static_cast<int>(step.state);
    for (int i = 0; i < 100 && one->deadline(); ++i) {
      t = *one->deadline();
      one->expire(t);
      while (one->poll_send()) {
      }
    }
    EXPECT_EQ(one->state(), State::kClosed) << static_cast<int>(step.state);
  }
}

TEST_F(Pair, MessagesWithWrongIdsChangeNothing) {
  connect();
  for (const Kind kind : {Kind::kDreq, Kind::kDrep, Kind::kRej, Kind::kRep, Kind::kRtu}) {
    active.receive({.kind = kind, .local_id = 0x200, .remote_id = 0x999}, now);
  }
  active.receive({.kind = Kind::kDreq, .local_id = 0x999, .remote_id = 0x100}, now);
  EXPECT_EQ(active.state(), State::kEstablished);
  EXPECT_FALSE(active.poll_send());
  EXPECT_FALSE(active.poll_event());
}

TEST_F(Pair, CommandsInTheWrongStateAreRefused) {
  EXPECT_FALSE(active.ready({}, now));
  EXPECT_FALSE(active.reply({.kind = Kind::kRep}, now));
  EXPECT_FALSE(active.reject({}, now));
  EXPECT_FALSE(active.disconnect(now));
  connect();
  EXPECT_FALSE(active.request({.kind = Kind::kReq}, now));
  EXPECT_FALSE(passive.reply({.kind = Kind::kRep}, now));
}

TEST_F(Pair, ADatagramServiceIsLookedUp) {
  active.request({.kind = Kind::kSidrReq, .service_id = 7}, now);
  carry();
  EXPECT_EQ(next(passive), Event::kRequest);
  passive.reply({.kind = Kind::kSidrRep, .service_id = 7, .offer = {.qp_number = 9, .qkey = 3}},
                now);
  carry();
  const auto event = active.poll_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::kEstablished);
  EXPECT_EQ(event->message.offer.qp_number, 9U);
}

TEST_F(Pair, AnAbandonedConnectionSaysGoodbye) {
  connect();
  active.abandon(now);
  carry();
  EXPECT_EQ(next(passive), Event::kDisconnected);
}

}  // namespace
}  // namespace gdr::cm
