#include "manual/mdoc.h"

#include <gtest/gtest.h>

namespace gdr::manual {
namespace {

std::string prose(std::string_view text) {
  Mdoc out;
  out.prose(text);
  return out.take();
}

TEST(Mdoc, KeepsDashesAndBackslashes) { EXPECT_EQ(escape("--a \\n"), "\\-\\-a \\en"); }

TEST(Mdoc, QuotesAnArgumentOfSeveralWords) {
  EXPECT_EQ(argument("two words"), "\"two words\"");
  EXPECT_EQ(argument("say \"x\" now"), "\"say \\(dqx\\(dq now\"");
}

TEST(Mdoc, KeepsAShortArgumentFromBeingAMacro) {
  EXPECT_EQ(argument("Ar"), "\\&Ar");
  EXPECT_EQ(argument("0"), "\\&0");
}

TEST(Mdoc, BeginsEachSentenceOnALineOfItsOwn) {
  EXPECT_EQ(prose("One. Two? Three"), "One.\nTwo?\nThree\n");
  EXPECT_EQ(prose("pack it ... and go on"), "pack it ... and go on\n");
  EXPECT_EQ(prose("allowed: this"), "allowed: this\n");
}

TEST(Mdoc, BreaksLongLinesBetweenWords) {
  const std::string text = prose(std::string(70, 'a') + " " + std::string(70, 'b'));
  EXPECT_EQ(text, std::string(70, 'a') + "\n" + std::string(70, 'b') + "\n");
}

TEST(Mdoc, TakesNoLineOfTextForARequest) {
  EXPECT_EQ(prose(".so /etc/passwd"), "\\&.so /etc/passwd\n");
  EXPECT_EQ(prose("'quoted' first"), "\\&'quoted' first\n");
  Mdoc out;
  out.literal({".hidden"});
  EXPECT_EQ(out.take(), ".Bd -literal -offset indent\n\\&.hidden\n.Ed\n");
}

}  // namespace
}  // namespace gdr::manual
