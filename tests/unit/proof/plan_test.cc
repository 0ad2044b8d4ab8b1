#include "proof/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gdr::proof {
namespace {

TEST(ParseSizes, UnderstandsUnitsAndSmallChanges) {
  Result<std::vector<std::uint64_t>> sizes = parse_sizes("1M+13,1,64K,1M-1,1");
  ASSERT_TRUE(sizes);
  EXPECT_EQ(*sizes, (std::vector<std::uint64_t>{1, 65536, 1048575, 1048589}));
}

TEST(ParseSizes, NamesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "0", "x", "1,,2", "K", "-1", "1-1", "1G+1", "2G", "1.5M", "1 ",
                           "99999999999999999999"}) {
    Result<std::vector<std::uint64_t>> sizes = parse_sizes(text);
    ASSERT_FALSE(sizes) << text;
    EXPECT_EQ(sizes.error().code, EINVAL);
    EXPECT_NE(sizes.error().message.find("allowed: 1 to 1G"), std::string::npos);
  }
}

TEST(DefaultSizes, ReachFromOneByteTo64MiBAndStraddlePowersOfTwo) {
  const auto sizes = default_sizes();
  EXPECT_EQ(sizes.front(), 1u);
  EXPECT_EQ(sizes.back(), 64u << 20);
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  for (std::uint64_t size : {63, 64, 65, 4095, 4097, 65535, 65537}) {
    EXPECT_NE(std::find(sizes.begin(), sizes.end(), size), sizes.end()) << size;
  }
}

TEST(PlanCases, TriesTheLimitOnceWhereSizesGoBeyondIt) {
  const std::uint64_t sizes[] = {1, 100, 5000, 6000};
  const auto cases = plan_cases({}, sizes, {18, 1472});
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].size, 18u);
  EXPECT_EQ(cases[1].size, 100u);
  EXPECT_EQ(cases[2].size, 1472u);
}

TEST(PlanCases, UsesOddOffsetsThatDifferBetweenTheSidesAndStayInTheirRoom) {
  const auto cases = plan_cases({}, default_sizes(), {});
  EXPECT_TRUE(
      std::any_of(cases.begin(), cases.end(), [](const Case& c) { return c.target_offset % 2; }));
  EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [](const Case& c) {
    return c.source_offset % 8 != c.target_offset % 8;
  }));
  for (const Case& c : cases) EXPECT_LT(std::max(c.source_offset, c.target_offset), kLargestOffset);
}

TEST(SizeText, IsShortAndExact) {
  EXPECT_EQ(size_text(1), "1 B");
  EXPECT_EQ(size_text(4097), "4097 B");
  EXPECT_EQ(size_text(65536), "64 KiB");
  EXPECT_EQ(size_text(1 << 30), "1 GiB");
  EXPECT_EQ(size_text((1 << 20) + 13), "1 MiB + 13 B");
  EXPECT_EQ(size_text((1 << 20) - 1), "1048575 B");
}

}  // namespace
}  // namespace gdr::proof
