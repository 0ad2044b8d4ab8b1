#include "text/shell_word.h"

#include <gtest/gtest.h>

namespace gdr::text {
namespace {

TEST(ShellWord, QuotesWhatAShellWouldReadOtherwise) {
  EXPECT_EQ(shell_word("--rank=3"), "--rank=3");
  EXPECT_EQ(shell_word("/usr/bin/gdr"), "/usr/bin/gdr");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("$(reboot); *"), "'$(reboot); *'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace gdr::text
