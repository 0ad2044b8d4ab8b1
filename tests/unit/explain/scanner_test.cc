#include "explain/scanner.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace gdr::explain {
namespace {

std::set<std::size_t> found(const Scanner& scanner, std::string_view line) {
  std::set<std::size_t> words;
  scanner.scan(line, [&](std::size_t word) { words.insert(word); });
  return words;
}

using Words = std::set<std::size_t>;

GramCounts prose(std::string_view text) {
  GramCounts counts;
  counts.add(text);
  return counts;
}

TEST(GramCounts, FindThePartOfAWordThatProseHasLeast) {
  const GramCounts counts = prose("memory of a peer, memory of another");
  EXPECT_EQ(counts.rarest("memory").times, 2u);
  EXPECT_EQ(counts.rarest("memory_peers").at, 3u);
  EXPECT_EQ(counts.rarest("memory_peers").times, 0u);
  EXPECT_EQ(counts.rarest("peer").times, 1u);
}

TEST(Scanner, FindsEachWordThatALineHas) {
  const Scanner scanner({"peermem", "memory", "MR"}, {});
  EXPECT_EQ(found(scanner, "nvidia_peermem and memory"), (Words{0, 1}));
  EXPECT_EQ(found(scanner, "MR"), Words{2});
  EXPECT_EQ(found(scanner, "peer memor M R"), Words{});
}

TEST(Scanner, FindsWordsInsideAndAcrossEachOther) {
  const Scanner scanner({"he", "she", "his", "hers", "she", "usher"}, {});
  EXPECT_EQ(found(scanner, "ushers"), (Words{0, 1, 3, 4, 5}));
  EXPECT_EQ(found(scanner, "hishe"), (Words{0, 1, 2, 4}));
}

TEST(Scanner, TakesBytesOfEveryValue) {
  const Scanner scanner({std::string("\x00\xff\x80\x00", 4), "…"}, {});
  EXPECT_EQ(found(scanner, std::string("a\x00\xff\x80\x00z", 6)), Words{0});
  EXPECT_EQ(found(scanner, "and …"), Words{1});
}

TEST(Scanner, AgreesWithSearchingForEachWordByItself) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto text = [&](std::size_t longest) {
      std::string word(1 + random() % longest, ' ');
      for (char& c : word) c = static_cast<char>('a' + random() % 3);
      return word;
    };
    std::vector<std::string> words;
    for (int i = 0; i < 8; ++i) words.push_back(text(9));
    const std::string line = text(60);
    Words expected;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (line.find(words[i]) != std::string::npos) expected.insert(i);
    }
    // Whichever part of a word is held for the rare one.
    EXPECT_EQ(found(Scanner(words, prose(text(60))), line), expected) << line;
  }
}

}  // namespace
}  // namespace gdr::explain
