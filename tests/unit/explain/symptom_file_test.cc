#include "explain/symptom_file.h"

#include <gtest/gtest.h>

namespace gdr::explain {
namespace {

constexpr std::string_view kWhole =
    "title: A NIC\n"
    "  that is away\n"
    "sure: likely\n"
    "checks: nics, port-state,\n"
    "  gpus\n"
    "explains: mr-bad-address\n"
    "\n"
    "# What follows is one program's own.\n"
    "texts\n"
    "  no NIC for you{space}\n"
    "texts in any words\n"
    "  {register} && {fails}\n"
    "together\n"
    "  the first half\n"
    "and\n"
    "  the second half\n"
    "together where nothing else fits\n"
    "  a third\n"
    "and\n"
    "  a fourth\n"
    "unless\n"
    "  all is well\n"
    "seen\n"
    "  @ owner/repository#7\n"
    "  no NIC for you today\n"
    "  @ https://example.org/page\n"
    "  {word} of no pattern\n"
    "cause\n"
    "  It is\n"
    "  away.\n"
    "leads to\n"
    "  Nothing.\n"
    "fix now\n"
    "  - `rdma link; ip link`\n"
    "  - Type `a; b`,\n"
    "    or ask\n"
    "sources\n"
    "  https://example.org/1 (cause and fix)\n"
    "  https://example.org/2 (text only)\n";

// What is wrong with `text`, a line each.
std::string faults_of(std::string_view text, std::string_view path = "verbs/nic-away.txt") {
  std::vector<Fault> faults;
  read_symptom(path, text, faults);
  std::string all;
  for (const Fault& fault : faults) all += fault.shown() + "\n";
  return all;
}

std::string with(std::string_view part, std::string_view other) {
  std::string text(kWhole);
  const std::size_t at = text.find(part);
  return at == std::string::npos ? "" : text.replace(at, part.size(), other);
}

TEST(SymptomFile, IsNamedByItsPathAndWrapsItsProse) {
  std::vector<Fault> faults;
  const Symptom symptom = read_symptom("verbs/nic-away.txt", kWhole, faults);
  EXPECT_EQ(faults_of(kWhole), "");
  EXPECT_EQ(symptom.id, "nic-away");
  EXPECT_EQ(symptom.program, Program::kPerftest);
  EXPECT_EQ(symptom.certainty, Certainty::kLikely);
  EXPECT_EQ(symptom.title, "A NIC that is away");
  EXPECT_EQ(symptom.cause, "It is away.");
  EXPECT_EQ(symptom.checks, (std::vector<std::string>{"nics", "port-state", "gpus"}));
  EXPECT_EQ(symptom.explains, std::vector<std::string>{"mr-bad-address"});
  EXPECT_EQ(symptom.unless, std::vector<std::string>{"all is well"});
}

TEST(SymptomFile, HasTextsWithTheirScopesAndPairs) {
  std::vector<Fault> faults;
  const Symptom symptom = read_symptom("verbs/nic-away.txt", kWhole, faults);
  ASSERT_EQ(symptom.texts.size(), 6u);
  EXPECT_EQ(symptom.texts[0].pattern, "no NIC for you ");
  EXPECT_EQ(symptom.texts[0].line, 10u);
  EXPECT_EQ(symptom.texts[1].scope, Scope::kGeneral);
  for (unsigned part = 1; part <= 4; ++part) EXPECT_EQ(symptom.texts[part + 1].part, part);
  EXPECT_EQ(symptom.texts[3].scope, Scope::kOwn);
  EXPECT_EQ(symptom.texts[5].scope, Scope::kLast);
}

TEST(SymptomFile, HasCommandsWhereAStepIsNothingElse) {
  std::vector<Fault> faults;
  const Symptom symptom = read_symptom("verbs/nic-away.txt", kWhole, faults);
  ASSERT_EQ(symptom.fix_now.size(), 2u);
  EXPECT_TRUE(symptom.fix_now[0].is_command);
  EXPECT_FALSE(symptom.fix_now[1].is_command);
  EXPECT_EQ(line_of(symptom.fix_now), "`rdma link; ip link`; Type `a; b`, or ask");
  EXPECT_EQ(commands_of(symptom.fix_now),
            std::vector<text::Command>{text::Command("rdma link; ip link")});
  ASSERT_EQ(symptom.sources.size(), 2u);
  EXPECT_EQ(symptom.sources[0].url, "https://example.org/1");
  EXPECT_EQ(symptom.sources[1].stated, Stated::kSymptom);
}

TEST(SymptomFile, KeepsTextsThatWereSeenBelowTheirSource) {
  std::vector<Fault> faults;
  const std::vector<SeenText> seen = read_symptom("verbs/nic-away.txt", kWhole, faults).seen;
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].source, "owner/repository#7");
  EXPECT_EQ(seen[0].text, "no NIC for you today\n");
  EXPECT_EQ(seen[1].text, "{word} of no pattern\n");
}

TEST(SymptomFile, IsTheSameWithTheEndsOfLinesOfOtherSystems) {
  std::string text;
  for (const char c : kWhole) text += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(faults_of(text), "");
}

TEST(SymptomFile, TellsTheLineOfWhatItCannotRead) {
  const auto expect_says = [](const std::string& faults, std::string_view words) {
    EXPECT_NE(faults.find(words), std::string::npos) << faults;
  };
  expect_says(faults_of(with("leads to", "leads")),
              "verbs/nic-away.txt:31: unknown section 'leads'; there are: ");
  expect_says(faults_of(with("sure: likely", "sure: yes")),
              ":3: 'yes' is neither certain, likely nor possible");
  expect_says(faults_of(with("(text only)", "(rumour)")), ":39: a source is an https address");
  expect_says(faults_of(with("https://example.org/2", "http://example.org")), ":39: a source is");
  expect_says(faults_of(with("  - `rdma", "  `rdma")), ":34: a step begins with '- '");
  expect_says(faults_of(with("together\n  the first half\n", "")),
              ":13: 'and' without 'together' before it");
  expect_says(faults_of(with("no NIC", "no\x1b[8mNIC")), ":10: a character that cannot be shown");
  expect_says(faults_of("  indented\n"),
              ":1: a line with spaces in front of it belongs to no section");
  expect_says(faults_of(kWhole, "nics/nic-away.txt"), "unknown chapter 'nics'");
}

TEST(SymptomFile, TellsWhatIsMissing) {
  const std::string faults = faults_of("texts\n");
  for (const char* part : {"title:", "sure:", "texts", "cause", "leads to", "fix now", "sources"}) {
    EXPECT_NE(faults.find("'" + std::string(part) + "' is missing"), std::string::npos) << part;
  }
  EXPECT_NE(faults_of(with("and\n  the second half\n", "")).find("'and' is missing"),
            std::string::npos);
}

TEST(SymptomFile, TakesWhateverBytesThereAre) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(3, static_cast<char>(byte));
    EXPECT_NE(faults_of("texts\n " + text + "\n" + text), "");
  }
  EXPECT_NE(faults_of(std::string(1 << 20, 'a')), "");
}

}  // namespace
}  // namespace gdr::explain
