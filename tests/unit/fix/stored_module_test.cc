// The peer-memory module as a change: put, replaced, taken back, and never anybody else's.
#include "fix/changes/stored_module.h"

#include <gtest/gtest.h>

#include "fake_host.h"
#include "fix/apply.h"
#include "fix/changes/text_file.h"
#include "fix/plan.h"

namespace gdr::fix {
namespace {

constexpr const char* kKernel = "6.8.0-50-generic";
constexpr const char* kTree = "lib/modules/6.8.0-50-generic";
constexpr const char* kTarget = "lib/modules/6.8.0-50-generic/updates/gdrkit/nvidia-peermem.ko";

class StoredModules : public testing::Test {
 protected:
  StoredModules() {
    host_.write(std::string(kTree) + "/modules.order", "");
    Result<Journal> journal = Journal::open(host_.journal());
    EXPECT_TRUE(journal);
    journal_.emplace(*std::move(journal));
  }

  Result<Record> plan(const std::string& bytes) {
    return installed_module(machine_, kKernel, stored_name(bytes));
  }
  std::vector<Step> install(const std::string& bytes) {
    EXPECT_TRUE(store_module(machine_, bytes));
    const Result<Record> record = plan(bytes);
    EXPECT_TRUE(record) << record.error().message;
    if (!record) return {};
    Result<ChangePtr> change = change_of(*record);
    EXPECT_TRUE(change) << change.error().message;
    return change ? apply({change->get()}, machine_, *journal_) : std::vector<Step>();
  }
  std::vector<Step> undo_all() { return undo(machine_, *journal_, is_of_peermem); }

  FakeHost host_;
  Machine machine_ = host_.machine();
  std::optional<Journal> journal_;
};

TEST_F(StoredModules, ArePutWithDepmodAndTakenBackWithDepmodAndFolders) {
  ASSERT_TRUE(all_well(install("module one")));
  EXPECT_EQ(host_.text(kTarget), "module one");
  ASSERT_EQ(host_.ran.size(), 1U);
  EXPECT_EQ(host_.ran[0], "depmod -b " + host_.root() + " " + kKernel);
  ASSERT_TRUE(all_well(undo_all()));
  EXPECT_FALSE(host_.exists(std::string(kTree) + "/updates"));
  EXPECT_EQ(host_.ran.size(), 2U);
}

TEST_F(StoredModules, AreGoneWhenDepmodLooksAndDepmodRunsBeforeTheyCountAsRemoved) {
  ASSERT_TRUE(all_well(install("module one")));
  host_.on_run = [&](const std::string&) -> Result<Ran> {
    EXPECT_FALSE(host_.exists(kTarget));
    return Ran{1, "depmod: ERROR"};
  };
  const std::vector<Step> failed = undo_all();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].fate, Fate::kLeft);
  host_.on_run = {};
  const std::vector<Step> again = undo_all();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].fate, Fate::kRestored);
  EXPECT_FALSE(host_.exists(std::string(kTree) + "/updates"));
}

TEST_F(StoredModules, ComeBackAsTheyWereWhenANewOneIsUndone) {
  ASSERT_TRUE(all_well(install("module one")));
  ASSERT_TRUE(all_well(install("module two")));
  EXPECT_EQ(host_.text(kTarget), "module two");
  const Record newest = journal_->entries().back().record;
  ASSERT_TRUE(all_well(undo(machine_, *journal_, [&](const Record& record) {
    return record.new_value == newest.new_value;
  })));
  EXPECT_EQ(host_.text(kTarget), "module one");
  ASSERT_TRUE(all_well(undo_all()));
  EXPECT_FALSE(host_.exists(kTarget));
}

TEST_F(StoredModules, OfSomebodyElseAreLeftAlone) {
  host_.write(kTarget, "somebody else's");
  const Result<Record> record = plan("module one");
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, EEXIST);
  std::filesystem::remove(host_.root() + "/" + kTarget);
  ASSERT_TRUE(all_well(install("module one")));
  host_.write(kTarget, "edited");
  const std::vector<Step> steps = undo_all();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].fate, Fate::kLeft);
  EXPECT_EQ(host_.text(kTarget), "edited");
}

TEST_F(StoredModules, AreRolledBackWhereDepmodFails) {
  host_.on_run = [](const std::string&) -> Result<Ran> { return Ran{1, "no such kernel"}; };
  const std::vector<Step> steps = install("module one");
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_FALSE(all_well(steps));
  EXPECT_NE(steps[0].text.find("depmod ended with 1: no such kernel"), std::string::npos);
  host_.on_run = {};
  undo_all();
  EXPECT_FALSE(host_.exists(kTarget));
}

TEST_F(StoredModules, AreNotPutFromAStoreThatWasAltered) {
  ASSERT_TRUE(store_module(machine_, "module one"));
  const Result<Record> record = plan("module one");
  ASSERT_TRUE(record);
  host_.write(std::string(kModuleStore) + "/" + stored_name("module one"), "altered");
  Result<ChangePtr> change = change_of(*record);
  ASSERT_TRUE(change);
  EXPECT_FALSE(all_well(apply({change->get()}, machine_, *journal_)));
  EXPECT_FALSE(host_.exists(kTarget));
}

TEST_F(StoredModules, StayInTheStoreAsLongAsTheJournalNeedsThem) {
  ASSERT_TRUE(all_well(install("module one")));
  ASSERT_TRUE(store_module(machine_, "never installed"));
  const auto stored = [&](const std::string& bytes) {
    return host_.exists(std::string(kModuleStore) + "/" + stored_name(bytes));
  };
  tidy_store(machine_, journal_->content());
  EXPECT_TRUE(stored("module one"));
  EXPECT_FALSE(stored("never installed"));
  ASSERT_TRUE(all_well(undo_all()));
  tidy_store(machine_, journal_->content());
  EXPECT_FALSE(host_.exists(kModuleStore));
}

TEST_F(StoredModules, AreNoOtherFilesWhateverAJournalSays) {
  const Result<Record> planned = plan("module one");
  ASSERT_TRUE(planned);
  EXPECT_TRUE(change_of(*planned));
  for (const char* target :
       {"lib/modules/../../etc/updates/gdrkit/nvidia-peermem.ko", "lib/modules/6.8/nvidia.ko",
        "lib/modules//updates/gdrkit/nvidia-peermem.ko", "etc/passwd",
        "lib/modules/a/b/updates/gdrkit/nvidia-peermem.ko"}) {
    Record record = *planned;
    record.target = target;
    EXPECT_FALSE(change_of(record)) << target;
  }
  for (const char* name : {"../../../etc/shadow", "nvidia-peermem-0123456789abcdef.ko/..", ""}) {
    Record record = *planned;
    record.new_value = name;
    EXPECT_FALSE(change_of(record)) << name;
  }
}

TEST_F(StoredModules, AndTheirFilesBelongToTheTopicPeerMemory) {
  const Result<Record> record = plan("module one");
  ASSERT_TRUE(record);
  EXPECT_EQ(topic_of(*record), "peer-memory");
  EXPECT_TRUE(is_of_peermem(*record));
  const Result<Record> other = written_file(machine_, kModulesFile, file_text({"nvidia-peermem"}));
  ASSERT_TRUE(other);
  EXPECT_FALSE(is_of_peermem(*other)) << "gdr fix peer-memory --persist wrote it";
}

}  // namespace
}  // namespace gdr::fix
