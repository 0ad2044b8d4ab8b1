#include "explain/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gdr::explain {
namespace {

bool matches(const char* pattern, std::string_view line) {
  std::string buffer;
  return Pattern(pattern).matches(folded(line, buffer));
}

TEST(Pattern, IsFoundAnywhereInALine) {
  EXPECT_TRUE(matches("Bad address", "ERRNO: Bad address."));
  EXPECT_FALSE(matches("Bad address", "ERRNO: Badaddress"));
  EXPECT_FALSE(matches("Bad address", ""));
}

TEST(Pattern, TakesNoNoticeOfCapitalsQuotesAndWideSpaces) {
  EXPECT_TRUE(matches("Bad address", "errno:  BAD   ADDRESS"));
  EXPECT_TRUE(matches("could not insert '{word}'", "could not insert \"nvidia_peermem\""));
  EXPECT_TRUE(matches("could not insert '{word}'", "could not insert \\\"nvidia_peermem\\\""));
  EXPECT_TRUE(matches("could not insert '{word}'",
                      "could not insert \xe2\x80\x98nvidia_peermem\xe2\x80\x99"));
  EXPECT_TRUE(matches("\"false\"", "have_driver_gdr 'false'"));
}

TEST(Pattern, KeepsItsPartsInTheirOrder) {
  EXPECT_TRUE(matches("Got completion{}error 12,", "Got completion from a with error 12, opcode"));
  EXPECT_TRUE(matches("Got completion{} error 12,", "Got completion error 12,"));
  EXPECT_FALSE(matches("Got completion{}error 12,", "error 12, Got completion"));
}

TEST(Pattern, TakesPhrasesInEitherOrder) {
  EXPECT_TRUE(matches("error 12 && Got completion", "error 12, Got completion"));
  EXPECT_TRUE(matches("error 12 && Got completion", "Got completion with error 12"));
  EXPECT_FALSE(matches("error 12 && Got completion", "Got completion with error 13"));
}

TEST(Pattern, TakesANumberForANumberOnly) {
  EXPECT_TRUE(matches("(distance {number} > {number})", "HCA 0 (distance 7 > 4)"));
  EXPECT_FALSE(matches("(distance {number} > {number})", "(distance x > 4)"));
  EXPECT_FALSE(matches("(distance {number} > {number})", "(distance  > 4)"));
  EXPECT_FALSE(matches("(distance {number} > {number})", "(distance 7"));
}

TEST(Pattern, TellsZeroFromOtherNumbers) {
  EXPECT_TRUE(matches("out_of_sequence: {above-zero}", "out_of_sequence: 10"));
  EXPECT_FALSE(matches("out_of_sequence: {above-zero}", "out_of_sequence: 0"));
  EXPECT_FALSE(matches("out_of_sequence: {above-zero}", "out_of_sequence: 000"));
}

TEST(Pattern, TakesAWordForSomethingWithoutSpaces) {
  EXPECT_TRUE(matches("HCA {number} '{word}'", "HCA 12 'mlx5_bond_0'"));
  EXPECT_FALSE(matches("HCA {number} '{word}'", "HCA 12 'two words'"));
  EXPECT_FALSE(matches("HCA {number} '{word}'", "HCA 12 ''"));
  EXPECT_TRUE(matches("open device {word}", "Unable to open device mlx5_0"));
  EXPECT_FALSE(matches("open device {word}", "Unable to open device "));
}

TEST(Pattern, TakesOneIdeaInTheWordsOfManyPrograms) {
  for (const char* line :
       {"ibv_reg_mr failed: Bad address", "Failed to register memory 0x7f00: Bad address [14]",
        "unable to register memory region, errno 14", "ibv_reg_mr returned NULL, ret = -14",
        "Couldn't register MR (EFAULT)"}) {
    EXPECT_TRUE(matches("{register} && {fails} && {EFAULT}", line)) << line;
  }
  EXPECT_FALSE(matches("{register} && {fails} && {EFAULT}", "failed to deregister memory: EFAULT"));
  EXPECT_FALSE(matches("{register} && {fails} && {EFAULT}", "ibv_reg_mr failed after 14 tries"));
}

TEST(Pattern, TriesALaterPlaceWhereTheFirstDoesNotFit) {
  EXPECT_TRUE(matches("error {number},", "error x, error 4, error"));
  EXPECT_TRUE(matches("MR{end}", "MR and again MR"));
}

TEST(Pattern, StopsAtTheEndOfTheLineWhereItSaysSo) {
  EXPECT_TRUE(matches("Couldn't allocate MR{end}", "Couldn't allocate MR"));
  EXPECT_FALSE(matches("Couldn't allocate MR{end}", "Couldn't allocate MR with error=14"));
}

TEST(Pattern, BoundsWhatAHoleTakes) {
  EXPECT_TRUE(matches("a{word}b", "a" + std::string(100, 'x') + "b"));
  EXPECT_FALSE(matches("a{word}b", "a" + std::string(1000, 'x') + "b"));
  EXPECT_FALSE(matches("a{number}b", "a" + std::string(1000, '1') + "b"));
}

// A line is searched for one of them before the pattern is tried.
TEST(Pattern, NeedsItsLiteralsAndOneWordOfEachSetWithoutNumbers) {
  const auto needs = [](const Pattern& pattern) {
    std::vector<std::vector<std::string>> lists;
    for (const auto& need : pattern.needs()) lists.emplace_back(need.begin(), need.end());
    return lists;
  };
  using Lists = std::vector<std::vector<std::string>>;
  EXPECT_EQ(needs(Pattern("MR {number} cannot be allocated: {word} X")),
            (Lists{{"mr "}, {" cannot be allocated: "}, {" x"}}));
  EXPECT_EQ(needs(Pattern("{queue} && {EFAULT}")), Lists{find_word_set("queue")->words()});
  EXPECT_EQ(needs(Pattern("{EFAULT}")), Lists{});
}

TEST(Pattern, ShowsHolesAsDotsAndWordSetsByTheirFirstWord) {
  EXPECT_EQ(Pattern("HCA {number} '{word}'{}off").shown(), "HCA … '…'…off");
  EXPECT_NE(Pattern("{queue} && {fails}").shown().find("<ibv_create_qp>"), std::string::npos);
}

TEST(OneSpaced, LeavesOneSpaceBetweenWords) {
  std::string buffer;
  EXPECT_EQ(one_spaced("  nvidia_peermem      16384  0 ", buffer), "nvidia_peermem 16384 0");
  EXPECT_EQ(one_spaced("as it is", buffer), "as it is");
  EXPECT_EQ(one_spaced("     ", buffer), "");
  EXPECT_EQ(one_spaced("", buffer), "");
}

TEST(SetsOfLine, AnswersForTheLineThatItWasBegunWith) {
  const Pattern pattern("{register} && {fails}");
  SetsOfLine sets;
  sets.begin("ibv_reg_mr failed");
  EXPECT_TRUE(pattern.matches("ibv_reg_mr failed", sets));
  EXPECT_TRUE(Pattern("{fails}{end}").matches("ibv_reg_mr fail", sets));
  sets.begin("ibv_reg_mr returned");
  EXPECT_FALSE(pattern.matches("ibv_reg_mr returned", sets));
  sets.begin("ibv_reg_mr failed");
  EXPECT_TRUE(pattern.matches("ibv_reg_mr failed", sets));
}

}  // namespace
}  // namespace gdr::explain
