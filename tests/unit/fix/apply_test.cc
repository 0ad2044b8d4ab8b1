#include "fix/apply.h"

#include <gtest/gtest.h>

#include "fake_host.h"
#include "file_size_limit.h"
#include "fix/changes/access_control.h"
#include "fix/changes/max_read_request.h"
#include "fix/changes/module.h"
#include "fix/changes/text_file.h"
#include "fix/plan.h"

namespace gdr::fix {
namespace {

class Apply : public testing::Test {
 protected:
  void SetUp() override { host_.add_switch(); }

  void plan(const Record& record) {
    Result<ChangePtr> change = change_of(record);
    ASSERT_TRUE(change) << change.error().message;
    changes_.push_back(*std::move(change));
  }
  void plan_port(const std::string& address) {
    const auto port = read_access_control_port(machine_, address);
    ASSERT_TRUE(port) << port.error().message;
    plan(without_redirects(*port));
  }
  void plan_file() {
    host_.write("etc/modules-load.d/README", "");
    const Result<Record> file = written_file(machine_, kModulesFile, file_text({"nvidia-peermem"}));
    ASSERT_TRUE(file) << file.error().message;
    plan(*file);
  }
  std::vector<Step> apply_all() {
    std::vector<const Change*> all;
    for (const ChangePtr& change : changes_) all.push_back(change.get());
    Result<Journal> journal = Journal::open(host_.journal());
    EXPECT_TRUE(journal);
    return apply(all, machine_, *journal);
  }
  std::vector<Step> undo_all(const std::string& topic = {}) {
    Result<Journal> journal = Journal::open(host_.journal());
    EXPECT_TRUE(journal);
    std::vector<Step> steps = undo(machine_, *journal, [&](const Record& record) {
      return topic.empty() || topic_of(record) == topic;
    });
    EXPECT_TRUE(journal->tidy());
    return steps;
  }
  JournalContent journal() {
    Result<JournalContent> content = read_journal(host_.journal());
    EXPECT_TRUE(content);
    return *content;
  }
  static std::vector<Fate> fates(const std::vector<Step>& steps) {
    std::vector<Fate> all;
    for (const Step& step : steps) all.push_back(step.fate);
    return all;
  }

  FakeHost host_;
  Machine machine_ = host_.machine();
  std::vector<ChangePtr> changes_;
};

TEST_F(Apply, ChangesAndUndoesBitForBit) {
  const auto before = host_.all_bytes();
  plan_port("0000:02:00.0");
  plan_port("0000:02:01.0");
  plan_file();
  EXPECT_TRUE(all_well(apply_all()));
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x11u);
  EXPECT_EQ(host_.word("0000:02:01.0", 0x176), 0x11u);
  EXPECT_EQ(host_.text(kModulesFile), std::string(kMark) + "\nnvidia-peermem\n");
  ASSERT_EQ(journal().entries.size(), 3u);
  EXPECT_EQ(journal().entries[0].state, State::kDone);
  EXPECT_EQ(journal().entries[0].record.boot, "boot-a");

  EXPECT_TRUE(all_well(undo_all()));
  EXPECT_EQ(host_.all_bytes(), before);
  EXPECT_FALSE(host_.exists(kModulesFile));
  EXPECT_TRUE(journal().entries.empty());
}

TEST_F(Apply, UndoesOnlyTheTopicThatWasNamed) {
  plan_port("0000:02:00.0");
  plan_file();
  ASSERT_TRUE(all_well(apply_all()));
  EXPECT_EQ(undo_all("peer-memory").size(), 1u);
  EXPECT_FALSE(host_.exists(kModulesFile));
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x11u);
  ASSERT_EQ(journal().entries.size(), 1u);
  EXPECT_TRUE(all_well(undo_all()));
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x1du);
}

TEST_F(Apply, RollsAllBackWhereARegisterIgnoresItsWrite) {
  const auto before = host_.all_bytes();
  plan_port("0000:02:00.0");
  plan_file();
  plan_port("0000:02:01.0");
  plan_port("0000:02:02.0");
  int writes = 0;
  machine_.put = [&](int file, const void* bytes, std::size_t size, off_t offset) {
    return ++writes == 2 ? static_cast<ssize_t>(size) : ::pwrite(file, bytes, size, offset);
  };
  const std::vector<Step> steps = apply_all();
  EXPECT_EQ(fates(steps),
            (std::vector{Fate::kRolledBack, Fate::kRolledBack, Fate::kFailed, Fate::kPlanned}));
  EXPECT_NE(steps[2].text.find("it holds 0x001d"), std::string::npos) << steps[2].text;
  EXPECT_EQ(host_.all_bytes(), before);
  EXPECT_FALSE(host_.exists(kModulesFile));
  for (const Entry& entry : journal().entries) EXPECT_EQ(entry.state, State::kUndone);
}

