#include "fabric/judge/judge.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "made_up_fabric.h"

namespace gdr::fabric {
namespace {

std::string all_of(const Report& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += "  [" + std::string(name_of(finding.culprit)) + "] " + finding.text + "\n";
    for (const std::string& line : finding.evidence) text += "      " + line + "\n";
    text += "      next: " + finding.next.text() + "\n";
  }
  return text;
}

// The only finding; fails where there are none or more.
Finding only_finding(const Report& report) {
  EXPECT_EQ(report.findings.size(), 1U) << all_of(report);
  return report.findings.empty() ? Finding{} : report.findings.front();
}

void expect_only(const Report& report, Fault fault, Culprit culprit,
                 const std::vector<HostIndex>& hosts, std::int32_t rail) {
  const Finding finding = only_finding(report);
  EXPECT_EQ(name_of(finding.fault), name_of(fault)) << all_of(report);
  EXPECT_EQ(name_of(finding.culprit), name_of(culprit)) << all_of(report);
  EXPECT_EQ(finding.hosts, hosts) << all_of(report);
  EXPECT_EQ(finding.rail, rail) << all_of(report);
}

constexpr std::uint64_t kSeeds = 20;

TEST(FabricJudge, HeavyTailedNoiseMakesNoFindings) {
  for (std::uint64_t seed = 1; seed <= 2 * kSeeds; ++seed) {
    for (const bool retest : {true, false}) {
      MadeUpFabric fabric({.hosts = seed % 2 == 0 ? 64U : 21U,
                           .rails = static_cast<std::uint16_t>(seed % 3 + 1),
                           .noise = seed % 5 == 0 ? 0.05 : 0.01,
                           .leaves_known = seed % 4 != 0,
                           .retest = retest,
                           .seed = seed});
      EXPECT_EQ(all_of(fabric.run()), "") << "seed " << seed;
    }
  }
}

TEST(FabricJudge, SlowHostIsFoundByAllItsRails) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    MadeUpFabric fabric({.hosts = 64, .rails = 2, .seed = seed});
    fabric.faults.push_back(slow_host(7, 0.85));
    const Report& report = fabric.run();
    expect_only(report, Fault::kSlow, Culprit::kHost, {7}, -1);
    EXPECT_TRUE(report.findings.at(0).is_confirmed) << all_of(report);
    EXPECT_NEAR(report.findings.at(0).share, 0.85, 0.03);
  }
}

TEST(FabricJudge, SlowHostOfAScatteringFleetIsOneFindingAndNotManyPairs) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    MadeUpFabric fabric({.hosts = 6, .noise = 0.5, .seed = seed});
    fabric.faults.push_back(slow_host(4, 0.04));
    const Report& report = fabric.run();
    const auto about_it = std::ranges::count_if(report.findings, [](const Finding& finding) {
      return std::ranges::find(finding.hosts, HostIndex{4}) != finding.hosts.end();
    });
    EXPECT_EQ(about_it, 1) << "seed " << seed << "\n" << all_of(report);
    EXPECT_EQ(name_of(report.findings.at(0).culprit), "host") << all_of(report);
  }
}

TEST(FabricJudge, FindingSaysInWordsWhatWhereAndWhatToType) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.faults.push_back(slow_host(7, 0.85));
  const Finding finding = only_finding(fabric.run());
  EXPECT_EQ(finding.text, "n0007: 15 % slower than the fleet on every rail");
  EXPECT_EQ(finding.next.text(),
            "scontrol update NodeName=n0007 State=DRAIN Reason='gdr fabric: slow'");
  ASSERT_EQ(finding.evidence.size(), 3U);
  EXPECT_EQ(finding.evidence[0].substr(0, 13), "mlx5_0 sends ");
  EXPECT_EQ(finding.evidence[2].substr(0, 38), "Retested alone on the fabric 3 times, ");
  EXPECT_EQ(drain_command(fabric.report).text(),
            "scontrol update NodeName=n0007 State=DRAIN Reason='gdr fabric: see its report'");
}

