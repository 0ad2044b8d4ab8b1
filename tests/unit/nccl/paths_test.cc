#include "nccl/paths.h"

#include <gtest/gtest.h>

namespace gdr::nccl {
namespace {

Version version(int minor) { return {2, minor, 0, "2." + std::to_string(minor)}; }

TEST(NcclPaths, NameTheSameNumberAsTheVersionDoes) {
  EXPECT_EQ(path_name(version(4), 2), "PHB");
  EXPECT_EQ(path_name(version(6), 4), "PHB");
  EXPECT_EQ(path_name(version(8), 5), "PHB");
  EXPECT_EQ(path_name(version(12), 6), "PHB");
  EXPECT_EQ(path_name(version(25), 6), "PHB");
  EXPECT_EQ(path_name(version(26), 7), "PHB");
  EXPECT_EQ(path_name(version(28), 8), "PHB");
  EXPECT_EQ(path_name(version(30), 9), "SYS");
}

TEST(NcclPaths, HaveNoNameWhereTheLogDoesNotSayTheVersion) {
  EXPECT_EQ(path_name({}, 5), "");
  EXPECT_EQ(distance_name({}, 5), "5");
  EXPECT_EQ(level_for({}, 5), "SYS");
  EXPECT_EQ(default_limit({}), -1);
}

TEST(NcclPaths, HaveNoNameOutsideTheTable) {
  EXPECT_EQ(path_name(version(28), -1), "");
  EXPECT_EQ(path_name(version(28), 10), "");
  EXPECT_EQ(path_name({3, 0, 0, "3.0"}, 2), "");
}

// Until 2.5 "distance < level" was asked for, and the level was a number.
TEST(NcclPaths, AllowADistanceInTheVersionsOwnTerms) {
  EXPECT_EQ(level_for(version(4), 2), "3");
  EXPECT_EQ(level_for(version(8), 5), "PHB");
}

TEST(NcclPaths, EndByDefaultAtTheSwitch) {
  EXPECT_EQ(path_name(version(12), default_limit(version(12))), "PXB");
  EXPECT_EQ(path_name(version(28), default_limit(version(28))), "P2C");
}

}  // namespace
}  // namespace gdr::nccl
