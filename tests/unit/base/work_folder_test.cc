#include "base/work_folder.h"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/leftovers.h"
#include "scratch_folder.h"

namespace gdr {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "work-";

class WorkFolderTest : public testing::Test {
 protected:
  Result<WorkFolder> make() { return WorkFolder::make(scratch_.root(), kPrefix); }
  void left_by_a_kill(const std::string& name) {
    scratch_.make(name);
    ASSERT_EQ(chmod(scratch_.at(name).c_str(), kSweptFolder), 0);
  }
  bool is_there(const std::string& name) const { return fs::exists(scratch_.at(name)); }

  test::ScratchFolder scratch_;
};

TEST_F(WorkFolderTest, IsForThisAccountAloneAndGoesWithAllThatIsInIt) {
  std::string path;
  {
    const Result<WorkFolder> folder = make();
    ASSERT_TRUE(folder) << folder.error().message;
    path = folder->path();
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    fs::create_directories(path + "/a/b");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(WorkFolderTest, OfAKilledProcessIsSweptByTheNextOne) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Result<WorkFolder> folder = make();
    if (folder) fs::create_directories(folder->path() + "/a/b");
    static_cast<void>(write(ends[1], "x", 1));
    for (;;) pause();
  }
  char made = 0;
  ASSERT_EQ(read(ends[0], &made, 1), 1);
  close(ends[0]);
  close(ends[1]);
  {
    const Result<WorkFolder> second = make();
    ASSERT_TRUE(second);
    EXPECT_EQ(std::distance(fs::directory_iterator(scratch_.root()), fs::directory_iterator()), 2)
        << "the one of a process that lives stays";
  }
  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const Result<WorkFolder> third = make();
  ASSERT_TRUE(third);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch_.root()), fs::directory_iterator()), 1);
}

TEST_F(WorkFolderTest, SweepsNeitherOtherNamesNorLinks) {
  left_by_a_kill("work-keepme1");  // one letter more than a name has
  scratch_.make("kept/a");
  scratch_.link("work-linked", "kept");
  scratch_.write("work-filed0", "text");
  ASSERT_TRUE(make());
  for (const char* name : {"work-keepme1", "kept/a", "work-linked", "work-filed0"}) {
    EXPECT_TRUE(is_there(name)) << name;
  }
}

TEST_F(WorkFolderTest, SweepsNoFolderThatTheUserHasNamedSo) {
  for (const mode_t mode : {0700, 0755, 01777}) {
    scratch_.write("work-output/data", "precious");
    ASSERT_EQ(chmod(scratch_.at("work-output").c_str(), mode), 0);
    ASSERT_TRUE(make());
    EXPECT_TRUE(is_there("work-output/data")) << std::oct << mode;
  }
}

TEST_F(WorkFolderTest, SweepsNothingWhereOthersCanMoveFolders) {
  left_by_a_kill("work-aaaaaa");
  ASSERT_EQ(chmod(scratch_.root().c_str(), 0777), 0);
  ASSERT_TRUE(make());
  EXPECT_TRUE(is_there("work-aaaaaa"));
  ASSERT_EQ(chmod(scratch_.root().c_str(), 01777), 0);
  ASSERT_TRUE(make());
  EXPECT_FALSE(is_there("work-aaaaaa")) << "as in /tmp";
}

TEST_F(WorkFolderTest, SweepsNothingOfAnotherAccount) {
  if (geteuid() != 0) GTEST_SKIP() << "giving folders to another account takes root";
  left_by_a_kill("work-aaaaaa");
  ASSERT_EQ(chown(scratch_.at("work-aaaaaa").c_str(), 12345, 12345), 0);
  ASSERT_TRUE(make());
  EXPECT_TRUE(is_there("work-aaaaaa"));
}

}  // namespace
}  // namespace gdr