TEST_F(Apply, PutsBackARegisterThatTookHalfOfItsWrite) {
  plan_port("0000:02:00.0");
  machine_.put = [&](int file, const void* bytes, std::size_t size, off_t offset) {
    unsigned char taken[2];
    std::memcpy(taken, bytes, 2);
    taken[0] |= 0x08;  // completion redirect cannot be cleared
    return ::pwrite(file, taken, size, offset);
  };
  EXPECT_EQ(fates(apply_all()), std::vector{Fate::kFailed});
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x1du);
}

TEST_F(Apply, SaysWhatCouldNotBePutBackAndKeepsItsRecord) {
  plan_port("0000:02:00.0");
  int writes = 0;
  machine_.put = [&](int file, const void*, std::size_t size, off_t offset) -> ssize_t {
    const unsigned char odd[2] = {0x05, 0};
    if (++writes == 1) return ::pwrite(file, odd, size, offset);
    errno = EPERM;
    return -1;
  };
  const std::vector<Step> steps = apply_all();
  EXPECT_EQ(fates(steps), std::vector{Fate::kLeft});
  EXPECT_NE(steps[0].text.find("could not be restored"), std::string::npos) << steps[0].text;
  ASSERT_EQ(journal().entries.size(), 1u);
  EXPECT_TRUE(is_unfinished(journal().entries[0], machine_));
}

TEST_F(Apply, WritesNothingWhereTheOldValueIsAnotherByNow) {
  plan_port("0000:02:00.0");
  host_.set_word("0000:02:00.0", 0x176, 0x0c);
  EXPECT_EQ(fates(apply_all()), std::vector{Fate::kFailed});
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x0cu);
  EXPECT_TRUE(journal().entries.empty());
}

TEST_F(Apply, MakesNothingWithoutABootToRememberItBy) {
  plan_port("0000:02:00.0");
  machine_.boot.clear();
  EXPECT_EQ(fates(apply_all()), std::vector{Fate::kFailed});
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x1du);
}

TEST_F(Apply, WritesNothingThatItCannotJournal) {
  plan_port("0000:02:00.0");
  Result<Journal> journal = Journal::open(host_.journal());
  ASSERT_TRUE(journal);
  std::vector<Step> steps;
  {
    const test::FileSizeLimit full_disk(0);
    steps = apply({changes_[0].get()}, machine_, *journal);
  }
  EXPECT_EQ(fates(steps), std::vector{Fate::kFailed});
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x1du);
}

TEST_F(Apply, UndoLeavesWhatSomebodyElseHasSet) {
  plan_port("0000:02:00.0");
  ASSERT_TRUE(all_well(apply_all()));
  host_.set_word("0000:02:00.0", 0x176, 0x15);
  const std::vector<Step> steps = undo_all();
  EXPECT_EQ(fates(steps), std::vector{Fate::kLeft});
  EXPECT_NE(steps[0].text.find("0x0015"), std::string::npos) << steps[0].text;
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x15u);
  EXPECT_EQ(journal().entries.size(), 1u);
}

TEST_F(Apply, UndoLeavesAnotherDeviceAtTheSameAddress) {
  plan_port("0000:02:00.0");
  ASSERT_TRUE(all_well(apply_all()));
  host_.set_word("0000:02:00.0", 2, 0x9733);
  const auto before = host_.all_bytes();
  const std::vector<Step> steps = undo_all();
  EXPECT_EQ(fates(steps), std::vector{Fate::kLeft});
  EXPECT_NE(steps[0].text.find("10b5:9733 now, but was 10b5:8749"), std::string::npos);
  EXPECT_EQ(host_.all_bytes(), before);
}