// A version, a setting or somebody who ended a process is no fault of a host.
TEST(FabricJudge, HostIsProposedForDrainingOnlyForWhatWasMeasuredOnIt) {
  for (const HostState state :
       {HostState::kNeverCame, HostState::kLeftOut, HostState::kDied, HostState::kHung}) {
    for (const bool has_rails : {true, false}) {
      MadeUpFabric fabric({.hosts = 8});
      Report report = fabric.run();
      report.hosts[3].state = state;
      report.hosts[3].rails[0].link_bits_per_second = 1e9;  // lower than all others
      if (!has_rails) report.hosts[3].rails.clear();
      judge(&report);
      ASSERT_FALSE(report.findings.empty());
      const bool is_measured =
          has_rails && state != HostState::kNeverCame && state != HostState::kLeftOut;
      EXPECT_EQ(all_of(report).find("DRAIN") != std::string::npos, is_measured) << all_of(report);
      EXPECT_EQ(drain_command(report).empty(), !is_measured) << all_of(report);
      EXPECT_EQ(report.findings.size(), is_measured ? 2U : 1U) << all_of(report);
    }
  }
}

TEST(FabricJudge, WhatAHostThatIsLeftOutSaysOfItselfChangesNothingForOthers) {
  MadeUpFabric fabric({.hosts = 64});
  fabric.faults.push_back(slow_host(7, 0.85));
  Report report = fabric.run();
  Host& liar = report.hosts[3];
  liar.state = HostState::kLeftOut;
  liar.rails.assign(64, liar.rails[0]);
  for (Rail& rail : liar.rails) rail.software_nic = rail.software_gpu = true;
  judge(&report);
  EXPECT_EQ(rail_count(report), 1U);
  EXPECT_EQ(report.fleet.size(), 1U);
  EXPECT_FALSE(is_simulation(report));
  EXPECT_EQ(drain_command(report).text(),
            "scontrol update NodeName=n0007 State=DRAIN Reason='gdr fabric: see its report'");
}

TEST(FabricJudge, ProcessesOfOneHostAreReachedWithoutARemoteShell) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.report.processes_as_hosts = true;
  fabric.faults.push_back(slow_host(7, 0.85));
  EXPECT_EQ(only_finding(fabric.run()).next.text(), "gdr doctor");
}

TEST(FabricJudge, SlowNicIsOneRailInBothDirections) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    MadeUpFabric fabric({.hosts = 64, .rails = 4, .seed = seed});
    fabric.faults.push_back(slow_nic(9, 2, 0.8));
    expect_only(fabric.run(), Fault::kSlow, Culprit::kNic, {9}, 2);
  }
}

TEST(FabricJudge, SlowCableIsOneRailInOneDirection) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    MadeUpFabric fabric({.hosts = 64, .rails = 4, .seed = seed});
    fabric.faults.push_back(slow_cable(9, 2, 0.7));
    expect_only(fabric.run(), Fault::kSlow, Culprit::kCable, {9}, 2);
    EXPECT_NE(all_of(fabric.report).find("receiving only"), std::string::npos);
  }
}

TEST(FabricJudge, HostWithOneRailIsNotToldApartFromItsNic) {
  MadeUpFabric fabric({.hosts = 64});
  fabric.faults.push_back(slow_host(7, 0.85));
  const Finding finding = only_finding(fabric.run());
  EXPECT_EQ(finding.culprit, Culprit::kHost);
  EXPECT_NE(finding.evidence.at(0).find("cannot be told apart"), std::string::npos);
}

TEST(FabricJudge, PortThatCameUpSlowerIsTheCableAndNothingElse) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.report.hosts[5].rails[1].link_bits_per_second = 100e9;
  const Report& report = fabric.run();
  expect_only(report, Fault::kSlow, Culprit::kCable, {5}, 1);
  EXPECT_EQ(report.findings.at(0).text, "n0005 mlx5_1: the port came up at 100 of 400 Gb/s");
}

