#include "fabric/output/text_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "fabric/output/words.h"
#include "sample_fleet.h"
#include "text/wrap.h"

namespace gdr::fabric {
namespace {

SampleFleet healthy(std::uint32_t hosts = 4, std::uint32_t rails = 2) {
  SampleFleet fleet;
  fleet.hosts = hosts;
  fleet.rails = rails;
  fleet.is_healthy = true;
  return fleet;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string first_line(const Report& report) { return lines_of(to_text(report, {})).front(); }

TEST(FabricText, BeginsWithTheVerdictOfTheFabric) {
  Report report = sample_fleet(healthy());
  EXPECT_EQ(first_line(report),
            "FABRIC PROVED: 4 hosts, 2 rails, all 6 pairs of hosts, every byte compared");
  report.findings.emplace_back().text = "n1 is slow";
  EXPECT_EQ(first_line(report), "1 FINDING: 4 hosts, 2 rails, all 6 pairs of hosts");
}

TEST(FabricText, NeverCallsAFabricProvedThatStandInsOrProcessesReplaced) {
  SampleFleet soft = healthy();
  soft.is_software = true;
  Report report = sample_fleet(soft);
  std::string text = to_text(report, {});
  EXPECT_EQ(text.find("SIMULATION PASSED: "), 0u);
  EXPECT_NE(text.find("\nSimulated RDMA NIC and GPU: this says nothing about real hardware.\n"),
            text.npos);
  report.processes_as_hosts = true;
  text = to_text(report, {});
  EXPECT_NE(text.find("Processes of one host stood for hosts"), text.npos);
  report = sample_fleet(healthy());
  report.processes_as_hosts = true;
  EXPECT_EQ(to_text(report, {}).find("PASSED WITHIN ONE HOST: "), 0u);
}

TEST(FabricText, HeadlineCountsNoRailsOfWhoWasLeftOut) {
  Report report = sample_fleet(healthy(5));
  Host& liar = report.hosts.back();
  liar.state = HostState::kLeftOut;
  liar.rails.assign(64, liar.rails[0]);
  for (Rail& rail : liar.rails) {
    rail.software_nic = true;
    rail.gpu.clear();
  }
  std::erase_if(report.measurements, [](const Measurement& m) { return m.from == 4 || m.to == 4; });
  const std::string text = to_text(report, {});
  EXPECT_EQ(first_line(report),
            "FABRIC PROVED: 4 hosts, 2 rails, all 6 pairs of hosts, every byte compared");
  EXPECT_EQ(text.find("Simulated"), text.npos) << text;
  EXPECT_EQ(text.find("host memory was"), text.npos) << text;
}

TEST(FabricText, NeverCallsAFabricProvedOfWhichNothingWasCompared) {
  Report report = sample_fleet(healthy());
  report.measurements.clear();
  EXPECT_EQ(to_text(report, {}).find("NOTHING PROVED: no transfer was compared"), 0u);
  EXPECT_EQ(to_text(Report{}, {}).find("NOTHING PROVED"), 0u);
}

TEST(FabricText, SaysThatARunWasInterrupted) {
  Report report = sample_fleet(healthy());
  report.rounds_done = 1;
  EXPECT_EQ(to_text(report, {}).find("INTERRUPTED: 1 of 3 rounds done, no finding in them"), 0u);
  report.findings.emplace_back().text = "n1 is slow";
  EXPECT_NE(to_text(report, {}).find("\nInterrupted: 1 of 3 rounds done.\n"), std::string::npos);
}

TEST(FabricText, ShowsAFindingWithEvidenceDoctorAndWhatToType) {
  const std::string text = to_text(sample_fleet(), {});
  EXPECT_NE(text.find(" 3. n3: mlx5_1 is 40 % slower than the fleet\n"
                      "    What it sent: 14.5 GB/s, the fleet 24.1 GB/s.\n"
                      "    Its other rail is as fast.\n"
                      "    Confirmed: seen again alone on the fabric.\n"
                      "    gdr doctor: link of mlx5_1 runs at 100 Gb/s instead of 200 Gb/s\n"
                      "    next: ssh n3 gdr doctor --all\n"),
            text.npos)
      << text;
  EXPECT_NE(text.find("\n  1 died, the connection ended: n11\n"), text.npos);
}

TEST(FabricText, GivesEachRailsMediansAsAShareOfItsLink) {
  const std::string text = to_text(sample_fleet(healthy(16, 1)), {});
  const auto lines = lines_of(text);
  const auto head = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("  rail  "); });
  ASSERT_NE(head, lines.end());
  EXPECT_EQ(*head, "  rail               bandwidth  least      most       link");
  EXPECT_TRUE((head + 1)->starts_with("  mlx5_0 with GPU 0  24.")) << *(head + 1);
  EXPECT_TRUE((head + 1)->ends_with("  96 %")) << *(head + 1);
}

TEST(FabricText, SaysWhatWasNotTested) {
  SampleFleet sampled = healthy(64);
  sampled.rounds = 4;
  Report report = sample_fleet(sampled);
  report.topology.clear();
  const std::string text = to_text(report, {});
  EXPECT_NE(text.find(" of 2,016 pairs of hosts have not met (sampled).\n"), text.npos);
  EXPECT_NE(text.find("Rails met the same rail of other hosts only"), text.npos);
  EXPECT_NE(text.find("Leaf switches are not known"), text.npos);
  EXPECT_EQ(text.find("Latency was not measured"), text.npos);
}

TEST(FabricText, DoesNotGrowWithTheNumberOfHostsOrFindings) {
  SampleFleet large;
  large.hosts = 500;
  large.rails = 8;
  large.rounds = 8;
  Report report = sample_fleet(large);
  for (std::size_t i = 20; i < 500; ++i) {
    report.hosts[i].state = HostState::kNeverCame;
    report.hosts[i].problem = "reason " + std::to_string(i % 40);
    Finding finding = report.findings.back();
    finding.evidence.assign(50, "a sentence");
    report.findings.push_back(finding);
  }
  const std::string text = to_text(report, {});
  EXPECT_LT(lines_of(text).size(), 280u);
  EXPECT_NE(text.find("and 464 more findings"), text.npos);
  EXPECT_NE(text.find("and 31 groups for other reasons"), text.npos);
}

TEST(FabricText, FitsTheWidthOfTheTerminal) {
  Report report = sample_fleet();
  report.findings[2].evidence.push_back(
      "A long sentence that goes on and on, with many words, until it is wider than a terminal.");
  for (const std::size_t columns : {60u, 80u}) {
    for (const std::string& line : lines_of(to_text(report, {false, false, columns}))) {
      EXPECT_LE(text::screen_width(line), columns) << line;
    }
  }
}

TEST(FabricText, MovesNoCursorWhateverHostsCallThemselves) {
  Report report = sample_fleet();
  spoil(report);
  EXPECT_EQ(to_text(report, {}).find('\x1b'), std::string::npos);
}

TEST(FabricWords, HostsStandInSlurmsNotationUntilThatIsLong) {
  EXPECT_EQ(host_names({"n3", "n1", "n2", "login"}), "login,n[1-3]");
  std::vector<std::string> many;
  for (int i = 0; i < 500; ++i)
    many.push_back(std::string("host-of-rack") + char('a' + i % 26) + "-" + std::to_string(i * 2));
  const std::string text = host_names(many);
  EXPECT_LT(text.size(), 400u);
  EXPECT_NE(text.find(" and 488 more"), text.npos) << text;
}

TEST(FabricWords, DurationsAndNumbersReadAsPeopleWriteThem) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(2.04), "2.0 s");
  EXPECT_EQ(duration_text(100), "1 min 40 s");
  EXPECT_EQ(duration_text(7500), "2 h 5 min");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1048576), "1,048,576");
}

}  // namespace
}  // namespace gdr::fabric
