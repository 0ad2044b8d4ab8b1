// A gdr fix that is killed at each step, and what the next one makes of it.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include "fake_host.h"
#include "fix/apply.h"
#include "fix/changes/text_file.h"

namespace gdr::fix {
namespace {

class Killed : public testing::Test {
 protected:
  void SetUp() override {
#ifndef GDR_FAULT_HOOKS
    GTEST_SKIP() << "built without kill points";
#endif
    host_.add_switch();
    before_ = host_.all_bytes();
  }

  // Its exit status, or minus the signal that ended it.
  int run(const std::string& what, const std::string& appointment) {
    std::vector<std::string> words = {GDR_FIX_VICTIM, host_.root(),   host_.journal(),
                                      what,           "0000:02:00.0", "0000:02:01.0"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::string kill = "GDR_KILL=" + appointment;
    char* environment[] = {kill.data(), nullptr};
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, GDR_FIX_VICTIM, nullptr, nullptr, arguments.data(),
                          static_cast<char**>(environment)),
              0);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  void expect_as_before(const std::string& when) {
    EXPECT_EQ(host_.all_bytes(), before_) << when;
    EXPECT_FALSE(host_.exists("etc/systemd/system/docker.service.d")) << when;
    const auto journal = read_journal(host_.journal());
    ASSERT_TRUE(journal);
    EXPECT_TRUE(journal->entries.empty()) << when;
  }

  FakeHost host_;
  std::map<std::string, std::string> before_;
};

TEST_F(Killed, AtEachStepOfApplyIsUndoneBitForBit) {
  std::filesystem::create_directories(host_.root() + "/etc/systemd/system");
  unsigned unfinished = 0;
  for (const std::string point : {"fix_planned", "fix_journalled", "fix_changed", "fix_read_back",
                                  "fix_marked", "fix_written_beside"}) {
    for (int passage = 1; passage <= (point == "fix_written_beside" ? 1 : 3); ++passage) {
      const std::string when = point + ":" + std::to_string(passage);
      ASSERT_EQ(run("apply", when), -SIGKILL) << when;
      const auto journal = read_journal(host_.journal());
      ASSERT_TRUE(journal);
      for (const Entry& entry : journal->entries) {
        unfinished += is_unfinished(entry, host_.machine()) ? 1 : 0;
      }
      ASSERT_EQ(run("undo", ""), 0) << when;
      expect_as_before(when);
    }
  }
  EXPECT_EQ(unfinished, 10u) << "all but those killed before their line, or behind their mark";
}

TEST_F(Killed, WhileAModuleIsPutOrTakenAwayIsFinishedByTheNextUndo) {
  const std::string tree = "lib/modules/6.8.0-50-generic";
  host_.write(tree + "/modules.order", "");
  const auto expect_gone = [&](const std::string& when) {
    EXPECT_FALSE(host_.exists(tree + "/updates")) << when;
    expect_as_before(when);
  };
  for (const std::string point :
       {"fix_journalled", "fix_module_put", "fix_changed", "fix_read_back", "fix_marked"}) {
    ASSERT_EQ(run("module", point + ":1"), -SIGKILL) << point;
    ASSERT_EQ(run("undo", ""), 0) << point;
    expect_gone(point);
  }
  for (const std::string point :
       {"fix_undoing", "fix_module_going", "fix_restored", "fix_undone"}) {
    ASSERT_EQ(run("module", ""), 0) << point;
    ASSERT_EQ(run("undo", point + ":1"), -SIGKILL) << point;
    ASSERT_EQ(run("undo", ""), 0) << point;
    expect_gone(point);
  }
}

TEST_F(Killed, AtEachStepOfUndoIsUndoneByTheNext) {
  std::filesystem::create_directories(host_.root() + "/etc/systemd/system");
  for (const std::string point : {"fix_undoing", "fix_restored", "fix_undone"}) {
    for (int passage = 1; passage <= 3; ++passage) {
      const std::string when = point + ":" + std::to_string(passage);
      ASSERT_EQ(run("apply", ""), 0) << when;
      ASSERT_EQ(run("undo", when), -SIGKILL) << when;
      ASSERT_EQ(run("undo", ""), 0) << when;
      expect_as_before(when);
    }
  }
}

TEST_F(Killed, WhileTheJournalIsWrittenAnewLosesNothing) {
  std::filesystem::create_directories(host_.root() + "/etc/systemd/system");
  ASSERT_EQ(run("apply", ""), 0);
  {
    Result<Journal> journal = Journal::open(host_.journal());
    ASSERT_TRUE(journal);
    undo(host_.machine(), *journal, [](const Record& record) { return record.kind == kTextFile; });
  }
  ASSERT_EQ(run("undo", "fix_undoing:2"), -SIGKILL);
  const std::string half = host_.text("var/lib/gdrkit/fix/journal");
  host_.write("var/lib/gdrkit/fix/journal.new", half.substr(0, half.size() / 2));
  ASSERT_EQ(run("undo", ""), 0);
  expect_as_before("with a half-written journal beside it");
}

}  // namespace
}  // namespace gdr::fix
