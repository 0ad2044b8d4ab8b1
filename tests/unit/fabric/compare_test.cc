#include "fabric/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "output/sample_fleet.h"
#include "text/wrap.h"

namespace gdr::fabric {
namespace {

SampleFleet month(std::uint32_t seed) {
  SampleFleet fleet;
  fleet.hosts = 32;
  fleet.is_healthy = true;
  fleet.seed = seed;
  return fleet;
}

void slow_down(Report& report, HostIndex host, float factor) {
  for (Measurement& one : report.measurements) {
    if (one.from == host || one.to == host) one.bytes_per_second *= factor;
  }
}

void slow_down_all(Report& report, double factor) {
  for (Measurement& one : report.measurements) one.bytes_per_second *= static_cast<float>(factor);
  for (FleetRail& rail : report.fleet) {
    rail.bandwidth.median *= factor;
    rail.bandwidth.deviation *= factor;
  }
}

std::vector<std::string> shown(const std::vector<Change>& changes) {
  std::vector<std::string> found;
  for (const Change& one : changes) {
    if (one.is_shown) found.push_back(one.host + " " + std::string(name_of(one.measure)));
  }
  return found;
}

TEST(FabricCompare, NoiseShowsNoChangeInManyPairsOfRuns) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Comparison same = compare(sample_fleet(month(seed)), sample_fleet(month(seed + 100)));
    EXPECT_EQ(shown(same.hosts), std::vector<std::string>{}) << "seed " << seed;
    EXPECT_EQ(shown(same.fleet), std::vector<std::string>{}) << "seed " << seed;
    EXPECT_EQ(same.hosts_compared, 32u);
    EXPECT_FALSE(is_worse_by(same, 0.01));
  }
}

TEST(FabricCompare, NoiseShowsNoChangeInALargeSampledFleet) {
  SampleFleet large = month(1), later = month(2);
  large.hosts = later.hosts = 512;
  large.rails = later.rails = 4;
  large.rounds = later.rounds = 8;
  const Comparison same = compare(sample_fleet(large), sample_fleet(later));
  EXPECT_EQ(shown(same.hosts), std::vector<std::string>{});
}

TEST(FabricCompare, AHostThatBecameSlowerIsNamedWithItsShare) {
  Report now = sample_fleet(month(2));
  slow_down(now, 5, 0.9f);
  const Comparison found = compare(sample_fleet(month(1)), now);
  // Both rails, what it sent and what it received.
  ASSERT_EQ(found.hosts.size(), 4u);
  for (const Change& one : found.hosts) {
    EXPECT_EQ(one.host, "n5");
    EXPECT_NEAR(one.share, -0.1, 0.01);
    EXPECT_TRUE(one.is_worse);
  }
  EXPECT_TRUE(is_worse_by(found, 0.08));
  EXPECT_FALSE(is_worse_by(found, 0.2));
}

TEST(FabricCompare, AFasterHostIsNoReasonToFail) {
  Report before = sample_fleet(month(1));
  slow_down(before, 5, 0.9f);
  const Comparison found = compare(before, sample_fleet(month(2)));
  EXPECT_EQ(found.hosts.size(), 4u);
  EXPECT_FALSE(found.hosts.front().is_worse);
  EXPECT_FALSE(is_worse_by(found, 0.01));
}

TEST(FabricCompare, AFleetThatIsSlowerThroughoutIsOneChangeAndNotOneOfEachHost) {
  Report now = sample_fleet(month(2));
  slow_down_all(now, 0.9);
  const Comparison found = compare(sample_fleet(month(1)), now);
  EXPECT_TRUE(found.hosts.empty());
  EXPECT_EQ(shown(found.fleet), (std::vector<std::string>{" bandwidth", " bandwidth"}));
  EXPECT_TRUE(is_worse_by(found, 0.05));
  EXPECT_FALSE(is_worse_by(found, 0.2));
}

TEST(FabricCompare, AHigherLatencyIsWorse) {
  Report now = sample_fleet(month(2));
  for (Measurement& one : now.measurements) {
    if (one.from == 9) one.latency *= 1.5f;
  }
  const Comparison found = compare(sample_fleet(month(1)), now);
  ASSERT_EQ(found.hosts.size(), 2u);
  EXPECT_EQ(found.hosts[0].measure, Measure::kLatency);
  EXPECT_TRUE(found.hosts[0].is_worse);
}

TEST(FabricCompare, OfTwoHostsEachIsComparedWithItself) {
  SampleFleet two = month(1);
  two.hosts = 2;
  Report now = sample_fleet(two);
  slow_down(now, 0, 0.8f);
  EXPECT_FALSE(compare(sample_fleet(two), now).hosts.empty());
}

