#include "explain/pattern.h"

#include <gtest/gtest.h>

namespace gdr::explain {
namespace {

bool matches(const char* pattern, std::string_view line) { return Pattern(pattern).matches(line); }

TEST(Pattern, IsFoundAnywhereInALine) {
  EXPECT_TRUE(matches("Bad address", "ERRNO: Bad address."));
  EXPECT_FALSE(matches("Bad address", "ERRNO: bad address."));
  EXPECT_FALSE(matches("Bad address", ""));
}

TEST(Pattern, KeepsItsPartsInTheirOrder) {
  EXPECT_TRUE(matches("Got completion{}error 12,", "Got completion from a with error 12, opcode"));
  EXPECT_TRUE(matches("Got completion{} error 12,", "Got completion error 12,"));
  EXPECT_FALSE(matches("Got completion{}error 12,", "error 12, Got completion"));
}

TEST(Pattern, TakesANumberForANumberOnly) {
  EXPECT_TRUE(matches("(distance {number} > {number})", "HCA 0 (distance 7 > 4)"));
  EXPECT_FALSE(matches("(distance {number} > {number})", "(distance x > 4)"));
  EXPECT_FALSE(matches("(distance {number} > {number})", "(distance  > 4)"));
  EXPECT_FALSE(matches("(distance {number} > {number})", "(distance 7"));
}

TEST(Pattern, TakesAWordForSomethingWithoutSpaces) {
  EXPECT_TRUE(matches("HCA {number} '{word}'", "HCA 12 'mlx5_bond_0'"));
  EXPECT_FALSE(matches("HCA {number} '{word}'", "HCA 12 'two words'"));
  EXPECT_FALSE(matches("HCA {number} '{word}'", "HCA 12 ''"));
  EXPECT_TRUE(matches("open device {word}", "Unable to open device mlx5_0"));
  EXPECT_FALSE(matches("open device {word}", "Unable to open device "));
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

TEST(Pattern, AnchorIsItsLongestLiteral) {
  EXPECT_EQ(Pattern("MR {number} cannot be allocated: {word} x").anchor(),
            " cannot be allocated: ");
}

TEST(Pattern, IsShownWithItsHolesAsDots) {
  EXPECT_EQ(Pattern("HCA {number} '{word}'{}off").shown(), "HCA … '…'…off");
}

TEST(OneSpaced, LeavesOneSpaceBetweenWords) {
  std::string buffer;
  EXPECT_EQ(one_spaced("  nvidia_peermem      16384  0 ", buffer), "nvidia_peermem 16384 0");
  EXPECT_EQ(one_spaced("as it is", buffer), "as it is");
  EXPECT_EQ(one_spaced("     ", buffer), "");
  EXPECT_EQ(one_spaced("", buffer), "");
}

}  // namespace
}  // namespace gdr::explain