TEST(FabricJudge, FleetOfTwoGenerationsIsNoFault) {
  MadeUpFabric fabric({.hosts = 64});
  for (HostIndex host = 0; host < 40; ++host) {
    fabric.report.hosts[host].rails[0].link_bits_per_second = 200e9;
  }
  EXPECT_EQ(all_of(fabric.run()), "");
}

TEST(FabricJudge, SlowUplinkIsItsLeafs) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    MadeUpFabric fabric({.hosts = 256, .hosts_per_leaf = 32, .seed = seed});
    fabric.faults.push_back(slow_uplink(3, 5, 0.6));
    const Report& report = fabric.run();
    for (const Finding& finding : report.findings) {
      EXPECT_EQ(finding.culprit, Culprit::kLeaf) << all_of(report);
      EXPECT_EQ(finding.leaf, "leaf3") << all_of(report);
      EXPECT_TRUE(finding.is_confirmed);
      ++found;
    }
  }
  EXPECT_EQ(found, kSeeds);
}

TEST(FabricJudge, LeafAllOfWhoseUplinksAreSlowIsOneFinding) {
  for (const Pattern pattern : {Pattern::kTournament, Pattern::kByLeaf}) {
    MadeUpFabric fabric({.hosts = 64, .hosts_per_leaf = 16, .pattern = pattern});
    fabric.faults.push_back(slow_leaf(2, 0.6));
    const Report& report = fabric.run();
    const Finding finding = only_finding(report);
    EXPECT_EQ(finding.culprit, Culprit::kLeaf);
    EXPECT_EQ(finding.leaf, "leaf2");
    EXPECT_EQ(finding.hosts.size(), 16U);
    EXPECT_TRUE(finding.is_confirmed) << all_of(report);
  }
}

TEST(FabricJudge, SlowSpineIsNoLeafs) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    MadeUpFabric fabric({.hosts = 256, .hosts_per_leaf = 32, .seed = seed});
    fabric.faults.push_back(slow_spine(5, 0.6));
    expect_only(fabric.run(), Fault::kSlow, Culprit::kSpine, {}, -1);
  }
}

TEST(FabricJudge, WithoutTopologySlowPathsArePairsAndSaySo) {
  MadeUpFabric fabric({.hosts = 64, .leaves_known = false});
  fabric.faults.push_back(slow_uplink(1, 5, 0.6));
  const Report& report = fabric.run();
  ASSERT_FALSE(report.findings.empty());
  for (const Finding& finding : report.findings) {
    EXPECT_EQ(finding.culprit, Culprit::kPair) << all_of(report);
    EXPECT_TRUE(finding.is_confirmed) << all_of(report);
    EXPECT_NE(finding.evidence.at(1).find("leaf and spine cannot be told"), std::string::npos);
  }
}

TEST(FabricJudge, UniformlySlowFleetIsSeenByItsLinks) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2, .reached = 0.5});
  expect_only(fabric.run(), Fault::kSlow, Culprit::kFleet, {0}, -1);
}

TEST(FabricJudge, RailThatIsSlowOnAllHostsIsTheFleets) {
  MadeUpFabric fabric({.hosts = 64, .rails = 4});
  fabric.faults.push_back([](const Transfer& t) {
    if (t.m->rail == 3) t.slow(0.85);
  });
  expect_only(fabric.run(), Fault::kSlow, Culprit::kFleet, {0}, 3);
}

TEST(FabricJudge, FlappingCableIsFoundThoughItsMedianIsWell) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    MadeUpFabric fabric({.hosts = 64, .rails = 2, .rounds = 16, .seed = seed});
    fabric.faults.push_back(flapping(9, 1, 0.35, 0.5));
    const Report& report = fabric.run();
    for (const Finding& finding : report.findings) {
      EXPECT_EQ(finding.hosts, std::vector<HostIndex>{9}) << all_of(report);
      EXPECT_EQ(finding.rail, 1) << all_of(report);
      ++found;
    }
  }
  EXPECT_GE(found, kSeeds - 2);
}