TEST_F(Apply, UndoTouchesNoRegisterOfAnotherBoot) {
  plan_port("0000:02:00.0");
  plan_file();
  ASSERT_TRUE(all_well(apply_all()));
  machine_.boot = "boot-b";
  const auto before = host_.all_bytes();
  const std::vector<Step> steps = undo_all();
  ASSERT_EQ(fates(steps), (std::vector{Fate::kRestored, Fate::kGone}));
  EXPECT_NE(steps[1].text.find("reboot"), std::string::npos);
  EXPECT_EQ(host_.all_bytes(), before);
  EXPECT_FALSE(host_.exists(kModulesFile)) << "files outlive a boot";
  EXPECT_TRUE(journal().entries.empty());
}

TEST_F(Apply, UndoesTwoChangesOfOneRegisterInReverse) {
  plan_port("0000:02:00.0");
  ASSERT_TRUE(all_well(apply_all()));
  host_.set_word("0000:02:00.0", 0x176, 0x5d);  // the kernel set it again: reset, hot-plug
  changes_.clear();
  plan_port("0000:02:00.0");
  ASSERT_TRUE(all_well(apply_all()));
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x51u);
  EXPECT_EQ(fates(undo_all()), (std::vector{Fate::kRestored, Fate::kLeft}));
  EXPECT_EQ(host_.word("0000:02:00.0", 0x176), 0x5du);
}

TEST_F(Apply, ChangesOnlyTheReadRequestBits) {
  const auto state = read_max_read_request(machine_, "0000:05:00.0");
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state->bytes, 512u);
  plan(with_best_read_request(*state));
  ASSERT_TRUE(all_well(apply_all()));
  EXPECT_EQ(host_.word("0000:05:00.0", 0x68), 0x5810u);
  EXPECT_EQ(host_.word("0000:05:00.0", 0x6a), 0x000fu) << "the status beside it is left alone";
  host_.set_word("0000:05:00.0", 0x68, 0x583f);
  EXPECT_TRUE(all_well(undo_all()));
  EXPECT_EQ(host_.word("0000:05:00.0", 0x68), 0x283fu);
}

TEST_F(Apply, LoadsAModuleAndUnloadsItAlone) {
  host_.on_run = [&](const std::string& line) -> Result<Ran> {
    if (line == "modprobe nvidia-peermem") host_.write("sys/module/nvidia_peermem/version", "1\n");
    if (line == "rmmod nvidia_peermem") {
      std::filesystem::remove_all(host_.root() + "/sys/module/nvidia_peermem");
    }
    return Ran{};
  };
  machine_ = host_.machine();
  plan(loaded_module(kNvidiaPeermem, ""));
  EXPECT_TRUE(all_well(apply_all()));
  EXPECT_TRUE(all_well(undo_all()));
  EXPECT_EQ(host_.ran,
            (std::vector<std::string>{"modprobe nvidia-peermem", "rmmod nvidia_peermem"}));
}

TEST_F(Apply, LoadsAModuleOfTheDriverContainerInItsRoot) {
  host_.write("run/nvidia/driver/usr/sbin/modprobe", "");
  plan(loaded_module(kNvidiaPeermem, "run/nvidia/driver"));
  EXPECT_EQ(fates(apply_all()), std::vector{Fate::kFailed}) << "nothing was loaded by it";
  EXPECT_EQ(host_.ran.front(), "chroot /run/nvidia/driver modprobe nvidia-peermem");
}

TEST_F(Apply, LoadsAModuleBelowAFolderThatIsNoWholeSystemWithTheHostsModprobe) {
  plan(loaded_module(kNvidiaPeermem, "opt/nvidia/580"));
  apply_all();
  EXPECT_EQ(host_.ran.front(), "modprobe -d /opt/nvidia/580 nvidia-peermem");
}

TEST_F(Apply, BelievesNoRecordOfADriverOutsideOfItsRoot) {
  for (const char* root : {"../tmp", "a/../../b", "a;b", "-d"}) {
    Record record = loaded_module(kNvidiaPeermem, root);
    EXPECT_EQ(bool(change_of(record)), std::string(root) == "-d") << root;
  }
}

TEST_F(Apply, TellsWhatAProgramSaid) {
  host_.on_run = [](const std::string&) -> Result<Ran> {
    return Ran{1, "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n"};
  };
  machine_ = host_.machine();
  plan(loaded_module(kNvidiaPeermem, ""));
  const std::vector<Step> steps = apply_all();
  EXPECT_NE(steps[0].text.find("Invalid argument"), std::string::npos) << steps[0].text;
}

}  // namespace
}  // namespace gdr::fix
