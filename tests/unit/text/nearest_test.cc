#include "text/nearest.h"

#include <gtest/gtest.h>

namespace gdr::text {
namespace {

using Words = std::vector<std::string>;

TEST(EditDistance, CountsLettersToChangeInsertLeaveOutAndSwap) {
  EXPECT_EQ(edit_distance("prove", "prove"), 0u);
  EXPECT_EQ(edit_distance("prove", "prov"), 1u);
  EXPECT_EQ(edit_distance("prov", "prove"), 1u);
  EXPECT_EQ(edit_distance("sise", "size"), 1u);
  EXPECT_EQ(edit_distance("prvoe", "prove"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, IsWhatWasMeant) {
  EXPECT_EQ(nearest("prov", {"perf", "prove", "topo"}), Words{"prove"});
  EXPECT_EQ(nearest("--sise", {"--sizes", "--soft"}), Words{"--sizes"});
  EXPECT_EQ(nearest("--softnic", {"--soft-nic", "--no-soft-nic"}), Words{"--soft-nic"});
  EXPECT_EQ(nearest("--JSON", {"--json"}), Words{"--json"});
}

TEST(Nearest, IsAllThatAreEquallyNear) {
  EXPECT_EQ(nearest("--soft", {"--pcap", "--soft-nic", "--soft-gpu"}),
            (Words{"--soft-nic", "--soft-gpu"}));
}

TEST(Nearest, IsNothingWhereNothingIsNear) {
  EXPECT_EQ(nearest("telepathy", {"prove", "topo", "perf"}), Words{});
  EXPECT_EQ(nearest("-x", {"-q", "-v", "--xx"}), Words{});
  EXPECT_EQ(nearest("", {"prove"}), Words{});
  EXPECT_EQ(nearest(std::string(100000, 'a'), {std::string(100000, 'a')}), Words{});
}

}  // namespace
}  // namespace gdr::text