TEST(FabricJudge, SlowHostOfFourAndOfThreeIsFound) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const std::uint32_t hosts : {3U, 4U, 5U}) {
      MadeUpFabric fabric({.hosts = hosts, .rounds = 0, .seed = seed});
      fabric.faults.push_back(slow_host(1, 0.75));
      const Report& report = fabric.run();
      expect_only(report, Fault::kSlow, Culprit::kHost, {1}, -1);
      EXPECT_TRUE(report.findings.at(0).is_confirmed) << all_of(report);
    }
  }
}

TEST(FabricJudge, TinyFleetsWithoutFaultsHaveNoFindings) {
  for (std::uint64_t seed = 1; seed <= 5 * kSeeds; ++seed) {
    for (const std::uint32_t hosts : {1U, 2U, 3U, 4U, 5U}) {
      MadeUpFabric fabric({.hosts = hosts, .rails = 2, .rounds = 0, .noise = 0.005, .seed = seed});
      EXPECT_EQ(all_of(fabric.run()), "") << hosts << " hosts, seed " << seed;
    }
  }
}

TEST(FabricJudge, OfTwoHostsOnlyTheRailIsNamed) {
  MadeUpFabric fabric({.hosts = 2, .rails = 4, .rounds = 0});
  fabric.faults.push_back(slow_nic(1, 2, 0.5));
  const Report& report = fabric.run();
  ASSERT_EQ(report.findings.size(), 2U) << all_of(report);
  for (const Finding& finding : report.findings) {
    EXPECT_EQ(finding.culprit, Culprit::kPair);
    EXPECT_EQ(finding.rail, 2);
  }
  EXPECT_EQ(report.findings[0].next.text(), "srun -N2 -w 'n[0000-0001]' gdr fabric");
}

TEST(FabricJudge, NameThatSaysMoreThanItselfIsLeftToTheReader) {
  for (const char* name :
       {"n[0001-0063]", "ALL", "all", ";id>N1;#", "$(id)", "-w", "n1,n2", "a\nid"}) {
    MadeUpFabric fabric({.hosts = 64, .rails = 2});
    fabric.report.hosts[7].name = name;
    fabric.faults.push_back(slow_host(7, 0.85));
    EXPECT_EQ(only_finding(fabric.run()).next.text(),
              "scontrol update NodeName=NAME State=DRAIN Reason='gdr fabric: slow'")
        << name;
  }
}

TEST(FabricJudge, NameOfARailStaysWithinTheReason) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.report.hosts[7].rails[1].nic = "a'\"$(id)`id`;id #";
  fabric.faults.push_back(slow_nic(7, 1, 0.5));
  EXPECT_EQ(only_finding(fabric.run()).next.text(),
            "scontrol update NodeName=n0007 State=DRAIN "
            "Reason='gdr fabric: a'\\''\"$(id)`id`;id # slow'");
}

TEST(FabricJudge, LateHostIsFoundByItsLatency) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.faults.push_back(late_host(3, 2));
  expect_only(fabric.run(), Fault::kHighLatency, Culprit::kHost, {3}, -1);
}

TEST(FabricJudge, WrongBytesOnAllRailsAreTheHosts) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.faults.push_back(
      ends_with(Outcome::kWrongBytes, [](const Measurement& m) { return m.to == 11; }));
  const Report& report = fabric.run();
  expect_only(report, Fault::kWrongBytes, Culprit::kHost, {11}, -1);
  EXPECT_TRUE(report.findings.at(0).is_confirmed);
  EXPECT_EQ(report.findings.at(0).text, "n0011: wrong bytes in what it receives on every rail");
}

