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

}  // namespace
}  // namespace gdr::text
