// What a server does with clients that do not keep to the rules.
#include "session_fixture.h"

namespace gdr::perf {
namespace {

TEST_F(SessionTest, AnswersAHelloOfAnotherVersionWithItsOwn) {
  const Result<Hello> hello = client_->call(Hello{kMagic, kProtocol + 1, "9.9"}, test::kLastResort);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->protocol, kProtocol);
  EXPECT_EQ(hello->version, "1.2.3");
  EXPECT_EQ(ask(Open{}), "open came too early");
}

TEST_F(SessionTest, DoesNothingBeforeItsTurn) {
  EXPECT_EQ(ask(Open{}), "open came too early");
  EXPECT_EQ(ask(set_up()), "set-up came too early");
  EXPECT_EQ(ask(Challenge{}), "challenge came too early");
  EXPECT_EQ(ask(Authenticate{}), "authenticate came too early");
  EXPECT_EQ(ask(Begin{}), "begin came too early");
  EXPECT_EQ(ask(Probe{}), "probe came too early");
  say_hello();
  EXPECT_EQ(ask(Challenge{}), "challenge came too early");
  EXPECT_EQ(ask(Authenticate{}), "authenticate came too early");
  EXPECT_EQ(ask(set_up()), "set-up came too early");
  EXPECT_EQ(ask(ProbeAnswer{}), "an answer to a probe came too early");
  ASSERT_EQ(ask(Begin{}), "");
  EXPECT_EQ(ask(Begin{}), "begin came too early");
  EXPECT_EQ(ask(Connect{}), "connect came too early");
  EXPECT_EQ(ask(start()), "start came too early");
  EXPECT_EQ(ask(VerifyWindow{}), "verify came too early");
  EXPECT_EQ(ask(FillWindow{}), "fill came too early");
  EXPECT_EQ(ask(MoveWindow{}), "move came too early");
  EXPECT_EQ(ask(Finish{}), "finish came too early");
  EXPECT_EQ(ask(perf::TearDown{}), "");
  ASSERT_EQ(ask(set_up()), "");
  EXPECT_EQ(ask(start()), "start came too early");
}

TEST_F(SessionTest, ForgetsTheRowWhenQueuePairsAreMadeAnew) {
  greet();
  connect_to_nobody(set_up());
  ASSERT_EQ(ask(start()), "");
  EXPECT_EQ(ask(start()), "start came too early");
  ASSERT_EQ(ask(set_up()), "");
  EXPECT_EQ(ask(Finish{}), "finish came too early");
  EXPECT_EQ(ask(VerifyWindow{}), "verify came too early");
  // The same where that fails.
  connect_to_nobody(set_up());
  ASSERT_EQ(ask(start()), "");
  perf::SetUp wrong = set_up();
  wrong.largest = 0;
  EXPECT_NE(ask(wrong), "");
  EXPECT_EQ(ask(Finish{}), "finish came too early");
}

TEST_F(SessionTest, RefusesRowsThatWereNotSetUp) {
  greet();
  connect_to_nobody(set_up());
  Start request = start();
  request.size = 0;
  EXPECT_EQ(ask(request), "a message is larger than its buffer");
  request.size = 4097;
  EXPECT_EQ(ask(request), "a message is larger than its buffer");
  request = start();
  request.measure = Measure::kLatency;
  EXPECT_EQ(ask(request), "the row does not match the set-up");
  request = start();
  request.signal_every = 0;
  EXPECT_EQ(ask(request), "no request within the depth asks for a completion");
  request = start();
  request.timing.slices = 0;
  EXPECT_NE(ask(request), "");
  EXPECT_EQ(ask(start()), "");
}

TEST_F(SessionTest, RefusesConnectionsOfAnotherShape) {
  greet();
  ASSERT_EQ(ask(set_up()), "");
  EXPECT_EQ(ask(Connect{}), "the other side has a different number of threads");
  answer_probe();
  Connect request;
  request.address.stations.resize(1);
  put_here(request.address.stations[0], soft_devices());
  EXPECT_EQ(ask(request), "the other side has a different number of queue pairs");
}

TEST_F(SessionTest, OpensNoMorePortsThanItHas) {
  greet();
  perf::SetUp request = set_up();
  request.load.ports = request.load.threads = request.load.queue_pairs = 2;
  EXPECT_EQ(ask(request), "the client wants 2 ports, but only 1 are open");
}

TEST_F(SessionTest, AsksForNoWindowOfAThreadThatIsNotThere) {
  greet();
  perf::SetUp request = set_up(Operation::kRead);
  request.load.check = true;
  connect_to_nobody(request);
  ASSERT_EQ(ask(start()), "");
  EXPECT_EQ(ask(FillWindow{{1, 0, 1}}), "no such thread");
  EXPECT_EQ(ask(MoveWindow{{1, 0, 1}}), "no such thread");
  EXPECT_EQ(ask(VerifyWindow{{1, 0, 1}}), "no such thread");
  for (const Window& window :
       {Window{0, ~std::uint64_t{0}, 1}, {0, 0, ~std::uint32_t{0}}, {0, 0, 129}}) {
    const char* wrong = "a window has more messages than buffers";
    EXPECT_EQ(ask(FillWindow{window}), wrong);
    EXPECT_EQ(ask(MoveWindow{window}), wrong);
    EXPECT_EQ(ask(VerifyWindow{window}), wrong);
  }
  EXPECT_EQ(ask(FillWindow{{0, 128, 128}}), "");
}

TEST_F(SessionTest, SendsWindowsOnlyWhereBothWaysAreChecked) {
  greet();
  perf::SetUp request = set_up();
  request.load.check = true;
  connect_to_nobody(request);
  ASSERT_EQ(ask(start()), "");
  EXPECT_EQ(ask(MoveWindow{{0, 0, 1}}), "the server was asked to send, but the load goes one way");
}

// To itself, here: what it sends is what comes.
TEST_F(SessionTest, SendsAWindowWhenItIsAskedAndSaysHowLongThatTook) {
  greet();
  perf::SetUp request = set_up();
  request.load.check = request.load.both_ways = true;
  connect_to_nobody(request);
  ASSERT_EQ(ask(start()), "");
  ASSERT_EQ(ask(FillWindow{{0, 0, 1}}), "");
  ASSERT_EQ(ask(MoveWindow{{0, 0, 1}}), "");
  const auto reply = client_->call(VerifyWindow{{0, 0, 1}}, test::kLastResort);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_GT(reply->nanoseconds, 0u);
  EXPECT_LT(reply->nanoseconds, test::kLastResort);
  EXPECT_EQ(reply->wrong, 1u);  // its own words: not the client's
  EXPECT_NE(reply->first.find("message 0 of queue pair 0"), std::string::npos) << reply->first;
}

TEST_F(SessionTest, EndsItsThreadsWhenTheClientIsGone) {
  greet();
  connect_to_nobody(set_up(Operation::kSend));
  Start request = start();
  request.timing = {0, std::uint64_t{3600} * kSecond, 0, 1};
  ASSERT_EQ(ask(request), "");
  const Nanoseconds before = now();
  leave();
  EXPECT_LT(now() - before, kSoon);
  EXPECT_EQ(ended_.error().code, ECONNRESET);
}

TEST_F(SessionTest, EndsInOrderWhenTheClientLeavesBetweenRows) {
  greet();
  leave();
  EXPECT_TRUE(ended_);
}

TEST_F(SessionTest, EndsWhatTalksNonsense) {
  ASSERT_TRUE(client_->send(Nothing{}));
  serving_.join();
  EXPECT_EQ(ended_.error().code, EPROTO);
}

}  // namespace
}  // namespace gdr::perf
