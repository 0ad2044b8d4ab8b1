#include "explain/symptom_table.h"

#include <gtest/gtest.h>

#include "explain/symptom_check.h"
#include "explained.h"
#include "scratch_folder.h"

namespace gdr::explain {
namespace {

constexpr const char* kHead = "title: A site's own\nsure: certain\n";
constexpr const char* kRest =
    "\ncause\n  It is ours.\nleads to\n  Nothing.\nfix now\n  - ask us\nsources\n"
    "  https://example.org/ours (cause and fix)\n";

std::string file_with(const std::string& texts, const std::string& keys = "") {
  return kHead + keys + "texts\n" + texts + kRest;
}

std::string shown(const std::vector<Fault>& faults) {
  std::string all;
  for (const Fault& fault : faults) all += fault.shown() + "\n";
  return all;
}

// What is wrong with a folder that has this file.
std::string faults_with(const std::string& text, const std::string& path = "nccl/site-own.txt") {
  const test::ScratchFolder folder;
  folder.write(path, text);
  std::vector<Fault> faults;
  SymptomTable::with(folder.root(), faults);
  return shown(faults);
}

TEST(SymptomTable, HasNothingWrongWithItsOwn) {
  std::vector<Fault> faults;
  for (const EmbeddedFile& file : embedded_symptoms()) {
    check_symptom(read_symptom(file.path, file.text, faults), faults);
  }
  check_together(SymptomTable::built_in(), faults);
  check_seen(built_in_texts(), true, faults);
  EXPECT_EQ(shown(faults), "");
  EXPECT_EQ(SymptomTable::built_in().all().size(), embedded_symptoms().size());
  EXPECT_GE(embedded_symptoms().size(), 500u);
}

TEST(SymptomTable, FindsEachByItsId) {
  const SymptomTable& table = SymptomTable::built_in();
  for (const Symptom& symptom : table.all()) EXPECT_EQ(table.find(symptom.id), &symptom);
  EXPECT_EQ(table.find("no-such-symptom"), nullptr);
  EXPECT_EQ(table.find(""), nullptr);
}

TEST(SymptomTable, KnowsASitesOwnBesides) {
  const test::ScratchFolder folder;
  folder.write("nccl/site-own.txt", file_with("  our switch said no\n"));
  std::vector<Fault> faults;
  const SymptomTable table = SymptomTable::with(folder.root(), faults);
  EXPECT_EQ(shown(faults), "");
  ASSERT_NE(table.find("site-own"), nullptr);
  EXPECT_EQ(table.find("site-own")->site, folder.root());
  EXPECT_EQ(table.all().size(), SymptomTable::built_in().all().size() + 1);
}

TEST(SymptomTable, TakesASitesOwnInPlaceOfOurs) {
  const test::ScratchFolder folder;
  folder.write("verbs/mr-bad-address.txt", file_with("  our switch said no\n"));
  std::vector<Fault> faults;
  const SymptomTable table = SymptomTable::with(folder.root(), faults);
  EXPECT_EQ(shown(faults), "");
  EXPECT_EQ(table.find("mr-bad-address")->title, "A site's own");
  EXPECT_EQ(table.all().size(), SymptomTable::built_in().all().size());
}

TEST(SymptomTable, TellsWhatLooksForNothing) {
  EXPECT_TRUE(says(faults_with(file_with("  {nosuch} and more words\n")),
                   "nccl/site-own.txt:4: unknown word set '{nosuch}'"));
  EXPECT_TRUE(says(faults_with(file_with("  abc\n")), ":4: too short"));
  EXPECT_TRUE(says(faults_with(file_with("  two  spaces within\n")), ":4: two spaces"));
}

TEST(SymptomTable, TellsTextsThatGiveSomethingElse) {
  const test::ScratchFolder folder;
  folder.write("nccl/site-own.txt", file_with("  our switch said no\n"
                                              "seen\n  @ a/b#1\n  our switch said no\n"
                                              "  @ a/b#2\n  it said yes\n"
                                              "  @ a/b#3\n  Couldn't allocate MR with error=14\n"));
  std::vector<Fault> faults;
  const SymptomTable table = SymptomTable::with(folder.root(), faults);
  check_seen(texts_of(table), false, faults);
  EXPECT_EQ(shown(faults),
            "nccl/site-own.txt:8: no pattern knows this text\n"
            "nccl/site-own.txt:10: this text gives 'mr-bad-address'\n");
}

TEST(SymptomTable, TellsNamesThatNothingHas) {
  EXPECT_TRUE(says(faults_with(file_with("  our switch said no\n", "checks: nosuch\n")),
                   "unknown check 'nosuch'"));
  EXPECT_TRUE(says(faults_with(file_with("  our switch said no\n", "explains: nosuch\n")),
                   "explains 'nosuch', which is no symptom"));
  EXPECT_TRUE(says(faults_with(file_with("  our switch said no\n", "explains: site-own\n")),
                   "explains 'site-own', which explains it"));
  EXPECT_TRUE(says(faults_with(file_with("  our switch said no\n"), "nccl/Site.txt"), "is no id"));
}

TEST(SymptomTable, TellsTextsThatAnotherHas) {
  EXPECT_TRUE(says(faults_with(file_with("  Couldn't allocate MR with error=14\n")),
                   "verbs/mr-bad-address.txt"));
  const test::ScratchFolder folder;
  folder.write("nccl/site-own.txt", file_with("  our switch said no\n"));
  folder.write("verbs/site-own.txt", file_with("  our switch said never\n"));
  std::vector<Fault> faults;
  SymptomTable::with(folder.root(), faults);
  EXPECT_TRUE(says(shown(faults), "the same id as nccl/site-own.txt"));
}

TEST(SymptomTable, ReadsNoFolderWithoutAFileAndNoFileOfAnyLength) {
  EXPECT_TRUE(says(faults_with("", "nccl/site-own.md"), "nccl/site-own.md: not CHAPTER/ID.txt"));
  EXPECT_TRUE(says(faults_with(file_with("  our switch said no\n") + std::string(1 << 17, '\n')),
                   "longer than 64 KiB"));
  const test::ScratchFolder empty;
  std::vector<Fault> faults;
  SymptomTable::with(empty.root(), faults);
  EXPECT_TRUE(says(shown(faults), "no file CHAPTER/ID.txt")) << shown(faults);
  faults.clear();
  SymptomTable::with(empty.root() + "/absent", faults);
  EXPECT_FALSE(faults.empty());
}

}  // namespace
}  // namespace gdr::explain
