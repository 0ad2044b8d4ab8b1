#include "tool/text.h"

#include <gtest/gtest.h>

namespace gdr::tool {
namespace {

TEST(Text, IsPaddedByColumnsAndNotByBytes) {
  EXPECT_EQ(pad("µs", 4), "µs  ");
  EXPECT_EQ(pad_left("µs", 4), "  µs");
  EXPECT_EQ(pad("too long", 4), "too long");
  EXPECT_EQ(pad_left("too long", 4), "too long");
}

TEST(Text, CountsOneInTheSingular) {
  EXPECT_EQ(plural(1, "row"), "1 row");
  EXPECT_EQ(plural(0, "row"), "0 rows");
}

TEST(Text, OfOthersHasNoControlCharacters) {
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f"), "a b c [2J ");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            " 31m")
      << "a control character of two bytes";
  EXPECT_EQ(printable("µ → 𝛑"), "µ → 𝛑");
}

TEST(Text, OfOthersIsUtf8) {
  EXPECT_EQ(printable("\xff\xc2"), "??");
  EXPECT_EQ(printable("\xc0\xaf"), "??") << "longer than it needs to be";
  EXPECT_EQ(printable("\xe0\x80\xaf\xf0\x80\x80\xaf"), "???????");
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80\xf5"), "?????") << "above U+10FFFF";
  EXPECT_EQ(printable("\xe2\x82"), "??") << "cut off";
}

}  // namespace
}  // namespace gdr::tool
