#include "rsockets/credits.h"

#include <gtest/gtest.h>

namespace gdr::rsockets {
namespace {

TEST(RsocketCredits, StopTheSenderWhenThePeersQueueIsFull) {
  SendCredits credits(16);
  for (int i = 0; i < 16; ++i) {
    ASSERT_GT(credits.left(), 0);
    credits.spend();
  }
  EXPECT_EQ(credits.left(), 0);
  ASSERT_TRUE(credits.grant(20));
  EXPECT_EQ(credits.left(), 4);
}

TEST(RsocketCredits, RefuseAGrantBeyondThePeersQueue) {
  SendCredits credits(16);
  EXPECT_FALSE(credits.grant(17));
  credits.spend();
  EXPECT_TRUE(credits.grant(17));
}

TEST(RsocketCredits, RefuseAGrantThatTakesBack) {
  SendCredits credits(16);
  EXPECT_FALSE(credits.grant(15));
  EXPECT_FALSE(credits.grant(0xFFFF));
}

TEST(RsocketCredits, FlowOverTheWrapOfTheSequenceNumber) {
  SendCredits out(384);
  ReceiveCredits in(384);
  for (int message = 0; message < 200'000; ++message) {
    ASSERT_GT(out.left(), 0) << message;
    out.spend();
    in.consumed();
    if (in.due()) {
      ASSERT_TRUE(out.grant(in.announce())) << message;
    }
  }
}

TEST(RsocketCredits, AreDueWhenHalfOfTheQueueWasConsumed) {
  ReceiveCredits in(16);
  for (int i = 0; i < 7; ++i) in.consumed();
  EXPECT_FALSE(in.due());
  in.consumed();
  EXPECT_TRUE(in.due());
  EXPECT_EQ(in.announce(), 24);
  EXPECT_FALSE(in.due());
}

TEST(RsocketCredits, LendFourControlSlotsInTurn) {
  ControlSlots slots;
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(slots.take(), i);
  EXPECT_FALSE(slots.available());
  slots.give_back();
  EXPECT_TRUE(slots.available());
  EXPECT_EQ(slots.take(), 0U);
  for (int i = 0; i < 5; ++i) slots.give_back();
  EXPECT_TRUE(slots.idle());
}

}  // namespace
}  // namespace gdr::rsockets
