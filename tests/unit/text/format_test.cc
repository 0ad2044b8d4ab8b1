#include "text/format.h"

#include <gtest/gtest.h>

namespace gdr::text {
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

TEST(Text, HasOneDecimalOfASizeWhereThatSaysMore) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(64 << 10), "64 KiB");
  EXPECT_EQ(size_text(81'559ull << 20), "79.6 GiB");
  EXPECT_EQ(size_text(128ull << 30), "128 GiB");
  EXPECT_EQ(size_text(3ull << 50), "3145728 GiB");
}

}  // namespace
}  // namespace gdr::text