TEST(FabricCompare, HostsThatCameAndWentAreMatchedByName) {
  Report before = sample_fleet(month(1)), now = sample_fleet(month(2));
  before.hosts[3].name = "old";
  now.hosts[4].name = "new";
  now.hosts[6].state = HostState::kNeverCame;
  const Comparison found = compare(before, now);
  EXPECT_EQ(found.hosts_came, (std::vector<std::string>{"n3", "new"}));
  EXPECT_EQ(found.hosts_went, (std::vector<std::string>{"n4", "n6", "old"}));
  EXPECT_EQ(found.hosts_compared, 29u);
}

TEST(FabricCompare, FindingsAreNewGoneOrStillThereWhateverTheirNumbers) {
  SampleFleet fleet;
  Report before = sample_fleet(fleet), now = sample_fleet(fleet);
  // The same hosts in another order, and other words.
  std::swap(now.hosts[7], now.hosts[8]);
  for (Finding& one : now.findings) {
    if (one.hosts == std::vector<HostIndex>{7}) one.hosts = {8}, one.text = "n7: 16 % slower";
  }
  now.findings.erase(now.findings.begin());
  Finding fresh = before.findings[3];
  fresh.hosts = {1};
  fresh.text = "n1 is slow";
  now.findings.push_back(fresh);
  const Comparison found = compare(before, now);
  EXPECT_EQ(found.findings_still.size(), 3u);
  ASSERT_EQ(found.findings_new.size(), 1u);
  EXPECT_EQ(found.findings_new[0].text, "n1 is slow");
  ASSERT_EQ(found.findings_gone.size(), 1u);
  EXPECT_EQ(found.findings_gone[0].fault, Fault::kWrongBytes);
}

TEST(FabricCompare, ANewFindingIsWorseUnlessItIsASmallerShare) {
  Report now = sample_fleet(month(1));
  Finding& slow = now.findings.emplace_back();
  slow.share = 0.95;
  EXPECT_TRUE(is_worse_by(compare(sample_fleet(month(1)), now), 0.04));
  EXPECT_FALSE(is_worse_by(compare(sample_fleet(month(1)), now), 0.1));
  slow.fault = Fault::kWrongBytes;
  EXPECT_TRUE(is_worse_by(compare(sample_fleet(month(1)), now), 0.5));
}

TEST(FabricCompare, TellsWhatMakesTheRunsUnlike) {
  Report now = sample_fleet(month(1));
  now.pattern = Pattern::kTournament;
  now.hosts[0].rails[0].software_nic = true;
  const Comparison found = compare(sample_fleet(month(1)), now);
  ASSERT_EQ(found.unlike.size(), 2u);
  EXPECT_EQ(found.unlike[0].what, "simulated");
  EXPECT_EQ(found.unlike[1].other, "tournament");
}

TEST(FabricCompare, TheTextNamesTheHostFitsItsWidthAndMovesNoCursor) {
  Report before = sample_fleet(), now = sample_fleet();
  slow_down(now, 5, 0.8f);
  Comparison found = compare(before, now);
  found.base.file = "before.json";
  EXPECT_NE(to_text(found, 0).find("\n  n5    mlx5_0 with GPU 0  "), std::string::npos)
      << to_text(found, 0);
  spoil(before);
  spoil(now);
  EXPECT_EQ(to_text(compare(before, now), 0).find('\x1b'), std::string::npos);
  std::istringstream lines(to_text(found, 80));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(text::screen_width(line), 80u) << line;
  }
}

TEST(FabricCompare, TheDocumentHasEveryChange) {
  Report now = sample_fleet(month(2));
  slow_down(now, 5, 0.9f);
  const auto document = nlohmann::json::parse(to_json(compare(sample_fleet(month(1)), now)));
  EXPECT_EQ(document["schema"], "gdr.fabric.compare/1");
  EXPECT_EQ(document["hosts"].size(), 4u);
  EXPECT_EQ(document["hosts"][0]["host"], "n5");
  EXPECT_EQ(document["hosts"][0]["verdict"], "worse");
  EXPECT_EQ(document["fleet"].size(), 4u);
}

TEST(FabricCompare, EmptyReportsCompareToNothing) {
  const Comparison found = compare({}, {});
  EXPECT_TRUE(found.fleet.empty());
  EXPECT_FALSE(is_worse_by(found, 0.01));
  EXPECT_NE(to_text(found, 80).find("no fleet figure in common"), std::string::npos);
}

}  // namespace
}  // namespace gdr::fabric
