// What ends a session, and what none of a client's numbers and silences can put off.
#include "session_fixture.h"

namespace gdr::perf {
namespace {

constexpr std::uint64_t kLargest = ~std::uint64_t{0};

// One limit is short, and the others as long as ever: what has to be done before is not cut off.
template <auto kLimit, Nanoseconds kTime>
class WithLimit : public SessionTest {
 protected:
  WithLimit() : SessionTest(terms()) {}
  static Terms terms() {
    Terms terms;
    terms.*kLimit = kTime;
    return terms;
  }
  // What the client was told last.
  std::string last_word() {
    const Result<Nothing> word = client_->receive<Nothing>(kSoon);
    return word ? "" : word.error().message;
  }
};
using ShortGreeting = WithLimit<&Terms::greeting, 300 * kMillisecond>;
using ShortTimeToPlan = WithLimit<&Terms::before_plan, 600 * kMillisecond>;
using ShortPatience = WithLimit<&Terms::patience, 400 * kMillisecond>;
using ShortWaitForOthers = WithLimit<&Terms::others, 300 * kMillisecond>;
using ShortSession = WithLimit<&Terms::whole, 6 * kSecond>;

class LongRow : public SessionTest {
 protected:
  void run(Operation operation, std::uint64_t messages = 0) {
    greet();
    connect_to_nobody(set_up(operation));
    Start request = start();
    request.timing = {0, std::uint64_t{3600} * kSecond, messages, 1};
    ASSERT_EQ(ask(request), "");
  }
};

TEST_F(LongRow, TakesNoNumberOfAFinishForNotKnown) {
  run(Operation::kSend);
  EXPECT_EQ(ask(Finish{{kLargest}}), "the other side reports an impossible number of messages");
  EXPECT_EQ(ask(Finish{{1, 2}}), "the other side used a different number of queue pairs");
  EXPECT_EQ(ask(Finish{}), "the other side used a different number of queue pairs");
  EXPECT_EQ(ask(Finish{{0}}), "");
}

TEST_F(LongRow, EndsWhenTheClientLeavesWhileItsMessagesAreWaitedFor) {
  run(Operation::kSend);
  ASSERT_TRUE(client_->send(Finish{{std::uint64_t{1} << 40}}));
  usleep(200'000);
  const Nanoseconds before = now();
  leave();
  EXPECT_LT(now() - before, kSoon);
}

TEST_F(LongRow, EndsWhenInterruptedWhileItsMessagesAreWaitedFor) {
  run(Operation::kSend);
  ASSERT_TRUE(client_->send(Finish{{std::uint64_t{1} << 40}}));
  usleep(200'000);
  interrupted_.store(true);
  expect_end();
}

TEST_F(LongRow, EndsWhenInterrupted) {
  run(Operation::kWrite);
  interrupted_.store(true);
  expect_end();
}

TEST_F(LongRow, OfMessagesIsNotTakenForSilence) {
  run(Operation::kSend, 1000);
  usleep(300'000);
  EXPECT_EQ(ask(Finish{{0}}), "");
}

// To itself, it answers its own answers and never rests between two of them.
TEST_F(SessionTest, EndsALatencyRowWhoseMessagesComeWithoutAPause) {
  greet();
  perf::SetUp request = set_up(Operation::kSend);
  request.load.transport = Transport::kUd;
  request.load.measure = Measure::kLatency;
  request.largest = 64;
  connect_to_nobody(request);
  Start row = start();
  row.measure = Measure::kLatency;
  ASSERT_EQ(ask(row), "");
  StationAddress here;
  put_here(here, soft_devices());
  const Result<Destination> to = destination_of(0, true, here.lid, here.gid, here.global);
  ASSERT_TRUE(to) << to.error().message;
  const std::uint32_t number = address_.stations[0].queues[0].number;
  ASSERT_TRUE(send_probe(soft_devices(), *to, number, 7));
  usleep(100'000);
  const Nanoseconds before = now();
  leave();
  EXPECT_LT(now() - before, kSoon);
}

TEST_F(ShortGreeting, EndsAClientThatSaysNothing) {
  expect_end();
  EXPECT_EQ(ended_.error().message, "the client did not introduce itself within 300 ms");
  EXPECT_EQ(last_word(), ended_.error().message);
}

// One byte after the other is nothing said, either.
TEST_F(ShortGreeting, EndsAClientThatSaysHelloAgainAndAgain) {
  const Nanoseconds before = now();
  while (now() - before < kSoon && ask(Hello{kMagic, kProtocol, "1"}).empty()) usleep(50'000);
  EXPECT_LT(now() - before, kSoon);
}

TEST_F(ShortTimeToPlan, EndsAClientThatHasNothingToDo) {
  say_hello();
  expect_end();
  EXPECT_EQ(ended_.error().message, "the client asked for nothing within 600 ms");
}

TEST_F(ShortPatience, EndsAClientThatIsSilentWhereOthersWait) {
  greet();
  expect_end();
  EXPECT_EQ(ended_.error().message, "the client sent nothing for 400 ms");
}

TEST_F(ShortSession, RefusesAPlanThatIsLongerThanASession) {
  say_hello();
  EXPECT_EQ(ask(Begin{std::uint64_t{10'000} * 24 * 3600 * kSecond}),
            "the plan takes at least 240000 h, but this server ends a session after 6 s; measure "
            "less, use a shorter --duration, or raise the server's --session-limit");
  EXPECT_NE(ask(Begin{kLargest}), "");
}

TEST_F(ShortSession, RefusesARowThatIsLongerThanWhatIsLeft) {
  greet();
  connect_to_nobody(set_up());
  Start row = start();
  row.timing = {0, std::uint64_t{24} * 3600 * kSecond, 0, 10'000};
  EXPECT_EQ(ask(row), "--duration must be at most a day");
  row.timing = {0, 10 * kSecond, 0, 6};
  EXPECT_EQ(ask(row),
            "a measurement of 60 s does not fit into a session of 6 s; use a shorter --duration, "
            "or raise the server's --session-limit");
}

TEST_F(ShortSession, EndsWhenItsTimeIsUpWhateverTheClientSays) {
  greet();
  connect_to_nobody(set_up(Operation::kSend));
  Start row = start();
  row.timing = {0, 0, 1'000'000, 1};  // of messages: nobody knows how long that takes
  ASSERT_EQ(ask(row), "");
  const Nanoseconds before = now();
  std::string said;
  while (said.empty() && now() - before < kSoon) said = ask(FillWindow{{0, 0, 1}});
  EXPECT_LT(now() - before, kSoon);
  EXPECT_EQ(said, "this server ends a session after 6 s; raise its --session-limit");
}

TEST_F(ShortWaitForOthers, SaysWhoseTurnItIs) {
  ASSERT_TRUE(stage_.enter(0, [] { return true; }));
  say_hello();
  EXPECT_EQ(ask(Begin{}), "this server is measuring for another client; try again later");
  stage_.leave();
  EXPECT_EQ(ask(Begin{}), "");
  leave();
  EXPECT_TRUE(stage_.enter(0, [] { return true; })) << "left behind";
}

}  // namespace
}  // namespace gdr::perf
