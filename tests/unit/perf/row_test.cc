// A row's figures, from what both sides have counted.
#include <gtest/gtest.h>

#include "perf/figures.h"

namespace gdr::perf {
namespace {

constexpr std::uint64_t kMillisecondSlice = 1'000'000;

// A thread that moved so many messages in each of three milliseconds.
std::vector<Slice> steady(std::uint64_t messages) {
  return {
      {messages, kMillisecondSlice}, {messages, kMillisecondSlice}, {messages, kMillisecondSlice}};
}

class RowTest : public testing::Test {
 protected:
  void fill() {
    row_.load.size = 1000;
    fill_row(row_, near_, far_, TickClock::calibrate());
  }
  Row row_;
  CrewOutcome near_;
  Finish::Reply far_;
};

TEST_F(RowTest, IsTheSumOfAllThreadsOfBothSides) {
  near_.slices = {steady(100), steady(200)};
  far_.slices = {steady(50), {}};
  fill();
  EXPECT_DOUBLE_EQ(row_.rate->median, 350e3);
  EXPECT_DOUBLE_EQ(row_.bandwidth->median, 350e6);
  EXPECT_TRUE(row_.ports.empty());
}

TEST_F(RowTest, OfSeveralPortsSaysWhatTheThreadsOfEachHad) {
  row_.load.ports = 2;
  near_.slices = {steady(100), steady(200), steady(50)};  // of ports 0, 1, 0
  far_.slices = {steady(10), steady(40), {}};
  fill();
  EXPECT_DOUBLE_EQ(row_.rate->median, 400e3);
  ASSERT_EQ(row_.ports.size(), 2u);
  EXPECT_DOUBLE_EQ(row_.ports[0].rate, 160e3);
  EXPECT_DOUBLE_EQ(row_.ports[0].bandwidth, 160e6);
  EXPECT_DOUBLE_EQ(row_.ports[0].share, 0.4);
  EXPECT_DOUBLE_EQ(row_.ports[1].share, 0.6);
}

TEST_F(RowTest, CountsWhatWasLostInNoPort) {
  row_.load.ports = 2;
  row_.load.transport = Transport::kUc;
  near_.slices = {steady(100), steady(100)};
  near_.sent = 1000;
  near_.lost = 250;
  fill();
  EXPECT_DOUBLE_EQ(row_.rate->median, 150e3);
  EXPECT_DOUBLE_EQ(row_.ports[0].rate, 75e3);
  EXPECT_DOUBLE_EQ(row_.ports[1].share, 0.5);
}

}  // namespace
}  // namespace gdr::perf
