#include "net/taken_arrivals.h"

#include <gtest/gtest.h>

namespace gdr::net {
namespace {

TEST(TakenArrivals, AreOverOnceNothingIsLeft) {
  TakenArrivals taken;
  taken.ask();
  EXPECT_FALSE(taken.is_over());
  const std::uint64_t asked = taken.asked();
  taken.count(16, false, asked);
  EXPECT_FALSE(taken.is_over());
  taken.count(0, true, asked);
  EXPECT_TRUE(taken.is_over());
}

TEST(TakenArrivals, AreNotOverForWhoLookedBeforeTheQuestion) {
  TakenArrivals taken;
  const std::uint64_t asked_before = taken.asked();
  taken.ask();
  taken.count(0, true, asked_before);
  EXPECT_FALSE(taken.is_over());
}

TEST(TakenArrivals, KeepAQuestionOpenUntilItIsClosed) {
  TakenArrivals taken;
  taken.ask();
  const std::uint64_t first = taken.asked();
  taken.ask();
  EXPECT_EQ(taken.asked(), first);
  taken.close();
  taken.ask();
  EXPECT_NE(taken.asked(), first);
  taken.count(0, true, first);
  EXPECT_FALSE(taken.is_over());
}

TEST(TakenArrivals, AreOverInAFloodThatLeavesSomethingEachTime) {
  TakenArrivals taken;
  taken.count(1000, false, taken.asked());  // before the question, of which these are no part
  taken.ask();
  taken.count(TakenArrivals::kMostBacklog - 1, false, taken.asked());
  EXPECT_FALSE(taken.is_over());
  taken.count(1, false, taken.asked());
  EXPECT_TRUE(taken.is_over());
}

}  // namespace
}  // namespace gdr::net
