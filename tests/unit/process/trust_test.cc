#include "process/trust.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "process/private_folder.h"
#include "scratch_folder.h"

namespace gdr::process {
namespace {

constexpr uid_t kOther = 54440;  // an account without a name
constexpr gid_t kTeam = 54441;

// Only root can make files of other accounts.
class Trust : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    file_ = scratch_.write("a/b/program", "#!/bin/sh\n");
  }
  void give(const std::string& path, uid_t user = kOther) const {
    ASSERT_EQ(lchown(scratch_.at(path).c_str(), user, 0), 0);
  }
  void allow(const std::string& path, mode_t mode) const {
    ASSERT_EQ(chmod(scratch_.at(path).c_str(), mode), 0);
  }
  static std::string text(const std::optional<Stranger>& stranger) {
    return stranger ? stranger->text() : "nobody";
  }
  std::string who(const std::string& path) const {
    return text(who_else_can_change(scratch_.at(path)));
  }
  std::string at(const std::string& path) const { return scratch_.at(path); }

  test::ScratchFolder scratch_;
  std::string file_;
};

TEST_F(Trust, IsRootsInRootsFoldersAndInASharedOneWithAStickyBit) {
  EXPECT_EQ(who("a/b/program"), "nobody");
  allow("a", 01777);
  EXPECT_EQ(who("a/b/program"), "nobody");
  EXPECT_EQ(who("a/missing/program"), at("a") + " can be written by everybody");
  EXPECT_EQ(who("a/b/missing"), "nobody");
}

TEST_F(Trust, EndsAtTheFirstFileOrFolderOfAnotherAccount) {
  give("a/b/program");
  EXPECT_EQ(who("a/b/program"), at("a/b/program") + " belongs to account 54440");
  give("a");
  EXPECT_EQ(who("a/b/program"), at("a") + " belongs to account 54440");
  EXPECT_EQ(who("a/b/../b/program"), at("a") + " belongs to account 54440");
  EXPECT_EQ(who_else_can_change(file_)->account(), "#54440");
}

TEST_F(Trust, EndsWhereOthersMayWrite) {
  allow("a/b/program", 0757);
  EXPECT_EQ(who("a/b/program"), at("a/b/program") + " can be written by everybody");
  allow("a/b", 0777);
  EXPECT_EQ(who("a/b/program"), at("a/b") + " can be written by everybody");
  allow("a", 0775);
  ASSERT_EQ(chown(at("a").c_str(), 0, kTeam), 0);
  EXPECT_EQ(who("a/b/program"), at("a") + " can be written by the group 54441");
}

TEST_F(Trust, EndsWhereAnAccessListLetsOthersWrite) {
  // Version 2; owner, one account, group, mask, others: each a tag, its rights and whom it is for.
  struct Entry {
    std::uint16_t tag, rights;
    std::uint32_t id;
  };
  struct {
    std::uint32_t version = 2;
    Entry entries[5] = {{1, 7, ~0u}, {2, 7, kOther}, {4, 5, ~0u}, {16, 7, ~0u}, {32, 5, ~0u}};
  } list;
  if (setxattr(at("a").c_str(), "system.posix_acl_access", &list, sizeof list, 0) != 0) {
    GTEST_SKIP() << "no access lists here";
  }
  EXPECT_EQ(who("a/b/program"), at("a") + " can be written by others, by its access control list");
}

TEST_F(Trust, LooksAtTheFolderOfEachLinkAndAtWhereItLeads) {
  scratch_.make("theirs");
  scratch_.link("theirs/link", at("a/b"));
  scratch_.link("mine", "theirs/link");
  EXPECT_EQ(who("mine/program"), "nobody");
  give("theirs");
  EXPECT_EQ(who("mine/program"), at("theirs") + " belongs to account 54440");
  scratch_.link("out", "a/b/program");
  EXPECT_EQ(who("out"), "nobody");
  give("a/b/program");
  EXPECT_EQ(who("out"), at("a/b/program") + " belongs to account 54440");
}

