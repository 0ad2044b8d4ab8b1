#include "fix/journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_host.h"

namespace gdr::fix {
namespace {

Record record(const std::string& target) {
  return {.kind = kAccessControl,
          .target = target,
          .identity = "10b5:8749",
          .path = "sys/devices/pci0000:00/" + target,
          .offset = 0x170,
          .old_value = "0x001d",
          .new_value = "0x0011",
          .boot = "boot-a",
          .time = "2026-11-22T11:18:40Z"};
}

TEST(JournalText, HoldsEveryFieldOfARecord) {
  Record whole = record("0000:18:00.0");
  whole.old_value = std::nullopt;
  whole.new_value = "two\nlines\n";
  const JournalContent content =
      parse_journal(journal_line(7, whole) + journal_line(7, State::kDone));
  ASSERT_EQ(content.entries.size(), 1u);
  EXPECT_EQ(content.entries[0].id, 7u);
  EXPECT_EQ(content.entries[0].record, whole);
  EXPECT_EQ(content.entries[0].state, State::kDone);
  EXPECT_TRUE(content.not_understood.empty());
}

TEST(JournalText, CutAtAnyByteIsWhatWasWholeBefore) {
  const std::string first = journal_line(1, record("0000:18:00.0"));
  const std::string text =
      first + journal_line(1, State::kDone) + journal_line(2, record("0000:18:01.0"));
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const JournalContent content = parse_journal(text.substr(0, size));
    EXPECT_TRUE(content.not_understood.empty()) << size;
    EXPECT_EQ(content.entries.size(), size == text.size() ? 2u : size >= first.size() ? 1u : 0u);
    EXPECT_EQ(content.torn, size > 0 && text[size - 1] != '\n') << size;
  }
}

TEST(JournalText, NamesTheLinesThatItDoesNotUnderstand) {
  const std::string good = journal_line(1, record("0000:18:00.0"));
  for (const std::string bad :
       {"", "null", "[]", "{}", "{\"gdr_fix\":1}", "{\"gdr_fix\":2,\"id\":3,\"state\":\"done\"}",
        "{\"gdr_fix\":1,\"id\":9,\"state\":\"done\"}", "{\"gdr_fix\":1,\"id\":1,\"state\":\"odd\"}",
        "{\"gdr_fix\":1,\"id\":-1}", "{\"gdr_fix\":1,\"id\":4294967296,\"kind\":\"x\"}",
        "{\"gdr_fix\":1,\"id\":4294967295,\"state\":\"done\"}", "\xff\xfe"}) {
    const JournalContent content = parse_journal(good + bad + "\n" + journal_line(1, State::kDone));
    EXPECT_EQ(content.not_understood, std::vector<unsigned>{2}) << bad;
    ASSERT_EQ(content.entries.size(), 1u) << bad;
    EXPECT_EQ(content.entries[0].state, State::kDone) << bad;
  }
  EXPECT_EQ(parse_journal(good + good).not_understood, std::vector<unsigned>{2});
}

TEST(JournalText, IsNotNestedWithoutEnd) {
  const std::string deep = "{\"gdr_fix\":1,\"id\":1,\"kind\":" + std::string(200'000, '[') + "\n";
  EXPECT_EQ(parse_journal(deep).not_understood.size(), 1u);
  const std::string less = "{\"gdr_fix\":1,\"id\":1,\"kind\":" + std::string(30'000, '[') + "\n";
  EXPECT_EQ(parse_journal(less).not_understood.size(), 1u);
}

class JournalFile : public testing::Test {
 protected:
  Result<Journal> open() { return Journal::open(host_.journal()); }
  std::string file() const { return host_.text("var/lib/gdrkit/fix/journal"); }

  FakeHost host_;
};

TEST_F(JournalFile, HoldsOneGdrFixAtATime) {
  const Result<Journal> first = open();
  ASSERT_TRUE(first);
  const Result<Journal> second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EBUSY);
  EXPECT_EQ(second.error().message.find('\n'), std::string::npos);
}

TEST_F(JournalFile, IsThereForTheNext) {
  {
    Result<Journal> journal = open();
    ASSERT_TRUE(journal);
    EXPECT_EQ(*journal->begin(record("0000:18:00.0")), 1u);
    EXPECT_EQ(*journal->begin(record("0000:18:01.0")), 2u);
    ASSERT_TRUE(journal->mark(1, State::kUndone));
  }
  Result<Journal> journal = open();
  ASSERT_TRUE(journal);
  ASSERT_EQ(journal->entries().size(), 2u);
  EXPECT_EQ(journal->entries()[0].state, State::kUndone);
  ASSERT_TRUE(journal->tidy());
  EXPECT_EQ(file(), journal_line(2, record("0000:18:01.0")));
  EXPECT_EQ(*journal->begin(record("0000:18:02.0")), 3u) << "written to the new file";
  EXPECT_EQ(read_journal(host_.journal())->entries.size(), 2u);
}

TEST_F(JournalFile, GoesOnBehindATornLine) {
  const std::string whole = journal_line(1, record("0000:18:00.0"));
  ASSERT_TRUE(open());
  host_.write("var/lib/gdrkit/fix/journal", whole + "{\"gdr_fix\":1,\"id\":2,\"ki");
  Result<Journal> journal = open();
  ASSERT_TRUE(journal);
  EXPECT_EQ(*journal->begin(record("0000:18:01.0")), 2u);
  EXPECT_EQ(file(), whole + journal_line(2, record("0000:18:01.0")));
}

TEST_F(JournalFile, KeepsLinesThatNobodyUnderstands) {
  ASSERT_TRUE(open());
  const std::string text = "?\n" + journal_line(1, record("0000:18:00.0"));
  host_.write("var/lib/gdrkit/fix/journal", text);
  Result<Journal> journal = open();
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->mark(1, State::kUndone));
  ASSERT_TRUE(journal->tidy());
  EXPECT_EQ(file().substr(0, text.size()), text);
}

TEST_F(JournalFile, IsNotTakenFromOthers) {
  ASSERT_TRUE(open());
  const std::string folder = host_.journal();
  chmod((folder + "/journal").c_str(), 0622);
  EXPECT_EQ(open().error().code, EPERM);
  EXPECT_EQ(read_journal(folder).error().code, EPERM) << "nor shown";
  chmod((folder + "/journal").c_str(), 0600);
  chmod(folder.c_str(), 0777);
  EXPECT_EQ(open().error().code, EPERM);
  EXPECT_EQ(read_journal(folder).error().code, EPERM);
  chmod(folder.c_str(), 0700);
  EXPECT_TRUE(open());
}

TEST_F(JournalFile, IsNotWhereALinkOfAnotherAccountLeads) {
  if (geteuid() != 0) GTEST_SKIP() << "giving links to another account takes root";
  std::filesystem::create_directories(host_.root() + "/theirs");
  std::filesystem::create_directories(host_.root() + "/mine");
  const std::string link = host_.root() + "/theirs/fix";
  std::filesystem::create_symlink(host_.root() + "/mine", link);
  for (const std::string& name : {host_.root() + "/theirs", link}) {
    ASSERT_EQ(lchown(name.c_str(), 12345, 12345), 0);
  }
  for (const std::string& folder : {link, link + "/below"}) {
    EXPECT_EQ(Journal::open(folder).error().code, EPERM) << folder;
  }
  EXPECT_TRUE(std::filesystem::is_empty(host_.root() + "/mine"));
}

// Otherwise the change would be made, and nobody could undo it.
TEST_F(JournalFile, RefusesAChangeThatItCouldNotReadBack) {
  Record large = record("0000:18:00.0");
  large.new_value = std::string(70'000, 'x');
  {
    Result<Journal> journal = open();
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->begin(large).error().code, EFBIG);
    EXPECT_EQ(file(), "");
  }
  const std::string last = journal_line(1'000'000'000, record("0000:18:00.0"));
  std::string many, full(4 * 1024 * 1024 - 100, '\n');
  for (unsigned id = 1; id <= kMostEntries; ++id) many += journal_line(id, record("0000:18:00.0"));
  // Room for this line, but not for those that tell that all of them are undone.
  Record wide = record("0000:18:00.0");
  wide.new_value = std::string(300, 'x');
  std::string busy;
  for (unsigned id = 1; busy.size() < 4 * 1024 * 1024 - 100 * 1024; ++id) {
    busy += journal_line(id, wide);
  }
  for (const std::string& text : {last, many, full, busy}) {
    host_.write("var/lib/gdrkit/fix/journal", text);
    Result<Journal> journal = open();
    ASSERT_TRUE(journal);
    const std::size_t entries = journal->entries().size();
    EXPECT_EQ(journal->begin(record("0000:18:01.0")).error().code, EFBIG);
    EXPECT_EQ(journal->entries().size(), entries);
    EXPECT_EQ(file(), text);
  }
}

TEST_F(JournalFile, LeavesNoneBesideItThatAKillLeft) {
  ASSERT_TRUE(open());
  host_.write("var/lib/gdrkit/fix/journal.new", "half");
  Result<Journal> journal = open();
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->tidy());
  EXPECT_FALSE(host_.exists("var/lib/gdrkit/fix/journal.new"));
}

TEST_F(JournalFile, IsNoLinkAndNothingWithoutEnd) {
  ASSERT_TRUE(open());
  const std::string name = host_.journal() + "/journal";
  std::filesystem::remove(name);
  std::filesystem::create_symlink("/dev/null", name);
  EXPECT_FALSE(open());
  std::filesystem::remove(name);
  mkfifo(name.c_str(), 0600);
  EXPECT_FALSE(open());
  std::filesystem::remove(name);
  host_.write("var/lib/gdrkit/fix/journal", std::string(5 << 20, 'x'));
  EXPECT_EQ(open().error().code, EFBIG);
}

}  // namespace
}  // namespace gdr::fix