TEST(FabricJudge, WrongBytesOnOneRailAreTheNics) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.faults.push_back(ends_with(Outcome::kWrongBytes, [](const Measurement& m) {
    return m.from == 11 && m.rail == 1 && m.round % 3 == 0;
  }));
  expect_only(fabric.run(), Fault::kWrongBytes, Culprit::kNic, {11}, 1);
}

TEST(FabricJudge, WrongBytesOncePerRunStayAFindingThoughRetestsAreWell) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.measure_planned();
  const std::size_t index = 77;
  Measurement& wrong = fabric.report.measurements[index];
  wrong.outcome = Outcome::kWrongBytes;
  fabric.report.incidents.push_back(
      {wrong.from, wrong.to, wrong.round, wrong.rail, "bit 3 of byte 17 flipped"});
  fabric.measure_again();
  judge(&fabric.report);
  const Measurement& same = fabric.report.measurements[index];
  expect_only(fabric.report, Fault::kWrongBytes, Culprit::kPair, {same.from, same.to}, same.rail);
  const std::string text = all_of(fabric.report);
  EXPECT_NE(text.find("bit 3 of byte 17 flipped"), std::string::npos) << text;
  EXPECT_NE(text.find("It did not come again"), std::string::npos) << text;
  EXPECT_FALSE(fabric.report.findings.at(0).is_confirmed);
}

TEST(FabricJudge, LeafThatReachesNoOtherIsOneFinding) {
  MadeUpFabric fabric({.hosts = 64, .hosts_per_leaf = 16});
  fabric.faults.push_back([](const Transfer& t) {
    if (t.near_leaf != t.far_leaf && (t.near_leaf == 1 || t.far_leaf == 1)) {
      t.m->outcome = Outcome::kFailed;
    }
  });
  const Finding finding = only_finding(fabric.run());
  EXPECT_EQ(finding.culprit, Culprit::kLeaf);
  EXPECT_EQ(finding.leaf, "leaf1");
  EXPECT_EQ(finding.fault, Fault::kFailed);
}

TEST(FabricJudge, DeadHostIsOneFindingAndItsPartnersAreNone) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.report.hosts[4].state = HostState::kDied;
  fabric.report.hosts[4].lost_in = 3;
  fabric.report.hosts[4].problem = "the connection was reset";
  const Report& report = fabric.run();
  expect_only(report, Fault::kDied, Culprit::kHost, {4}, -1);
  EXPECT_EQ(report.findings.at(0).text, "n0004 died in round 4: the connection was reset");
}

TEST(FabricJudge, HostThatNeverCameIsAFinding) {
  MadeUpFabric fabric({.hosts = 20});
  fabric.report.hosts[4].state = HostState::kNeverCame;
  fabric.report.hosts[4].rails.clear();
  const Report& report = fabric.run();
  expect_only(report, Fault::kNeverCame, Culprit::kHost, {4}, -1);
  EXPECT_EQ(report.findings.at(0).next.text(), "scontrol show node n0004");
}

TEST(FabricJudge, MissingRailIsAFinding) {
  MadeUpFabric fabric({.hosts = 20, .rails = 1});
  for (Host& host : fabric.report.hosts) host.rails.push_back(host.rails[0]);
  fabric.report.hosts[4].rails.pop_back();
  expect_only(fabric.run(), Fault::kLeftOut, Culprit::kNic, {4}, -1);
}

TEST(FabricJudge, SlownessThatGoesAwayAloneOnTheFabricIsDropped) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.faults.push_back([](const Transfer& t) {
    if (touches(*t.m, 7) && !t.m->is_retest) t.slow(0.85);
  });
  EXPECT_EQ(all_of(fabric.run()), "");
}

