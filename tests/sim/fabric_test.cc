// How well `gdr fabric` finds what is wrong, by the number of hosts: its collector, messages, plan,
// retests and judgement with simulated members on a simulated fabric. Tables that are compared
// exactly. After a change that is meant to change them:
//   GDR_SIM_WRITE_GOLDEN=1 builds/sim/fabric_sim_test
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "fabric_run.h"

namespace gdr::fabric {
namespace {

using IsIt = std::function<bool(const Finding&)>;

struct Case {
  const char* name;
  // The findings that are right. Without one, nothing is to be found.
  std::vector<IsIt> wanted;
  std::vector<InjectedFault> faults{};
  std::vector<LossOfMember> losses{};
  Noise noise{};
};

IsIt about(Fault fault, Culprit culprit, HostIndex host, std::int32_t rail) {
  return [=](const Finding& finding) {
    return finding.fault == fault && finding.culprit == culprit &&
           finding.hosts == std::vector<HostIndex>{host} && finding.rail == rail;
  };
}

// A rail that comes and goes may be told as its NIC's fault or its cable's.
IsIt about_rail(HostIndex host, std::int32_t rail) {
  return [=](const Finding& finding) {
    return finding.fault == Fault::kSlow && finding.hosts == std::vector<HostIndex>{host} &&
           finding.rail == rail;
  };
}

IsIt about_leaf(const char* leaf) {
  return [=](const Finding& finding) {
    return finding.culprit == Culprit::kLeaf && finding.leaf == leaf;
  };
}

// Slow beside the rate of its links: that is so where most flows share one.
bool is_fleet(const Finding& finding) { return finding.culprit == Culprit::kFleet; }
bool is_spine(const Finding& finding) { return finding.culprit == Culprit::kSpine; }

std::vector<Case> cases() {
  constexpr auto kSlow = Fault::kSlow;
  const Noise heavy{.degrees = 2, .one_disturbed = 50};
  // With so many links, 1 of 8 flows between leaves shares one; with as many links as ports, most.
  const Noise some_meet{.links_per_port = 16}, most_meet{.links_per_port = 1};
  const InjectedFault wrong = ends_with(Outcome::kWrongBytes, [](const Measurement& m) {
    return m.to == 11 && m.rail == 1 && m.far_rail == 1;
  });
  const LossOfMember dies{.host = 4, .round = 3, .phase = Phase::kLatency};
  const IsIt slow_host_7 = about(kSlow, Culprit::kHost, 7, -1);
  const IsIt slow_cable_9 = about(kSlow, Culprit::kCable, 9, 1);
  const IsIt died_4 = about(Fault::kDied, Culprit::kHost, 4, -1);
  return {
      {"nothing", {}},
      {"nothing; heavier tails", {}, {}, {}, heavy},
      {"nothing; ECMP, 1 of 8 flows meets another", {}, {}, {}, some_meet},
      {"nothing but ECMP, most flows meet others", {is_fleet}, {}, {}, most_meet},
      {"host -15 %", {slow_host_7}, {slow_host(7, 0.85)}},
      {"host -15 %; ECMP, 1 of 8", {slow_host_7}, {slow_host(7, 0.85)}, {}, some_meet},
      {"NIC -20 %", {about(kSlow, Culprit::kNic, 9, 1)}, {slow_nic(9, 1, 0.8)}},
      {"cable, one way, -20 %", {slow_cable_9}, {slow_cable(9, 1, 0.8)}},
      {"1 of 16 uplinks -40 %", {about_leaf("leaf1")}, {slow_uplink(1, 5, 0.6)}},
      {"1 of 16 spines -40 %", {is_spine}, {slow_spine(5, 0.6)}},
      {"rail flaps, 35 % of transfers -50 %", {about_rail(9, 1)}, {flapping(9, 1, 0.35, 0.5)}},
      {"wrong bytes, one rail", {about(Fault::kWrongBytes, Culprit::kNic, 11, 1)}, {wrong}},
      {"host dies", {died_4}, {}, {dies}},
      {"host hangs",
       {about(Fault::kHung, Culprit::kHost, 4, -1)},
       {},
       {{.host = 4, .round = 3, .phase = Phase::kProve, .how = HostState::kHung}}},
      {"host does not join",
       {about(Fault::kNeverCame, Culprit::kHost, 4, -1)},
       {},
       {{.host = 4, .how = HostState::kNeverCame}}},
      {"slow host, bad cable and dead host",
       {slow_host_7, slow_cable_9, died_4},
       {slow_host(7, 0.85), slow_cable(9, 1, 0.8)},
       {dies}},
  };
}

struct Size {
  std::uint32_t hosts = 0;
  std::optional<std::uint32_t> rounds;  // nothing: as many as gdr fabric chooses
  std::uint64_t runs = 0;               // for each base of seeds
};

struct Tally {
  std::size_t runs = 0, found = 0, false_alarms = 0, rounds = 0, retests = 0;
};

void run(const Case& about, const Size& size, std::uint64_t seed, Tally* tally) {
  PlanOptions plan;
  plan.rounds = size.rounds;
  FabricRun run({.hosts = size.hosts,
                 .hosts_per_leaf = std::min(size.hosts / 4, 32U),
                 .rails = 2,
                 .noise = about.noise,
                 .seed = seed},
                plan);
  run.fabric.faults = about.faults;
  run.losses = about.losses;
  run.run();
  std::vector<bool> found(about.wanted.size());
  for (const Finding& finding : run.report.findings) {
    bool is_right = false;
    for (std::size_t place = 0; place < found.size(); ++place) {
      if (!about.wanted[place](finding)) continue;
      found[place] = is_right = true;
    }
    if (is_right) continue;
    ++tally->false_alarms;
    if (std::getenv("GDR_SIM_SHOW") != nullptr) {
      fmt::print(stderr, "{} hosts, seed {}, {}: {}\n", size.hosts, seed, about.name, finding.text);
    }
  }
  ++tally->runs;
  tally->found += std::ranges::count(found, false) == 0 && !found.empty() ? 1 : 0;
  tally->rounds += run.report.rounds_done;
  tally->retests += run.report.retest_rounds;
}

std::string table(const std::vector<Size>& sizes, const std::vector<std::uint64_t>& bases) {
  std::string text =
      "| hosts | fault | found in runs | false alarms | rounds | retest rounds |\n"
      "|---|---|---|---|---|---|\n";
  for (const Size& size : sizes) {
    for (const Case& about : cases()) {
      Tally tally;
      for (const std::uint64_t base : bases) {
        for (std::uint64_t number = 1; number <= size.runs; ++number) {
          run(about, size, base + number, &tally);
        }
      }
      const auto runs = static_cast<double>(tally.runs);
      const std::string found =
          about.wanted.empty() ? "-" : fmt::format("{} of {}", tally.found, tally.runs);
      text += fmt::format("| {} | {} | {} | {} in {} | {:.0f} | {:.1f} |\n", size.hosts, about.name,
                          found, tally.false_alarms, tally.runs,
                          static_cast<double>(tally.rounds) / runs,
                          static_cast<double>(tally.retests) / runs);
    }
  }
  return text;
}

void expect_golden(const std::string& found, const std::string& name) {
  const std::string path = std::string(GDR_SIM_FOLDER "/golden/") + name;
  if (std::getenv("GDR_SIM_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path) << found;
    GTEST_SKIP() << "wrote " << path << ":\n" << found;
  }
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(found, golden.str()) << "if that is meant: GDR_SIM_WRITE_GOLDEN=1";
}

// The judgement may be changed by what these seeds show; by what the others show, never.
TEST(FabricSimulation, FindsWhatItFoundInSmallFleets) {
  expect_golden(table({{.hosts = 64, .rounds = {}, .runs = 1},
                       {.hosts = 64, .rounds = 8, .runs = 3},
                       {.hosts = 256, .rounds = {}, .runs = 1}},
                      {0}),
                "fabric.md");
}

const std::vector<std::uint64_t> kFreshSeeds = {4'000, 5'000, 6'000};

TEST(FabricSimulationOfManyRuns, FindsOnFreshSeedsWhatItFoundWhereAllPairsMeet) {
  expect_golden(table({{.hosts = 64, .rounds = {}, .runs = 3}}, kFreshSeeds),
                "fabric_all_pairs.md");
}

TEST(FabricSimulationOfManyRuns, FindsOnFreshSeedsWhatItFoundInHundreds) {
  expect_golden(
      table({{.hosts = 64, .rounds = 8, .runs = 10}, {.hosts = 256, .rounds = {}, .runs = 5}},
            kFreshSeeds),
      "fabric_hundreds.md");
}

TEST(FabricSimulationOfManyHosts, FindsOnFreshSeedsWhatItFoundInThousands) {
  expect_golden(table({{.hosts = 1024, .rounds = {}, .runs = 1}}, kFreshSeeds) +
                    table({{.hosts = 10'000, .rounds = {}, .runs = 1}}, {4'000}),
                "fabric_thousands.md");
}

}  // namespace
}  // namespace gdr::fabric
