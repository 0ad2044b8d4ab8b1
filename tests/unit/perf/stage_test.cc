#include "perf/stage.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "soon.h"

namespace gdr::perf {
namespace {

const GoOn kAlways = [] { return true; };

TEST(Stage, HasOneClientAtATime) {
  Stage stage;
  ASSERT_TRUE(stage.enter(0, kAlways));
  const Nanoseconds before = now();
  EXPECT_FALSE(stage.enter(100 * kMillisecond, kAlways));
  EXPECT_GE(now() - before, 100 * kMillisecond);
  stage.leave();
  EXPECT_TRUE(stage.enter(0, kAlways));
}

TEST(Stage, LetsTheNextOneInWhenItIsFree) {
  Stage stage;
  ASSERT_TRUE(stage.enter(0, kAlways));
  std::atomic<bool> entered{false};
  std::thread next([&] { entered.store(stage.enter(test::kLastResort, kAlways)); });
  stage.leave();
  next.join();
  EXPECT_TRUE(entered.load());
}

TEST(Stage, IsNotWaitedForWithoutSense) {
  Stage stage;
  ASSERT_TRUE(stage.enter(0, kAlways));
  const Nanoseconds before = now();
  EXPECT_FALSE(stage.enter(test::kLastResort, [] { return false; }));
  EXPECT_LT(now() - before, test::kLastResort / 2);
}

TEST(Stage, SendsSomeProbesAtOnceAndThenOneASecond) {
  Stage stage;
  const Nanoseconds before = now();
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(stage.take_probe(0, kAlways)) << i;
  EXPECT_TRUE(stage.take_probe(test::kLastResort, kAlways));
  EXPECT_GT(now() - before, 500 * kMillisecond);
}

TEST(Stage, CountsNoProbeThatWasAnswered) {
  Stage stage;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(stage.take_probe(0, kAlways)) << i;
    stage.give_back_probe();
  }
}

}  // namespace
}  // namespace gdr::perf
