#include "doctor/checks/gather.h"

#include <gtest/gtest.h>

namespace gdr::doctor {
namespace {

Finding finding(Outcome outcome, const std::string& subject, const std::string& summary,
                const text::Command& now = {}) {
  Finding made;
  made.outcome = outcome;
  made.subject = subject;
  made.summary = summary;
  made.evidence = {{"/sys/" + subject, "1"}};
  made.fix.now = to_type(now, now.empty() ? "" : "for {}");
  return made;
}

TEST(Gathered, SaysOnceWhatHoldsForMany) {
  Gathered gathered("NICs");
  for (const char* name : {"a", "b", "c"}) gathered.add(finding(Outcome::kOk, name, "well"), name);
  gathered.add(finding(Outcome::kWarn, "d", "narrow"), "d");
  const Findings found = gathered.take();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].subject, "3 NICs");
  EXPECT_EQ(found[0].evidence.size(), 3u);
  EXPECT_EQ(found[1].subject, "d");
}

TEST(Gathered, NamesEachThatIsWrong) {
  Gathered gathered("NICs");
  for (const char* name : {"a", "b"}) gathered.add(finding(Outcome::kWarn, name, "slow"), name);
  ASSERT_EQ(gathered.take().size(), 1u);
  EXPECT_EQ(gathered.take()[0].subject, "a, b");
}

TEST(Gathered, KeepsWhatDiffersApart) {
  Gathered gathered("NICs");
  gathered.add(finding(Outcome::kWarn, "a", "slow", text::Command("turn")), "a");
  gathered.add(finding(Outcome::kWarn, "b", "slow", text::Command("press")), "b");
  gathered.add(finding(Outcome::kFail, "c", "slow", text::Command("turn")), "c");
  EXPECT_EQ(gathered.take().size(), 3u);
}

TEST(Gathered, MakesOneCommandForAllOfThem) {
  Gathered gathered("NICs");
  for (const char* name : {"eth0", "eth1"}) {
    gathered.add(
        finding(Outcome::kWarn, name, "slow", text::Command::of_each("set {} 1\npress {}")), name);
  }
  const Action now = gathered.take()[0].fix.now;
  EXPECT_EQ(now.command.text(),
            "for d in eth0 eth1; do set $d 1; done\nfor d in eth0 eth1; do press $d; done");
  EXPECT_EQ(now.note, "for eth0, eth1");
}

TEST(Gathered, NamesAFewDevicesInOneSummary) {
  Gathered gathered("ports");
  gathered.add(finding(Outcome::kFail, "a", "set at {}"), "p0");
  EXPECT_EQ(gathered.take()[0].summary, "set at p0");
  gathered.add(finding(Outcome::kFail, "b", "set at {}"), "p1");
  EXPECT_EQ(gathered.take()[0].summary, "set at p0 and p1");
  for (const char* name : {"p2", "p3", "p1"}) {
    gathered.add(finding(Outcome::kFail, name, "set at {}"), name);
  }
  EXPECT_EQ(gathered.take()[0].summary, "set at p0 and 3 more");
}

TEST(Gathered, SaysWhyThereIsNothingOnlyWhereThatIsSo) {
  Gathered gathered("NICs");
  EXPECT_EQ(gathered.take("no RDMA NIC").does_not_apply, "no RDMA NIC");
  EXPECT_TRUE(gathered.take("no RDMA NIC").empty());
}

TEST(Gathered, StaysBoundedHoweverManyAreWrongInTheirOwnWay) {
  Gathered gathered("NICs");
  for (int i = 0; i < 20000; ++i) {
    gathered.add(finding(Outcome::kWarn, "n", std::to_string(i)), "n");
    gathered.add(finding(Outcome::kOk, std::to_string(i), "well"), "n");
  }
  const Findings found = gathered.take();
  EXPECT_LT(found.size(), 200u);
  EXPECT_EQ(found.back().outcome, Outcome::kUnknown);
  EXPECT_LT(found[1].evidence.size(), 200u);
}

TEST(Gathered, NamesOnlyPlainDevicesInASentence) {
  EXPECT_EQ(note_for("give {} a name", {"a", "b c"}), "give a, DEVICE a name");
}

}  // namespace
}  // namespace gdr::doctor
