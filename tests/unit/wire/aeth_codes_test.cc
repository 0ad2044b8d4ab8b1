#include "wire/aeth_codes.h"

#include <gtest/gtest.h>

#include "wire/packet.h"

namespace gdr::wire {
namespace {

TEST(AethCodesTest, RnrWaitsAreThoseOfTable45) {
  EXPECT_EQ(rnr_wait(0), 655'360 * kMicrosecond);
  EXPECT_EQ(rnr_wait(1), 10 * kMicrosecond);
  EXPECT_EQ(rnr_wait(12), 640 * kMicrosecond);
  EXPECT_EQ(rnr_wait(14), 1'280 * kMicrosecond);
  EXPECT_EQ(rnr_wait(31), 491'520 * kMicrosecond);
}

TEST(AethCodesTest, CreditsAreThoseOfTable46AndNeverPromiseMore) {
  EXPECT_EQ(credit_code(0), 0);
  EXPECT_EQ(credit_code(5), 4);
  EXPECT_EQ(credit_code(1024), 20);
  EXPECT_EQ(credit_code(~0u), 30);
  for (std::uint32_t receives = 0; receives < 100'000; receives += receives < 100 ? 1 : 7) {
    const std::uint8_t code = credit_code(receives);
    ASSERT_NE(code, kNoCredits);
    ASSERT_LE(credits_of(code), receives);
    if (code < 30) {
      ASSERT_GT(credits_of(static_cast<std::uint8_t>(code + 1)), receives);
    }
  }
}

}  // namespace
}  // namespace gdr::wire
