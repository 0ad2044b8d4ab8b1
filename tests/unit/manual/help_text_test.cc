#include "manual/help_text.h"

#include <gtest/gtest.h>

namespace gdr::manual {
namespace {

TEST(Described, PutsADescriptionBesideAShortName) {
  EXPECT_EQ(described("--json", "Print it", 80), "  --json                   Print it\n");
}

TEST(Described, PutsItBelowALongOneAndIndentsEveryLine) {
  EXPECT_EQ(described("--a-name-that-is-very-long", "one two three", 60),
            "  --a-name-that-is-very-long\n"
            "                           one two three\n");
  EXPECT_EQ(described("--a-name-that-is-very-long", "descriptions may go on for several lines", 60),
            "  --a-name-that-is-very-long\n"
            "                           descriptions may go on for\n"
            "                           several lines\n");
}

TEST(Described, UsesHalfOfANarrowTerminal) {
  EXPECT_EQ(described("--json", "one two three four five", 40),
            "  --json            one two three four\n"
            "                    five\n");
}

TEST(HelpFooter, KeepsCommandsWholeAndNotesInAColumn) {
  const Page page{.name = "gdr x",
                  .exit_status = {{"0", "done"}, {"126", "not executable"}},
                  .examples = {{"gdr x", "first"},
                               {"gdr x --with-an-option-that-is-long --and-another one", "second"},
                               {"gdr x --short", "third"}}};
  EXPECT_EQ(help_footer(page, 60),
            "Exit status:\n"
            "  0    done\n"
            "  126  not executable\n"
            "\n"
            "Examples:\n"
            "  gdr x          first\n"
            "  gdr x --with-an-option-that-is-long --and-another one\n"
            "                 second\n"
            "  gdr x --short  third\n");
}

TEST(UsageText, PutsNotesInAColumn) {
  const Page page{
      .name = "gdr x",
      .usages = {{"gdr x [OPTIONS]", "here"}, {"gdr x --server [OPTIONS]", "there"}, {"gdr x y"}}};
  EXPECT_EQ(usage_text(page, 80),
            "Usage: gdr x [OPTIONS]             here\n"
            "       gdr x --server [OPTIONS]    there\n"
            "       gdr x y\n");
}

}  // namespace
}  // namespace gdr::manual
