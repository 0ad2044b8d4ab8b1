#include "perf/cases/requests.h"

#include <gtest/gtest.h>

#include "soft_devices.h"

namespace gdr::perf {
namespace {

// A station whose queue pair leads to itself.
class RequestsTest : public testing::Test {
 protected:
  RequestsTest() {
    Load load;
    load.depth = 4;
    Result<std::unique_ptr<Station>> made =
        Station::create(soft_devices(), {load, load.near, 64, IBV_MTU_1024, 1});
    if (!made) ADD_FAILURE() << made.error().message;
    station_ = *std::move(made);
    const Result<void> connected = station_->connect(station_->address());
    EXPECT_TRUE(connected) << connected.error().message;
    task_.reset(new Task{.station = *station_, .clock = clock_, .size = 64, .timing = {}});
  }
  Requests writes(std::uint32_t signal_every) {
    return {*task_, Operation::kWrite, 1, signal_every};
  }

  const TickClock clock_ = TickClock::calibrate();
  std::unique_ptr<Station> station_;
  std::unique_ptr<Task> task_;
  Outcome outcome_;
};

TEST_F(RequestsTest, LeaveNoCompletionToTheNextRow) {
  Requests first = writes(1);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(first.post(0), 0);
  first.drain(outcome_);
  EXPECT_TRUE(outcome_.done) << outcome_.done.error().message;
  EXPECT_EQ(first.completed(), 3u);
  Requests second = writes(1);
  EXPECT_EQ(second.reap(outcome_), 0);
  EXPECT_EQ(station_->queues()[0].completed, 0u) << "more than were posted";
}

TEST_F(RequestsTest, DoNotWaitForWhatHasAskedForNoCompletion) {
  Requests requests = writes(2);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(requests.post(0), 0);
  requests.drain(outcome_);
  EXPECT_TRUE(outcome_.done) << outcome_.done.error().message;
  EXPECT_EQ(requests.completed(), 2u);
}

}  // namespace
}  // namespace gdr::perf