TEST_F(Trust, FollowsTheKernelsOwnLinksToWhereTheyLead) {
  const UniqueFd folder(open(at("a").c_str(), O_PATH | O_CLOEXEC));
  const std::string name = "/proc/self/fd/" + std::to_string(folder.get());
  // Its text is still the old one.
  ASSERT_EQ(rename(at("a").c_str(), at("moved").c_str()), 0);
  scratch_.make("a/b");
  EXPECT_EQ(text(who_else_can_change(name + "/b/program")), "nobody");
  EXPECT_EQ(text(who_else_can_change("/proc/self/root" + at("moved/b/program"))), "nobody");
  give("moved/b/program");
  EXPECT_EQ(
      text(who_else_can_change(name + "/b/program")),
      "/proc/self/fd/" + std::to_string(folder.get()) + "/b/program belongs to account 54440");
  give("moved");
  EXPECT_EQ(text(who_else_can_change("/proc/self/root" + at("moved/b"))),
            "/proc/self/root" + at("moved") + " belongs to account 54440");
}

TEST_F(Trust, BelievesALinkInASharedFolderOnlyWhereItsOwnerIsTrusted) {
  scratch_.link("a/link", at("a/b/program"));
  give("a/link");
  EXPECT_EQ(who("a/link"), "nobody") << "nobody else can put another one in its place";
  allow("a", 01777);
  EXPECT_EQ(who("a/link"), at("a/link") + " belongs to account 54440");
}

TEST_F(Trust, OfAFolderToSearchIsGoneWhereOthersCanPutSomethingThere) {
  EXPECT_EQ(text(who_else_can_add_to(at("a"))), "nobody");
  allow("a", 01777);
  EXPECT_EQ(text(who_else_can_add_to(at("a"))), at("a") + " can be written by everybody");
  EXPECT_EQ(text(who_else_can_add_to(at("a/b"))), "nobody");
}

TEST_F(Trust, OfAnotherAccountIsInItsOwnFilesAndRootsAndNobodyElses) {
  allow("", 0755);
  give("a/b");
  give("a/b/program", kOther + 1);
  scratch_.write("a/b/own", "");
  give("a/b/own");
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setgid(kTeam) != 0 || setuid(kOther) != 0) _exit(9);
    if (who("a/b/own") != "nobody" || who_else_can_change("/bin/sh")) _exit(1);
    _exit(who("a/b/program") == at("a/b/program") + " belongs to account 54441" ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Trust, OfAllInAFolderIsGoneWithOneFileInIt) {
  const auto who_in = [this] { return text(who_else_can_change_in(at("a"))); };
  scratch_.write("elsewhere/file", "");
  scratch_.link("a/b/link", at("elsewhere/file"));
  scratch_.link("a/b/dangling", "nowhere");
  EXPECT_EQ(who_in(), "nobody");
  give("elsewhere");
  EXPECT_EQ(who_in(), at("elsewhere") + " belongs to account 54440");
  give("elsewhere", 0);
  allow("a/b", 01777);
  EXPECT_EQ(who_in(), at("a/b") + " can be written by everybody");
  allow("a/b", 0755);
  give("a/b/program");
  EXPECT_EQ(who_in(), at("a/b/program") + " belongs to account 54440");
}

TEST_F(Trust, IsNeededOfTheFolderAboveAPrivateOne) {
  allow("a", 0777);
  const Result<PrivateFolder> refused = PrivateFolder::make("test", at("a/b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EPERM);
  EXPECT_EQ(refused.error().message,
            at("a/b") + " is not safe for a folder: " + at("a") + " can be written by everybody");
  allow("a", 01777);
  const Result<PrivateFolder> made = PrivateFolder::make("test", at("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(std::filesystem::is_directory(made->name()));
}

}  // namespace
}  // namespace gdr::process
