#include "base/environment.h"

#include <gtest/gtest.h>

namespace gdr {
namespace {

TEST(ParseNumber, AcceptsDecimalAndHexadecimal) {
  EXPECT_EQ(*parse_number("42", 0, 100), 42u);
  EXPECT_EQ(*parse_number("0x2a", 0, 100), 42u);
}

TEST(ParseNumber, RefusesTextAroundTheNumber) {
  for (const char* text : {"", "0x", " 1", "1 ", "-1", "1k", "+1"}) {
    Result<std::uint64_t> value = parse_number(text, 0, 100);
    ASSERT_FALSE(value) << "'" << text << "'";
    EXPECT_EQ(value.error().code, EINVAL);
  }
}

TEST(ParseNumber, NamesTheRangeWhenOutsideIt) {
  Result<std::uint64_t> value = parse_number("101", 1, 100);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ERANGE);
  EXPECT_EQ(value.error().message, "'101' is outside 1..100");
}

TEST(ParseNumber, RefusesNumbersOfMoreThan64Bits) {
  EXPECT_EQ(parse_number("18446744073709551616", 0, UINT64_MAX).error().code, ERANGE);
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,b,,c", ','), (std::vector<std::string_view>{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

}  // namespace
}  // namespace gdr
