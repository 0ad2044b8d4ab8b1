#include "text/csv_cell.h"

#include <gtest/gtest.h>

namespace gdr::text {
namespace {

TEST(CsvCell, QuotesOnlyWhatWouldEndIt) {
  EXPECT_EQ(csv_cell("mlx5_0"), "mlx5_0");
  EXPECT_EQ(csv_cell(""), "");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("2, \"far\""), "\"2, \"\"far\"\"\"");
}

TEST(CsvCell, BreaksNoLineAndMovesNoCursor) { EXPECT_EQ(csv_cell("a\nb\x1b[2J"), "a b [2J"); }

}  // namespace
}  // namespace gdr::text
