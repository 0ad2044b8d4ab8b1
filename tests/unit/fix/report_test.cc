#include "fix/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_host.h"

namespace gdr::fix {
namespace {

Record port(const std::string& address) {
  return {.kind = kAccessControl,
          .target = address,
          .identity = "10b5:8749",
          .path = "sys/devices/pci0000:00/" + address,
          .offset = 0x170,
          .old_value = "0x001d",
          .new_value = "0x0011",
          .boot = "boot-a",
          .time = "2026-11-22T11:18:40Z"};
}

Report planned(const std::vector<std::string>& refusals) {
  Report report;
  report.command = text::Command("sudo gdr fix acs --apply");
  report.journal_file = "/var/lib/gdrkit/fix/journal";
  Proposal proposal;
  proposal.topic = "acs";
  proposal.title = "PCIe Access Control Services";
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    proposal.propose(port("0000:18:0" + std::to_string(i) + ".0"), refusals[i]);
  }
  report.plan.push_back(std::move(proposal));
  return report;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Report, ShowsOldAndNewAndTheWayBack) {
  const std::string text = to_text(planned({""}), {});
  EXPECT_TRUE(says(text, "nothing changes"));
  EXPECT_TRUE(says(text, "old   0x001d (source validation, request redirect, completion redirect"));
  EXPECT_TRUE(says(text, "new   0x0011 (source validation, upstream forwarding)"));
  EXPECT_TRUE(says(text,
                   "    undo  sudo gdr fix --undo\n"
                   "    or    sudo setpci -s 0000:18:00.0 ECAP_ACS+6.w=001d\n"));
  EXPECT_TRUE(says(text, "1 change planned; to apply: sudo gdr fix acs --apply"));
}

TEST(Report, FailsWhereSomethingIsRefused) {
  EXPECT_EQ(planned({""}).exit_status(), 0);
  const Report report = planned({"", "it belongs to vfio-pci"});
  EXPECT_EQ(report.exit_status(), 1);
  EXPECT_TRUE(says(to_text(report, {}), "=> refused: it belongs to vfio-pci"));
  EXPECT_TRUE(says(to_text(report, {}), "1 change planned, 1 refused"));
}

TEST(Report, TellsOfEachChangeWhatBecameOfIt) {
  Report report = planned({"", "refused here", ""});
  report.mode = Mode::kApply;
  report.steps = {{port("0000:18:00.0"), Fate::kRolledBack, ""},
                  {port("0000:18:02.0"), Fate::kFailed, "it holds 0x001d"}};
  const std::string text = to_text(report, {});
  const auto failed = text.find("failed; nothing changed: it holds 0x001d");
  ASSERT_NE(failed, std::string::npos) << text;
  EXPECT_LT(text.find("rolled back"), text.find("refused here"));
  EXPECT_LT(text.find("refused here"), failed);
  EXPECT_TRUE(says(text, "all changes of this run were rolled back"));
  EXPECT_EQ(report.exit_status(), 1);
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["plan"][0]["changes"][0]["fate"], "rolled back");
  EXPECT_FALSE(json["plan"][0]["changes"][1].contains("fate"));
  EXPECT_EQ(json["plan"][0]["changes"][2]["reason"], "it holds 0x001d");
  EXPECT_EQ(json["exit_status"], 1);
}

TEST(Report, NamesACapturedMachineAndOffersNoChangeOfIt) {
  Report report = planned({""});
  report.captured = "/captures/dgx";
  EXPECT_TRUE(says(to_text(report, {}), "captured machine /captures/dgx"));
  EXPECT_FALSE(says(to_text(report, {}), "--apply"));
}

TEST(Report, PrintsAHostileJournalHarmlessly) {
  Report report;
  report.mode = Mode::kStatus;
  Record record = port("\x1b[2J0000:18:00.0\n");
  record.kind = "\x1b]0;title\a";
  record.time = "\x1b[31m";
  report.journal.entries.push_back({1, record, State::kBegun});
  record.kind = kAccessControl;
  report.journal.entries.push_back({2, record, State::kDone});
  report.journal.not_understood = {7};
  const std::string text = to_text(report, {});
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_TRUE(says(text, "gdr fix did not write line 7 of"));
  EXPECT_TRUE(nlohmann::json::accept(to_json(report)));
}

}  // namespace
}  // namespace gdr::fix
