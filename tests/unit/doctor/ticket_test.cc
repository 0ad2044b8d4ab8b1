#include "doctor/ticket/ticket.h"

#include <gtest/gtest.h>

#include "doctor/environment.h"
#include "doctor/run.h"
#include "host/inventory.h"
#include "machine.h"

namespace gdr::doctor {
namespace {

using gdr::test::Machine;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string value_of(const std::vector<TicketFact>& facts, const std::string& name) {
  for (const TicketFact& fact : facts) {
    if (fact.name == name) return fact.value;
  }
  return "none";
}

// A made-up check, so that what it finds is all of the report.
constexpr Check kCheck{"acs", Area::kPcie, "Access control", "…", 60, Cost::kPassive, nullptr};
constexpr Check kOther{"iommu", Area::kPcie, "IOMMU", "…", 61, Cost::kPassive, nullptr};

Finding finding_of(Outcome outcome, const std::string& subject, const std::string& summary) {
  Finding finding;
  finding.outcome = outcome;
  finding.subject = subject;
  finding.summary = summary;
  return finding;
}

Report report_of(Findings findings) {
  Report report;
  report.judgements.push_back({&kCheck, std::move(findings), 0, {}});
  report.judgements.push_back({&kOther, {}, 0, {}});
  return report;
}

Ticket ticket_of(const Report& report) {
  return {report,          {{"kernel", "6.8.0-45-generic"}},
          "1.0",           "2026-11-23 04:05 UTC",
          "node17",        "<svg></svg>",
          "GPU0 topology", "mac b8:3f:d2:00:00:01"};
}

TEST(TicketFacts, AreWhatAReaderAsksForFirst) {
  Machine machine;
  for (unsigned i = 1; i <= 2; ++i) machine.add_switch(i);
  machine.write("sys/class/dmi/id/product_name", "PowerEdge XE9680\n");
  machine.write("proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
  machine.write("etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\n");
  machine.write("sys/module/nvidia/version", "580.95.05\n");
  machine.write("sys/module/mlx5_core/version", "24.10-0.7.0\n");
  machine.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module\n");
  machine.write("proc/cmdline", "ro iommu=pt token=hunter2\n");
  machine.write_all();
  const host::Files files(machine.root());
  const host::Inventory inventory = host::take_inventory(files);
  const Host host{
      files,   inventory, {{"NCCL_IB_HCA", "mlx5_0"}, {"NCCL_DEBUG_FILE", "/home/alice/x"}},
      nullptr, {},        {}};
  const auto facts = facts_of(host);
  EXPECT_EQ(value_of(facts, "machine"), "PowerEdge XE9680");
  EXPECT_EQ(value_of(facts, "system"), "Ubuntu 22.04.5 LTS");
  EXPECT_EQ(value_of(facts, "kernel"), "6.8.0-45-generic");
  EXPECT_EQ(value_of(facts, "GPU driver"), "nvidia 580.95.05, open kernel modules");
  EXPECT_TRUE(has(value_of(facts, "GPUs"), "2 x NVIDIA")) << value_of(facts, "GPUs");
  EXPECT_TRUE(has(value_of(facts, "NICs"), "firmware 28.39.1002, driver mlx5_core 24.10-0.7.0"))
      << value_of(facts, "NICs");
  EXPECT_TRUE(has(value_of(facts, "kernel parameters"), "iommu=pt"));
  EXPECT_TRUE(has(value_of(facts, "variables"), "NCCL_IB_HCA=mlx5_0"));
  for (const TicketFact& fact : facts) {
    EXPECT_FALSE(has(fact.value, "hunter2") || has(fact.value, "alice")) << fact.name;
  }
}

TEST(Ticket, BeginsWithTheVerdict) {
  const Report wrong = report_of(
      {finding_of(Outcome::kFail, "", "redirects"), finding_of(Outcome::kWarn, "", "slow")});
  EXPECT_EQ(verdict_of(wrong).find("FAILED: 1 failed, 1 warning"), 0u) << verdict_of(wrong);
  EXPECT_EQ(verdict_of(report_of({finding_of(Outcome::kWarn, "", "slow")})).find("WARNINGS: 1"),
            0u);
  EXPECT_EQ(verdict_of(report_of({finding_of(Outcome::kUnknown, "", "?")}))
                .find("NO PROBLEM FOUND: 1 unknown"),
            0u);
  EXPECT_EQ(verdict_of(report_of({finding_of(Outcome::kOk, "", "fine")})).find("ALL WELL"), 0u);
  const std::string page = to_html(ticket_of(wrong)), text = to_markdown(ticket_of(wrong));
  EXPECT_TRUE(has(page, "<h1 class=\"fail\">FAILED: 1 failed")) << page;
  EXPECT_EQ(text.find("### gdr doctor: FAILED: 1 failed"), 0u) << text;
}

TEST(Ticket, HasEachFindingWithWhatToTypeAndWhatWasRead) {
  Finding finding = finding_of(Outcome::kFail, "GPU 0000:19:00.0", "redirects at 0000:18:00.0");
  finding.consequence = "Half the bandwidth.";
  finding.evidence = {{"/sys/x/config", "0x1d"}};
  finding.fix.now = to_type("sudo gdr fix acs --apply", "when jobs may stop");
  finding.fix.for_good = by_gdr_fix_for_good("acs", text::Command("setpci -s 19:00.0 0x4e.w=0"));
  const Report report = report_of({finding});
  const std::string page = to_html(ticket_of(report)), text = to_markdown(ticket_of(report));
  for (const char* part :
       {"GPU 0000:19:00.0: redirects at 0000:18:00.0", "Half the bandwidth.",
        "/sys/x/config = 0x1d", "sudo gdr fix acs --apply", "sudo gdr fix acs --apply --persist",
        "when jobs may stop", "setpci -s 19:00.0 0x4e.w=0", "6.8.0-45-generic"}) {
    EXPECT_TRUE(has(page, part)) << part;
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_TRUE(has(page, "<svg></svg>") && has(page, "mac b8:3f:d2:00:00:01") &&
              has(page, "node17"));
  EXPECT_TRUE(has(text, "now: when jobs may stop\n```sh\nsudo gdr fix acs --apply\n```\n")) << text;
  EXPECT_TRUE(has(text, "GPU0 topology"));
}

TEST(Ticket, MarkdownNamesNeitherHostNorAddresses) {
  Finding finding = finding_of(Outcome::kFail, "GPU 0000:19:00.0 - mlx5_0",
                               "GID fe80::ba3f:d2ff:fe00:1 of b8:3f:d2:00:00:01, at 0000:1a:00.0");
  finding.evidence = {
      {"/sys/class/infiniband/mlx5_0/ports/1/gids/3", "0000:0000:0000:0000:0000:ffff:c0a8:0001"},
      {"/sys/class/net/ib0/address", "00:00:10:29:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:a5:1f:b6"},
      {"gid", "::ffff:192.168.0.1"}};
  finding.fix.now = to_type("ip neigh del fe80::1234:5 dev ib0");
  const std::string text = to_markdown(ticket_of(report_of({finding})));
  for (const char* part : {"node17", "b8:3f:d2", "ba3f:d2ff", "c0a8", "192.168.0.1", "fe80::"}) {
    EXPECT_FALSE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_TRUE(has(text, "GPU 0000:19:00.0 - mlx5_0: GID (left-out) of (left-out), at 0000:1a:00.0"))
      << text;
}

TEST(Ticket, MarkdownLeavesOutIPv4AddressesAndKeepsVersions) {
  Finding finding = finding_of(Outcome::kFail, "ens1f0np0",
                               "10.1.2.3, 192.168.100.200:18515 and 172.16.0.9. OFED 5.8-1.0.1.1, "
                               "driver 580.95.05, firmware 28.39.1002, 127.0.0.1, 300.1.2.3");
  finding.fix.now = to_type("ping -c 1 10.1.2.4");
  finding.evidence = {{"address", "10.1.2.5/24"}};
  const std::string text = to_markdown(ticket_of(report_of({finding})));
  for (const char* part : {"10.1.2.", "192.168.100", "172.16", "18515"}) {
    EXPECT_FALSE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_TRUE(has(text,
                  "(left-out), (left-out) and (left-out) OFED 5.8-1.0.1.1, driver 580.95.05, "
                  "firmware 28.39.1002, 127.0.0.1, 300.1.2.3"))
      << text;
}

TEST(Ticket, TellsOfAlikeDevicesOnce) {
  Findings findings;
  for (const char* gpu : {"GPU 0000:19:00.0", "GPU 0000:3b:00.0", "GPU 0000:4c:00.0"}) {
    findings.push_back(finding_of(Outcome::kWarn, gpu, "is not persistent"));
  }
  const Report report = report_of(std::move(findings));
  for (const std::string& said : {to_html(ticket_of(report)), to_markdown(ticket_of(report))}) {
    ASSERT_TRUE(has(said, "is not persistent")) << said;
    EXPECT_EQ(said.find("is not persistent"), said.rfind("is not persistent")) << said;
  }
}

TEST(Ticket, PageLoadsNothingAndRunsNoScript) {
  Finding finding = finding_of(Outcome::kFail, "<img src=x onerror=alert(1)>",
                               "</title></style><script>alert(2)</script>");
  finding.consequence = "<script>alert(5)</script>";
  finding.fix.now = to_type("echo '</pre><script>'", "<b>");
  finding.evidence = {{"\"><svg onload=alert(3)>", "javascript:alert(4)"}};
  const Report report = report_of({finding});
  const std::string page = to_html(ticket_of(report));
  EXPECT_TRUE(has(page, "default-src 'none'"));
  for (const char* part :
       {"<script", "<img", "<svg onload", "http://", "https://", "<link rel=\"s"}) {
    EXPECT_FALSE(has(page, part)) << part;
  }
}

TEST(Ticket, MarkdownEscapesTextOfTheMachine) {
  Finding finding = finding_of(Outcome::kFail, "@everyone [x](https://evil.example) `rm`",
                               "<script> #17 *bold* _em_ mlx5_0 | cell");
  finding.fix.now = to_type("echo ```\n# heading\n```");
  finding.evidence = {{"````", "````"}};
  const std::string text = to_markdown(ticket_of(report_of({finding})));
  for (const char* part :
       {"@everyone", "[x](https", "https://", "<script>", "#17", " *bold*", " _em_"}) {
    EXPECT_FALSE(has(text, part)) << part << "\n" << text;
  }
  EXPECT_TRUE(has(text, "mlx5_0")) << "a name is as it is";
  EXPECT_TRUE(has(text, "````sh\necho ```\n")) << text;
  EXPECT_TRUE(has(text, "`````\n")) << text;
}

}  // namespace
}  // namespace gdr::doctor
