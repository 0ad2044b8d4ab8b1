#include "text/wrap.h"

#include <gtest/gtest.h>

namespace gdr::text {
namespace {

TEST(Wrap, LeavesALineThatFitsAndEveryLineInAPipe) {
  const std::string line(80, 'x');
  EXPECT_EQ(wrap(line, 80, 4), line);
  const std::string longer = line + " word";
  EXPECT_EQ(wrap(longer, 0, 4), longer);
}

TEST(Wrap, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrap("one two three four five six seven eight nine ten", 40, 2),
            "one two three four five six seven eight\n  nine ten");
}

TEST(Wrap, KeepsAFieldWholeWhereALineCanHoldIt) {
  EXPECT_EQ(wrap("  NIC mlx5_0  GID fe80::1  100 Gb/s  in state active", 40, 6),
            "  NIC mlx5_0  GID fe80::1  100 Gb/s\n      in state active");
}

TEST(Wrap, BreaksAFieldThatNoLineCanHold) {
  EXPECT_EQ(wrap("  ok  a reason that goes on and on and on until it ends at last", 40, 6),
            "  ok  a reason that goes on and on and\n      on until it ends at last");
}

TEST(Wrap, LeavesAWordThatNoLineCanHoldInOnePiece) {
  const std::string path(60, 'p');
  EXPECT_EQ(wrap("see " + path + " there", 40, 2), "see\n  " + path + "\n  there");
}

TEST(Wrap, CountsCharactersAndNotTheirBytesNorColours) {
  EXPECT_EQ(screen_width("host → GPU"), 10u);
  EXPECT_EQ(screen_width("\x1b[32mok\x1b[0m"), 2u);
  const std::string line = "\x1b[1m→→→→→→→→→→→→→→→→→→→ →→→→→→→→→→→→→→→→→→→→\x1b[0m";
  EXPECT_EQ(wrap(line, 40, 2), line);
}

TEST(Wrap, GivesUpInAWindowTooNarrowForWords) {
  EXPECT_EQ(wrap("some words that go on", 10, 2), "some words that go on");
}

TEST(WrapLines, BreaksEachLineByItself) {
  EXPECT_EQ(wrap_lines("one two three four five six seven eight nine\n\nten", 40, 2),
            "one two three four five six seven eight\n  nine\n\nten\n");
  EXPECT_EQ(wrap_lines("", 40, 2), "");
}

}  // namespace
}  // namespace gdr::text
