// Answers that nobody fetches, in a table that others need.
#include "peers/answers.h"

#include <gtest/gtest.h>

namespace gdr::peers {
namespace {

using rnic::service_word;
using rnic::ServiceState;

constexpr rnic::Token kStopped = rnic::make_token(4, 4), kOther = rnic::make_token(5, 5);

class AnswersTest : public testing::Test {
 protected:
  void fill(std::uint32_t from, std::uint32_t to, ServiceState state, Nanoseconds answered) {
    for (std::uint32_t i = from; i < to; ++i) {
      segment_->service_request(i).word.store(service_word(kStopped, state));
      answers_.note(i, answered);
    }
  }
  std::uint32_t free_places() {
    std::uint32_t free = 0;
    for (std::uint32_t i = 0; i < rnic::kServiceRequests; ++i) {
      free += segment_->service_request(i).word.load() == 0;
    }
    return free;
  }
  std::unique_ptr<rnic::Segment> segment_ = *rnic::Segment::create(kOther, {});
  Answers answers_;
};

TEST_F(AnswersTest, ThatAStoppedProcessLeavesMakeRoomOnceTheTableIsFull) {
  fill(0, rnic::kServiceRequests, ServiceState::kAnswered, kSecond);
  segment_->service_request(7).word.store(service_word(kOther, ServiceState::kAsked));
  answers_.free_forgotten(*segment_, 5 * kSecond);
  EXPECT_EQ(free_places(), 0U);
  answers_.free_forgotten(*segment_, 7 * kSecond);
  EXPECT_EQ(free_places(), rnic::kServiceRequests - 1);
  EXPECT_EQ(segment_->service_request(7).word.load(), service_word(kOther, ServiceState::kAsked));
}

TEST_F(AnswersTest, StayWhereThereIsRoom) {
  fill(1, rnic::kServiceRequests, ServiceState::kAnswered, kSecond);
  answers_.free_forgotten(*segment_, 3600 * kSecond);
  EXPECT_EQ(free_places(), 1U);
}

// What is being written or copied may change at any time.
TEST_F(AnswersTest, AreAllThatIsFreed) {
  for (const ServiceState state : {ServiceState::kWriting, ServiceState::kAsked,
                                   ServiceState::kTaken, ServiceState::kAbandoned}) {
    fill(0, rnic::kServiceRequests, state, kSecond);
    answers_.free_forgotten(*segment_, 3600 * kSecond);
    EXPECT_EQ(free_places(), 0U) << static_cast<int>(state);
  }
}

}  // namespace
}  // namespace gdr::peers
