#include "explain/symptom.h"

#include <gtest/gtest.h>

namespace gdr::explain {
namespace {

using Commands = std::vector<text::Command>;

TEST(Steps, AreCommandsWhereNothingButACommandStands) {
  EXPECT_EQ(commands_of("`ip link`; `rdma link`; the interface must be in both; `rdma system`"),
            (Commands{text::Command("ip link"), text::Command("rdma link"),
                      text::Command("rdma system")}));
}

TEST(Steps, LeaveACommandWithinASentenceAsProse) {
  const std::vector<Step> steps = steps_of("Type `a; b` or ask; `c`");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].text, "Type `a; b` or ask");
  EXPECT_FALSE(steps[0].is_command);
  EXPECT_EQ(steps[1].text, "c");
  EXPECT_TRUE(steps[1].is_command);
}

TEST(Steps, KeepASemicolonWithinACommand) {
  EXPECT_EQ(commands_of("`cd x; make`"), Commands{text::Command("cd x; make")});
}

TEST(Steps, AreNoneOfAnEmptyFix) { EXPECT_TRUE(steps_of("").empty()); }

}  // namespace
}  // namespace gdr::explain
