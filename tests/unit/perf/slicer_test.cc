#include "perf/cases/slicer.h"

#include <gtest/gtest.h>

namespace gdr::perf {
namespace {

// A simulated time: nothing here looks at the counter itself.
class SlicerTest : public testing::Test {
 protected:
  Ticks at(std::uint64_t nanoseconds) const { return kStart + clock_.ticks_in(nanoseconds); }
  static constexpr Ticks kStart = 1'000'000;
  const TickClock clock_ = TickClock::calibrate();
};

void expect_slice(const Slice& slice, std::uint64_t messages, std::uint64_t nanoseconds) {
  EXPECT_EQ(slice.messages, messages);
  EXPECT_NEAR(static_cast<double>(slice.nanoseconds), static_cast<double>(nanoseconds), 10);
}

TEST_F(SlicerTest, CutsByTimeAndCountsNothingOfTheWarmUp) {
  Slicer slicer({.warm_up_nanoseconds = 1000, .slice_nanoseconds = 5000, .slices = 2}, clock_,
                kStart);
  EXPECT_EQ(slicer.slice(), 0u);
  EXPECT_TRUE(slicer.go_on(10, at(900)));
  EXPECT_EQ(slicer.slice(), 0u);
  EXPECT_TRUE(slicer.go_on(20, at(1100)));
  EXPECT_NE(slicer.slice(), 0u);
  EXPECT_TRUE(slicer.slices().empty());
  EXPECT_TRUE(slicer.go_on(50, at(6000)));
  EXPECT_TRUE(slicer.go_on(70, at(6200)));
  ASSERT_EQ(slicer.slices().size(), 1u);
  expect_slice(slicer.slices()[0], 50, 5100);
  EXPECT_FALSE(slicer.go_on(100, at(12000)));
  ASSERT_EQ(slicer.slices().size(), 2u);
  expect_slice(slicer.slices()[1], 30, 5800);
}

TEST_F(SlicerTest, EndsASliceBeforeItsTimeWhereThatIsAskedFor) {
  Slicer slicer({.slice_nanoseconds = 5000, .slices = 2}, clock_, kStart);
  EXPECT_TRUE(slicer.go_on(10, at(100)));
  EXPECT_TRUE(slicer.end_slice(30, at(1100)));
  ASSERT_EQ(slicer.slices().size(), 1u);
  expect_slice(slicer.slices()[0], 20, 1000);
  EXPECT_FALSE(slicer.end_slice(35, at(2100)));
  expect_slice(slicer.slices()[1], 5, 1000);
}

TEST_F(SlicerTest, CutsByMessagesWithoutAWarmUp) {
  Slicer slicer({.warm_up_nanoseconds = 1'000'000, .slice_messages = 10, .slices = 2}, clock_,
                kStart);
  EXPECT_NE(slicer.slice(), 0u);
  EXPECT_TRUE(slicer.go_on(9, at(100'000'000)));
  EXPECT_TRUE(slicer.go_on(12, at(200'000'000)));
  ASSERT_EQ(slicer.slices().size(), 1u);
  expect_slice(slicer.slices()[0], 12, 200'000'000);
  // Ten more, from where the first ended.
  EXPECT_TRUE(slicer.go_on(21, at(300'000'000)));
  EXPECT_FALSE(slicer.go_on(22, at(300'000'000)));
  expect_slice(slicer.slices()[1], 10, 100'000'000);
}

TEST_F(SlicerTest, NeverCutsMoreSlicesThanWereAskedFor) {
  Slicer slicer({.slice_messages = 1, .slices = 3}, clock_, kStart);
  std::uint64_t completed = 0;
  do {
    ASSERT_LT(++completed, 10u);
  } while (slicer.go_on(completed, at(completed)));
  EXPECT_EQ(slicer.slices().size(), 3u);
}

}  // namespace
}  // namespace gdr::perf
