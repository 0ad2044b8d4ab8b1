#include "base/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "file_size_limit.h"
#include "scratch_folder.h"

namespace gdr {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOther = 12345;
constexpr uid_t kUnknown = 65534;  // whom a user namespace does not know

int refusal_of(const std::string& path, Existing existing = Existing::kReplace) {
  const Result<UniqueFd> file = open_output(path, existing);
  if (file) return 0;
  EXPECT_NE(file.error().message.find(path), std::string::npos) << file.error().message;
  EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
  return file.error().code;
}

class OutputFile : public testing::Test {
 protected:
  std::string text(const std::string& name) const { return test::text_of_file(at(name)); }
  std::string at(const std::string& name) const { return scratch_.at(name); }

  test::ScratchFolder scratch_;
};

TEST_F(OutputFile, IsMadeOrReplaced) {
  ASSERT_TRUE(write_output(at("new"), "first, longer"));
  ASSERT_TRUE(write_output(at("new"), "second"));
  EXPECT_EQ(text("new"), "second");
  ASSERT_TRUE(open_output(at("new"), Existing::kKeep));
  EXPECT_EQ(text("new"), "second");
  EXPECT_EQ(refusal_of(at("new"), Existing::kRefuse), EEXIST);
  EXPECT_EQ(text("new"), "second");
}

TEST_F(OutputFile, IsReplacedByAWholeOneWhoeverHasTheOldOneOpen) {
  ASSERT_TRUE(write_output(at("file"), "the old one"));
  const UniqueFd reader(open(at("file").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(write_output(at("file"), "new"));
  std::array<char, 32> seen{};
  EXPECT_EQ(read(reader.get(), seen.data(), seen.size()), 11);
  EXPECT_EQ(std::string(seen.data()), "the old one");
  EXPECT_EQ(text("file"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(at("")), fs::directory_iterator()), 1)
      << "nothing else is left in the folder";
}

TEST_F(OutputFile, KeepsItsRightsAndItsSecondNameWhenItIsReplaced) {
  ASSERT_TRUE(write_output(at("file"), "old"));
  ASSERT_EQ(chmod(at("file").c_str(), 0640), 0);
  ASSERT_TRUE(write_output(at("file"), "new"));
  struct stat status {};
  ASSERT_EQ(stat(at("file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  ASSERT_EQ(link(at("file").c_str(), at("second").c_str()), 0);
  ASSERT_TRUE(write_output(at("file"), "newer"));
  EXPECT_EQ(text("second"), "newer");
}

TEST_F(OutputFile, StaysAsItWasWhereItMayGrowNoFurther) {
  scratch_.write("file", "old");
  scratch_.write("first", "old");
  fs::create_hard_link(at("first"), at("second"));
  const std::string large(1 << 20, 'x');
  for (const char* name : {"file", "first", "new"}) {
    // As a disk that is full, for the time of one write.
    const test::FileSizeLimit limit(64 << 10);
    const Result<void> written = write_output(at(name), large);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, EFBIG);
    EXPECT_EQ(written.error().message, "cannot write " + at(name) + ": File too large");
  }
  EXPECT_EQ(text("file"), "old");
  EXPECT_EQ(text("second").substr(0, 16), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(at("")), fs::directory_iterator()), 3)
      << "nothing else is left in the folder";
}

TEST_F(OutputFile, IsReplacedBehindALinkWhichStays) {
  scratch_.write("real/file", "old");
  scratch_.link("link", "real/file");
  const UniqueFd reader(open(at("link").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(write_output(at("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(text("real/file"), "new");
  std::array<char, 8> seen{};
  EXPECT_EQ(read(reader.get(), seen.data(), seen.size()), 3);
  EXPECT_EQ(std::string(seen.data()), "old") << "not the same file";
}

TEST_F(OutputFile, IsNotReplacedWhereThereMustBeNone) {
  ASSERT_TRUE(write_output(at("file"), "first", Existing::kRefuse, 0600));
  struct stat status {};
  ASSERT_EQ(stat(at("file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(write_output(at("file"), "second", Existing::kRefuse).error().code, EEXIST);
  EXPECT_EQ(text("file"), "first");
}

TEST_F(OutputFile, SweepsWhatKilledProcessesLeftAndNothingElse) {
  for (const char* name : {".gdr-new-aaaaaa", ".gdr-new-held00", ".gdr-new-another", ".gdr-old"}) {
    scratch_.write(name, "half");
  }
  const UniqueFd held(open(at(".gdr-new-held00").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(held.get(), LOCK_EX), 0);
  ASSERT_TRUE(write_output(at("file"), "text"));
  EXPECT_FALSE(fs::exists(at(".gdr-new-aaaaaa")));
  for (const char* name : {".gdr-new-held00", ".gdr-new-another", ".gdr-old"}) {
    EXPECT_EQ(text(name), "half") << name;
  }
}

TEST_F(OutputFile, CanBeAskedForWithoutBeingMade) {
  EXPECT_TRUE(check_output(at("new")));
  EXPECT_FALSE(fs::exists(at("new")));
  ASSERT_TRUE(write_output(at("new"), "text"));
  EXPECT_TRUE(check_output(at("new")));
  EXPECT_EQ(text("new"), "text");
  EXPECT_FALSE(check_output(at("missing/new")));
  EXPECT_FALSE(check_output(at("new/below")));
  EXPECT_FALSE(check_output(at("")));
}

TEST_F(OutputFile, IsWhereThePathLeads) {
  scratch_.make("a/b");
  const std::string path = at("a") + "//./b/../b/";
  ASSERT_TRUE(write_output(path + "file", "x"));
  EXPECT_EQ(text("a/b/file"), "x");
  EXPECT_EQ(refusal_of(path), EISDIR);
  EXPECT_EQ(refusal_of(at("a/b")), EISDIR);
  EXPECT_EQ(refusal_of(at("a/missing/file")), ENOENT);
  EXPECT_EQ(refusal_of(at("a/b/file/below")), ENOTDIR);
  EXPECT_FALSE(write_output("", "x"));
}

TEST_F(OutputFile, IsWhereALinkOfThisAccountLeads) {
  scratch_.make("real/deep");
  scratch_.link("folder", "real");
  scratch_.link("absolute", at("folder/deep"));
  scratch_.link("real/dangling", "deep/../made");
  ASSERT_TRUE(write_output(at("absolute/file"), "x"));
  EXPECT_EQ(text("real/deep/file"), "x");
  ASSERT_TRUE(write_output(at("folder/dangling"), "y"));
  EXPECT_EQ(text("real/made"), "y");
  scratch_.link("circle", "circle");
  EXPECT_EQ(refusal_of(at("circle")), ELOOP);
}

TEST_F(OutputFile, MayBeAnOpenDescriptorAsShellsNameIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]), writer(ends[1]);
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"}) {
    const Result<void> written = write_output(folder + std::to_string(writer.get()), "text");
    ASSERT_TRUE(written) << written.error().message;
    std::array<char, 16> got{};
    EXPECT_EQ(read(reader.get(), got.data(), got.size()), 4) << folder;
  }
  ASSERT_TRUE(write_output("/dev/null", "text"));
  EXPECT_FALSE(write_output("/dev/full", "text"));
}

TEST_F(OutputFile, MayBeAPipeOfThisAccountInASharedFolder) {
  ASSERT_EQ(chmod(scratch_.root().c_str(), 01777), 0);
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  const UniqueFd reader(open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(write_output(at("pipe"), "text"));
  std::array<char, 16> got{};
  EXPECT_EQ(read(reader.get(), got.data(), got.size()), 4);
}

TEST_F(OutputFile, HasNoSecondNameInASharedFolder) {
  scratch_.write("victim", "precious");
  scratch_.make("shared");
  fs::create_hard_link(at("victim"), at("shared/file"));
  ASSERT_EQ(chmod(at("shared").c_str(), 01777), 0);
  EXPECT_EQ(refusal_of(at("shared/file")), EPERM);
  EXPECT_EQ(text("victim"), "precious");
  ASSERT_EQ(chmod(at("shared").c_str(), 0755), 0);
  EXPECT_EQ(refusal_of(at("shared/file")), 0);
}

// "shared" is as /tmp is, and its things belong to another account.
class OutputFileOfAnotherAccount : public OutputFile {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "giving files to another account takes root";
    scratch_.make("shared");
    scratch_.write("victim", "precious");
    ASSERT_EQ(chmod(at("shared").c_str(), 01777), 0);
  }
  void give(const std::string& name, uid_t account = kOther) const {
    ASSERT_EQ(lchown(at(name).c_str(), account, account), 0);
  }
  void mode(const std::string& name, mode_t mode) const {
    ASSERT_EQ(chmod(at(name).c_str(), mode), 0);
  }
};

TEST_F(OutputFileOfAnotherAccount, IsNotWhereItsLinkInASharedFolderLeads) {
  scratch_.link("shared/link", at("victim"));
  scratch_.link("shared/dangling", at("made"));
  scratch_.make("elsewhere");
  scratch_.link("shared/folder", at("elsewhere"));
  scratch_.link("mine", at("shared/folder"));
  for (const char* name : {"shared/link", "shared/dangling", "shared/folder"}) give(name);
  EXPECT_EQ(refusal_of(at("shared/link")), EPERM);
  EXPECT_EQ(refusal_of(at("shared/link"), Existing::kKeep), EPERM);
  EXPECT_EQ(refusal_of(at("shared/dangling")), EPERM);
  EXPECT_EQ(refusal_of(at("shared/folder/file")), EPERM);
  EXPECT_EQ(refusal_of(at("mine/file")), EPERM) << "a link of this account leads to one";
  EXPECT_EQ(text("victim"), "precious");
  EXPECT_FALSE(fs::exists(at("made")));
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
}

TEST_F(OutputFileOfAnotherAccount, IsNotItsPipeInASharedFolder) {
  ASSERT_EQ(mkfifo(at("shared/pipe").c_str(), 0666), 0);
  give("shared/pipe");
  const UniqueFd reader(open(at("shared/pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(refusal_of(at("shared/pipe")), EPERM);
}

TEST_F(OutputFileOfAnotherAccount, IsNotItsFileInASharedFolder) {
  scratch_.write("shared/file", "theirs");
  give("shared/file");
  for (const mode_t open_to_others : {01777, 0777, 01775, 0775}) {
    mode("shared", open_to_others);
    EXPECT_EQ(refusal_of(at("shared/file")), EPERM) << std::oct << open_to_others;
  }
  EXPECT_EQ(text("shared/file"), "theirs");
}

TEST_F(OutputFileOfAnotherAccount, StaysTheirsWhereTheFoldersOwnerPutItThere) {
  for (const mode_t open_to_others : {01777, 0755}) {
    scratch_.write("shared/file", "theirs");
    mode("shared", open_to_others);
    for (const char* name : {"shared", "shared/file"}) give(name);
    ASSERT_TRUE(write_output(at("shared/file"), "mine"));
    EXPECT_EQ(text("shared/file"), "mine");
    struct stat status {};
    ASSERT_EQ(stat(at("shared/file").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, kOther);
  }
}

// root writes there for that account, which must not choose another file.
TEST_F(OutputFileOfAnotherAccount, IsNotWhereAnyLinkInItsFolderLeadsRoot) {
  scratch_.make("elsewhere");
  mode("shared", 0755);
  give("shared");
  for (const uid_t owner : {kOther, uid_t{0}}) {  // it can move a link of root's there
    scratch_.link("shared/link", at("victim"));
    scratch_.link("shared/folder", at("elsewhere"));
    ASSERT_EQ(mkfifo(at("shared/pipe").c_str(), 0666), 0);
    const UniqueFd reader(open(at("shared/pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    for (const char* name : {"shared/link", "shared/folder", "shared/pipe"}) give(name, owner);
    for (const char* name : {"shared/link", "shared/folder/file", "shared/pipe"}) {
      EXPECT_EQ(refusal_of(at(name)), EPERM) << name;
      EXPECT_EQ(write_output(at(name), "text").error().code, EPERM) << name;
    }
    for (const char* name : {"shared/link", "shared/folder", "shared/pipe"}) fs::remove(at(name));
  }
  fs::create_hard_link(at("victim"), at("shared/second"));
  EXPECT_EQ(write_output(at("shared/second"), "text").error().code, EPERM);
  EXPECT_EQ(text("victim"), "precious");
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
  EXPECT_TRUE(write_output(at("shared/new"), "text")) << "one that is not there yet";
}

TEST_F(OutputFileOfAnotherAccount, IsWrittenInPlaceWhereItsFolderTakesNoOther) {
  scratch_.write("closed/file", "old, and longer");
  ASSERT_EQ(chmod(scratch_.root().c_str(), 0755), 0);
  give("closed/file");
  struct stat before {
  }, after{};
  ASSERT_EQ(stat(at("closed/file").c_str(), &before), 0);
  ASSERT_EQ(seteuid(kOther), 0);
  const Result<void> written = write_output(at("closed/file"), "new");
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(text("closed/file"), "new");
  ASSERT_EQ(stat(at("closed/file").c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
}

TEST_F(OutputFileOfAnotherAccount, IsTakenWhereNobodyElseCanPutOne) {
  scratch_.write("shared/file", "theirs");
  give("shared/file");
  mode("shared", 0755);
  EXPECT_EQ(refusal_of(at("shared/file")), 0);
}

TEST_F(OutputFileOfAnotherAccount, IsNotTakenForTheFolderOwnersWhereTheKernelKnowsNeither) {
  scratch_.write("shared/file", "theirs");
  give("shared", kUnknown);
  give("shared/file", kUnknown);
  EXPECT_EQ(refusal_of(at("shared/file")), EPERM);
}

class OutputFolder : public OutputFileOfAnotherAccount {
 protected:
  void SetUp() override {}
  int refusal(const std::string& name) const {
    const Result<UniqueFd> folder = open_output_folder(at(name));
    return folder ? 0 : folder.error().code;
  }
};

TEST_F(OutputFolder, IsMadeForThisAccountAlone) {
  ASSERT_EQ(refusal("a/b/c/"), 0);
  struct stat status {};
  ASSERT_EQ(stat(at("a/b/c").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_EQ(refusal("a/b"), 0) << "one that is there";
  scratch_.write("file", "");
  EXPECT_EQ(refusal("file"), ENOTDIR);
}

TEST_F(OutputFolder, IsNoneThatOthersCanWrite) {
  scratch_.make("folder");
  for (const mode_t open_to_others : {0777, 01777, 0770}) {
    mode("folder", open_to_others);
    EXPECT_EQ(refusal("folder"), EPERM) << std::oct << open_to_others;
  }
}

TEST_F(OutputFolder, IsNoneOfAnotherAccountAndNotWhereItsLinkLeads) {
  if (geteuid() != 0) GTEST_SKIP() << "giving files to another account takes root";
  scratch_.make("theirs");
  give("theirs");
  EXPECT_EQ(refusal("theirs"), EPERM);
  scratch_.make("mine");
  scratch_.make("shared");
  mode("shared", 01777);
  scratch_.link("shared/link", at("mine"));
  give("shared/link");
  EXPECT_EQ(refusal("shared/link"), EPERM);
  EXPECT_EQ(refusal("shared/link/new"), EPERM);
  EXPECT_TRUE(fs::is_empty(at("mine")));
}

}  // namespace
}  // namespace gdr