TEST(FabricJudge, SlowHostStaysOneThoughAloneOnTheFabricEverybodyIsFaster) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2, .reached = 0.6});
  for (Host& host : fabric.report.hosts) {
    for (Rail& rail : host.rails) rail.link_bits_per_second = 0;
  }
  fabric.faults.push_back([](const Transfer& t) {
    t.m->bytes_per_second = static_cast<float>(
        (t.m->is_retest ? 50e9 : 35e9) * (1 - 0.001 * static_cast<double>(t.random->below(9))));
  });
  fabric.faults.push_back(slow_host(7, 0.8));
  const Report& report = fabric.run();
  expect_only(report, Fault::kSlow, Culprit::kHost, {7}, -1);
  EXPECT_TRUE(report.findings.at(0).is_confirmed) << all_of(report);
}

TEST(FabricJudge, CountersOfErrorsMakeASlowNicACable) {
  MadeUpFabric fabric({.hosts = 64, .rails = 4});
  fabric.faults.push_back(slow_nic(9, 2, 0.8));
  fabric.run();
  add_examination(&fabric.report, 9,
                  {.doctor = "link: mlx5_2 is at 400 Gb/s",
                   .counters = {{2, "symbol_error", 812}, {1, "symbol_error", 3}}});
  const Finding finding = only_finding(fabric.report);
  EXPECT_EQ(finding.culprit, Culprit::kCable);
  EXPECT_EQ(finding.doctor, "link: mlx5_2 is at 400 Gb/s");
  EXPECT_EQ(finding.evidence.back(), "mlx5_2: symbol_error rose by 812 during the run.");
}

TEST(FabricJudge, WrongBytesComeBeforeSlowness) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.faults.push_back(slow_host(7, 0.5));
  fabric.faults.push_back(
      ends_with(Outcome::kWrongBytes, [](const Measurement& m) { return m.to == 11; }));
  const Report& report = fabric.run();
  ASSERT_EQ(report.findings.size(), 2U) << all_of(report);
  EXPECT_EQ(report.findings[0].fault, Fault::kWrongBytes);
  EXPECT_EQ(report.findings[1].fault, Fault::kSlow);
}

TEST(FabricJudge, SuspectsAreNeverAmongTheGoodHosts) {
  MadeUpFabric fabric({.hosts = 64, .rails = 2});
  fabric.faults.push_back(slow_host(7, 0.5));
  fabric.report.hosts[4].state = HostState::kDied;
  fabric.measure_planned();
  const Suspicion suspicion = suspect(fabric.report);
  EXPECT_EQ(suspicion.hosts, std::vector<HostIndex>{7});
  EXPECT_EQ(std::ranges::count(suspicion.good, HostIndex{7}), 0);
  EXPECT_EQ(std::ranges::count(suspicion.good, HostIndex{4}), 0);
  EXPECT_GT(suspicion.good.size(), 30U);
}

TEST(FabricJudge, ReportWithoutMeasurementsOrWithNonsenseIsJudged) {
  Report report;
  judge(&report);
  report.hosts.resize(3);
  report.measurements.push_back({.from = 99, .to = 1, .rail = 7, .far_rail = 7});
  report.measurements.push_back({.from = 0, .to = 1, .rail = 0, .far_rail = 9});
  judge(&report);
  EXPECT_EQ(all_of(report), "");
}

// In a round a host has one place: as a suspect, or as somebody's healthy partner.
TEST(FabricJudge, NoSuspectIsAmongTheGoodHostsOfItsRetest) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MadeUpFabric fabric({.hosts = 64, .rails = 2, .seed = seed});
    fabric.faults.push_back(flapping(9, 1, 0.35, 0.5));
    fabric.measure_planned();
    const Suspicion suspicion = suspect(fabric.report);
    for (const HostIndex host : suspicion.hosts) {
      EXPECT_EQ(std::ranges::count(suspicion.good, host), 0) << "seed " << seed;
    }
    EXPECT_FALSE(suspicion.good.empty());
  }
}

}  // namespace
}  // namespace gdr::fabric
