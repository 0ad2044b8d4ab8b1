#include "doctor/run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/environment.h"
#include "doctor/evidence.h"
#include "doctor/json_report.h"
#include "doctor/text_report.h"
#include "patient.h"

namespace gdr::doctor::test {
namespace {

Findings find_ok(const Host&) { return {ok("GPU 1", "fine", {{"/sys/a", "1"}})}; }
Fix fix_of_slow() {
  return {to_do("turn it up"), by_gdr_fix_for_good("speed", text::Command("faster"))};
}
Findings find_two(const Host&) {
  return {warn("GPU 1", "slow", {}, "It waits.", fix_of_slow()),
          warn("GPU 2", "slow", {}, "It waits.", fix_of_slow())};
}
Findings find_fail(const Host&) {
  return {fail(
      "", "broken\x1b[2J", {{"/proc/b", "0"}}, "Nothing works.",
      {to_type("line 1\nline 2 that is so long that it would not fit into a line", "all of it"),
       {}})};
}
Findings find_unknown(const Host&) { return {unknown("", "not shown", {}, to_type("ask root"))}; }
Findings find_nothing(const Host&) { return does_not_apply("no NIC"); }

constexpr auto kPassive = Cost::kPassive, kProbe = Cost::kProbe;
const Check kFine{"fine", Area::kGpu, "Title of fine", "Explains.", 1, kPassive, find_ok};
const Check kSlow{"slow", Area::kPcie, "Title of slow", "Explains.", 3, kPassive, find_two};
const Check kBroken{"broken", Area::kNic, "Title of broken", "Explains.", 9, kProbe, find_fail};
const Check kHidden{"hidden", Area::kNic, "Title of hidden", "Explains.",
                    2,        kPassive,   find_unknown};
const Check kAbsent{"absent", Area::kNic, "Title of absent", "Explains.",
                    4,        kPassive,   find_nothing};

struct Examined {
  explicit Examined(std::vector<const Check*> checks, bool probes = true, std::string root = "/")
      : files(std::move(root)) {
    const Host host{files, inventory, {}, &fake, {}, {}};
    report = examine(host, {std::move(checks), probes});
  }
  host::Files files;
  host::Inventory inventory;
  FakeProbes fake;
  Report report;
};

std::vector<std::string> order(const Report& report) {
  std::vector<std::string> ids;
  for (const Line& line : in_order(report)) ids.emplace_back(line.check->id);
  return ids;
}

TEST(Examination, TellsFailuresThenWarningsThenUnknownThenWellEachByRank) {
  const Examined all({&kBroken, &kAbsent, &kFine, &kHidden, &kSlow});
  EXPECT_EQ(order(all.report),
            (std::vector<std::string>{"broken", "slow", "slow", "hidden", "fine"}));
}

TEST(Examination, LeavesProbesOutWhereTheyAreNotWanted) {
  const Examined without({&kBroken, &kFine}, false);
  EXPECT_EQ(count(without.report).left_out, 1u);
  EXPECT_EQ(exit_status(without.report), 0);
  EXPECT_NE(to_text(without.report, {}).find("Not run (--no-probe): broken"), std::string::npos);
}

TEST(Examination, NeverProbesForACapturedMachine) {
  const Examined captured({&kBroken, &kFine}, true, "/no/such/capture");
  EXPECT_EQ(order(captured.report), std::vector<std::string>{"fine"});
  const std::string text = to_text(captured.report, {});
  EXPECT_NE(text.find("a captured machine cannot be probed"), std::string::npos);
  EXPECT_NE(text.find("Captured machine /no/such/capture: 1 ok"), std::string::npos);
}

TEST(Examination, EndsWithOneForFailuresThreeForWarningsAndElseZero) {
  EXPECT_EQ(exit_status(Examined({&kFine, &kHidden}).report), 0);
  EXPECT_EQ(exit_status(Examined({&kFine, &kSlow}).report), 3);
  EXPECT_EQ(exit_status(Examined({&kSlow, &kBroken}).report), 1);
}

TEST(Text, BeginsWithWhatIsToBeDoneFirstAndFoldsWhatIsAlikeAndWell) {
  const Examined all({&kBroken, &kAbsent, &kFine, &kHidden, &kSlow});
  const std::string text = to_text(all.report, {});
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "FAIL     broken [2J  [broken]\n"
            "         Nothing works.\n"
            "         now: all of it\n"
            "           line 1\n"
            "           line 2 that is so long that it would not fit into a line\n"
            "warn     GPU 1, GPU 2: slow  [slow]\n"
            "         It waits.\n"
            "         now: turn it up\n"
            "         for good:\n"
            "           sudo gdr fix speed --apply --persist\n"
            "         or by hand:\n"
            "           faster\n"
            "unknown  not shown  [hidden]\n"
            "         to find out:\n"
            "           ask root");
  EXPECT_NE(text.find("\n1 failed, 2 warnings, 1 unknown, 1 ok, 1 skipped (no NIC)\n"),
            std::string::npos);
}

TEST(Text, SaysFirstThatNothingIsWrongWhereOnlyUnknownIsLeft) {
  const Examined quiet({&kFine, &kHidden});
  const std::string text = to_text(quiet.report, {});
  EXPECT_TRUE(text.starts_with("No problem found. These checks could not tell:\nunknown  "))
      << text;
  EXPECT_TRUE(to_text(Examined({&kFine, &kHidden, &kSlow}).report, {}).starts_with("warn  "));
}

Findings many_pairs(const Host&) {
  Finding finding;
  finding.outcome = Outcome::kWarn;
  finding.subject =
      "GPU 0000:13:00.0 - mlx5_0, GPU 0000:23:00.0 - mlx5_1, GPU 0000:33:00.0 - mlx5_2";
  finding.summary = "the IOMMU translates";
  Findings findings;
  findings.push_back(finding);
  return findings;
}

TEST(Text, ShowsTheProblemBeforeALongListOfDevices) {
  const Check check{"many", Area::kPcie, "", "", 10, Cost::kPassive, many_pairs};
  EXPECT_TRUE(to_text(Examined({&check}).report, {})
                  .starts_with("warn     the IOMMU translates: GPU 0000:13:00.0 - mlx5_0, "));
}

Findings eight_gpus(const Host&) {
  Findings findings;
  for (int i = 0; i < 8; ++i) {
    Finding finding;
    finding.subject = "GPU " + std::to_string(i);
    // One is another: those around it are told of at once all the same.
    finding.summary = i == 3 ? "BAR1 is 64 GiB" : "BAR1 is 128 GiB";
    finding.evidence = {{"/sys/" + std::to_string(i), "1"}};
    findings.push_back(finding);
  }
  return findings;
}

TEST(Text, SaysOnceWhatIsTheSameOfEightGpusAndJsonSaysItOfEach) {
  const Check check{"eight", Area::kGpu, "", "", 10, Cost::kPassive, eight_gpus};
  const Examined one({&check});
  const std::string text = to_text(one.report, {.all = true, .style = {}});
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "ok       7 GPUs: BAR1 is 128 GiB  [eight]\n"
            "ok       GPU 3: BAR1 is 64 GiB  [eight]");
  EXPECT_NE(text.find("8 ok"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(to_json(one.report))["findings"].size(), 8u);
  EXPECT_NE(explain(one.report.judgements[0], {}).find("ok       GPU 7: BAR1"), std::string::npos)
      << "with what was read of each";
}

TEST(Text, OfAllShowsEachAndWhatDoesNotApply) {
  const Examined all({&kFine, &kSlow, &kAbsent});
  const std::string text = to_text(all.report, {.all = true, .style = {}});
  EXPECT_NE(text.find("ok       GPU 1: fine  [fine]"), std::string::npos);
  EXPECT_NE(text.find("warn     GPU 1, GPU 2: slow  [slow]"), std::string::npos);
  EXPECT_NE(text.find("Skipped (no NIC): absent"), std::string::npos);
}

TEST(Text, IsNoWiderThanTheTerminalButForCommands) {
  const Examined all({&kBroken, &kSlow, &kHidden});
  text::Style style;
  style.columns = 40;
  const std::string text = to_text(all.report, {.all = true, .style = style});
  for (std::string_view line : split(text, '\n')) {
    const bool command = line.rfind("           ", 0) == 0;
    EXPECT_TRUE(command || line.size() <= 40) << line;
  }
  EXPECT_NE(text.find("\n           line 2 that is so long that it would not fit into a line\n"),
            std::string::npos)
      << text;
}

TEST(Explanation, HasTitleTextFindingAndWhatWasRead) {
  const Examined one({&kFine});
  const std::string text = explain(one.report.judgements[0], {});
  EXPECT_EQ(text,
            "fine: Title of fine\nArea gpu; reads files\n\nExplains.\n\n"
            "ok       GPU 1: fine  [fine]\n         read: /sys/a = 1\n");
  const Examined absent({&kAbsent});
  EXPECT_NE(explain(absent.report.judgements[0], {}).find("On this host: skipped, no NIC"),
            std::string::npos);
}

TEST(Json, HasEveryFindingInOrderAndEveryCheck) {
  const Examined all({&kBroken, &kAbsent, &kFine, &kHidden, &kSlow});
  const auto document = nlohmann::json::parse(to_json(all.report));
  EXPECT_EQ(document["exit_status"], 1);
  EXPECT_EQ(document["counts"]["warn"], 2);
  EXPECT_EQ(document["counts"]["checks_that_do_not_apply"], 1);
  ASSERT_EQ(document["findings"].size(), 5u);
  const auto& first = document["findings"][0];
  EXPECT_EQ(first["check"], "broken");
  EXPECT_EQ(first["outcome"], "fail");
  EXPECT_EQ(first["fix"]["now"]["command"],
            "line 1\nline 2 that is so long that it would not fit into a line");
  EXPECT_EQ(first["fix"]["now"]["note"], "all of it");
  EXPECT_EQ(first["fix"]["for_good"]["command"], "");
  EXPECT_EQ(document["findings"][1]["fix"]["for_good"]["by_hand"], "faster");
  EXPECT_EQ(first["evidence"][0]["source"], "/proc/b");
  ASSERT_EQ(document["checks"].size(), 5u);
  for (const auto& check : document["checks"]) {
    EXPECT_EQ(check["does_not_apply"], check["check"] == "absent" ? "no NIC" : "");
  }
  EXPECT_TRUE(document["captured"].is_null());
}

TEST(AllChecks, HaveIdsOfTheirOwnTitlesExplanationsAndOrder) {
  std::set<std::string> ids;
  unsigned rank = 0;
  for (const Check* check : all_checks()) {
    EXPECT_TRUE(ids.insert(check->id).second) << check->id;
    EXPECT_EQ(std::string(check->id).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
              std::string::npos)
        << check->id;
    EXPECT_GT(std::string(check->explanation).size(), 80u) << check->id;
    EXPECT_NE(std::string(check->title), "") << check->id;
    EXPECT_GE(check->rank, rank) << check->id;
    EXPECT_EQ(find_check(check->id), check);
    rank = check->rank;
  }
  EXPECT_EQ(find_check("no-such-check"), nullptr);
}

// A capture that has nothing tells nothing: no check may take absence for health.
TEST(AllChecks, FindNothingWellOnAnEmptyCapture) {
  const Examined empty({}, true, "/dev/null");
  for (const Judgement& judgement : empty.report.judgements) {
    for (const Finding& finding : judgement.findings) {
      EXPECT_NE(finding.outcome, Outcome::kOk) << judgement.check->id << ": " << finding.summary;
      EXPECT_NE(finding.summary, "") << judgement.check->id;
    }
  }
}

}  // namespace
}  // namespace gdr::doctor::test
