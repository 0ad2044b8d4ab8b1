// What every tool's messages have in common; how they are framed, cut short and refused is
// unit/perf/control_test.cc.
#include "process/conversation.h"

#include <gtest/gtest.h>

#include <thread>

namespace gdr::process {
namespace {

struct Add {
  std::uint32_t one = 0, other = 0;
  GDR_FIELDS(one, other)
  struct Reply {
    std::uint32_t sum = 0;
    GDR_FIELDS(sum)
  };
};
struct Forget {
  GDR_NO_FIELDS
  using Reply = Nothing;
};
using Talk = Conversation<std::tuple<Failure, Nothing, Add, Add::Reply, Forget>>;

struct Calculator {
  Result<Add::Reply> handle(const Add& request) {
    if (request.one > 100) return Error{ERANGE, "too large"};
    return Add::Reply{request.one + request.other};
  }
  Result<Nothing> handle(const Forget&) { return Nothing{}; }
};

class ConversationTest : public testing::Test {
 protected:
  ConversationTest() : ConversationTest(*Connection::pair()) {}
  explicit ConversationTest(std::array<UniqueFd, 2> sockets)
      : asks_(std::move(sockets[0])), answers_(std::move(sockets[1])) {}
  Result<void> answer_one() {
    const Result<Received> request = answers_.receive_any(kSecond);
    if (!request) return request.error();
    Calculator calculator;
    return answers_.answer(*request, [&](const auto& asked) -> decltype(calculator.handle(asked)) {
      return calculator.handle(asked);
    });
  }
  Talk asks_, answers_;
};

TEST_F(ConversationTest, AnswersEachRequestWithItsReply) {
  ASSERT_TRUE(asks_.send(Add{3, 4}));
  ASSERT_TRUE(asks_.send(Forget{}));
  ASSERT_TRUE(answer_one());
  ASSERT_TRUE(answer_one());
  EXPECT_EQ(asks_.receive<Add::Reply>(kSecond)->sum, 7u);
  EXPECT_TRUE(asks_.receive<Nothing>(kSecond));
}

TEST_F(ConversationTest, TurnsTheHandlersErrorIntoOneOfTheCaller) {
  std::thread other([this] { EXPECT_TRUE(answer_one()); });
  const Result<Add::Reply> reply = asks_.call(Add{101, 0}, kSecond);
  other.join();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ERANGE);
  EXPECT_EQ(reply.error().message, "too large");
}

TEST_F(ConversationTest, AnswersNeitherRepliesNorUnknownKindsNorMalformedRequests) {
  ASSERT_TRUE(asks_.send(Add::Reply{1}));
  EXPECT_EQ(answer_one().error().code, EPROTO);
  ASSERT_TRUE(asks_.send_raw(200, {}));
  EXPECT_EQ(answer_one().error().code, EPROTO);
  ASSERT_TRUE(asks_.send_raw(Talk::number_of<Add>(), Bytes(3)));
  EXPECT_EQ(answer_one().error().code, EBADMSG);
  EXPECT_EQ(asks_.receive<Nothing>(kMillisecond).error().code, ETIMEDOUT) << "and says nothing";
}

TEST_F(ConversationTest, EndsAWaitThatIsInterrupted) {
  std::atomic<bool> interrupted{false};
  asks_.watch(interrupted);
  std::thread other([&] { interrupted.store(true); });
  EXPECT_EQ(asks_.receive<Nothing>(kNoLimit).error().code, EINTR);
  other.join();
}

// The other end never lets it wait.
TEST_F(ConversationTest, TakesNothingMoreOnceItIsInterrupted) {
  std::atomic<bool> interrupted{false};
  answers_.watch(interrupted);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(asks_.send(Nothing{}));
  EXPECT_TRUE(answers_.receive<Nothing>(kSecond));
  interrupted.store(true);
  const Result<Nothing> more = answers_.receive<Nothing>(kSecond);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, EINTR);
}

}  // namespace
}  // namespace gdr::process
