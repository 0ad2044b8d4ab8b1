#include "nccl/lines.h"

#include <gtest/gtest.h>

namespace gdr::nccl {
namespace {

struct Seen {
  std::uint64_t number;
  std::string text;
  bool whole;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> lines_of(const std::vector<std::string>& pieces) {
  std::vector<Seen> seen;
  Lines lines([&](const Line& line) {
    seen.push_back({line.number, std::string(line.text), line.whole});
  });
  for (const std::string& piece : pieces) lines.feed(piece);
  lines.finish();
  return seen;
}

TEST(NcclLines, AreTheSameInWhateverPiecesTheyArrive) {
  const std::string text = "one\n\ntwo\r\nthree\rfour\nfive";
  const std::vector<Seen> whole = lines_of({text});
  EXPECT_EQ(whole, (std::vector<Seen>{{1, "one", true},
                                      {3, "two", true},
                                      {4, "three", true},
                                      {4, "four", true},
                                      {5, "five", false}}));
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(lines_of({text.substr(0, cut), text.substr(cut)}), whole) << "cut at " << cut;
  }
}

TEST(NcclLines, HoldNoColoursAndNoControlBytes) {
  const std::string text = std::string("\x1b[1;32mgreen\x1b[0m a\tb") + '\0' + "c\x07\x7f" + "d\n";
  EXPECT_EQ(lines_of({text}), (std::vector<Seen>{{1, "green a b c  d", true}}));
  EXPECT_EQ(lines_of({"\x1b]0;title\n"}), (std::vector<Seen>{{1, "]0;title", true}}));
  EXPECT_EQ(lines_of({"\x1b[12"}), (std::vector<Seen>{{1, "", false}}));
}

TEST(NcclLines, AreCutWhereTheyAreTooLongAndSaySo) {
  const std::vector<Seen> seen = lines_of({std::string(kLongestLine, 'x') + "y\nnext\n"});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].text, std::string(kLongestLine, 'x'));
  EXPECT_FALSE(seen[0].whole);
  EXPECT_EQ(seen[1], (Seen{2, "next", true}));
  EXPECT_TRUE(lines_of({std::string(kLongestLine, 'x') + "\n"})[0].whole);
}

}  // namespace
}  // namespace gdr::nccl
