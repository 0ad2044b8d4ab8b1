#include "text/table.h"

#include <gtest/gtest.h>

namespace gdr::text {
namespace {

TEST(Table, HasColumnsAsWideAsTheirWidestCell) {
  EXPECT_EQ(table({{"a", "name"}, {"→→→", "x"}, {"b", "longer"}}, 2),
            "  a    name\n"
            "  →→→  x\n"
            "  b    longer\n");
}

TEST(Table, LeavesOutColumnsThatNobodyFills) {
  EXPECT_EQ(table({{"a", "MAC", "b"}, {"1", "", "2"}, {"3"}}), "a  b\n1  2\n3\n");
}

}  // namespace
}  // namespace gdr::text
