// How well `gdr fabric` finds what is wrong, by the number of hosts: schedule, retests and
// judgement over a fabric that is made up, with noise of heavy tails. A table that is compared
// exactly. After a change that is meant to change it:
//   GDR_SIM_WRITE_GOLDEN=1 build/test/tests/sim/fabric_sim_test
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <sstream>

#include "made_up_fabric.h"

namespace gdr::fabric {
namespace {

struct Case {
  const char* name;
  std::function<void(MadeUpFabric*)> inject;
  // The finding that is right.
  std::function<bool(const Finding&)> is_it;
};

std::function<bool(const Finding&)> about(Fault fault, Culprit culprit, HostIndex host,
                                          std::int32_t rail) {
  return [=](const Finding& finding) {
    return finding.fault == fault && finding.culprit == culprit &&
           finding.hosts == std::vector<HostIndex>{host} && finding.rail == rail;
  };
}

void add(MadeUpFabric* fabric, InjectedFault fault) { fabric->faults.push_back(std::move(fault)); }

std::vector<Case> cases() {
  constexpr auto kSlow = Fault::kSlow;
  return {
      {"nothing", [](MadeUpFabric*) {}, [](const Finding&) { return false; }},
      {"host -15 %", [](MadeUpFabric* f) { add(f, slow_host(7, 0.85)); },
       about(kSlow, Culprit::kHost, 7, -1)},
      {"NIC -20 %", [](MadeUpFabric* f) { add(f, slow_nic(9, 1, 0.8)); },
       about(kSlow, Culprit::kNic, 9, 1)},
      {"cable, one way, -20 %", [](MadeUpFabric* f) { add(f, slow_cable(9, 1, 0.8)); },
       about(kSlow, Culprit::kCable, 9, 1)},
      {"1 of 16 uplinks -40 %", [](MadeUpFabric* f) { add(f, slow_uplink(1, 5, 0.6)); },
       [](const Finding& finding) {
         return finding.culprit == Culprit::kLeaf && finding.leaf == "leaf1";
       }},
      {"1 of 16 spines -40 %", [](MadeUpFabric* f) { add(f, slow_spine(5, 0.6)); },
       [](const Finding& finding) { return finding.culprit == Culprit::kSpine; }},
      {"flaps, 35 % of rounds", [](MadeUpFabric* f) { add(f, flapping(9, 1, 0.35, 0.5)); },
       [](const Finding& finding) {
         return finding.fault == Fault::kSlow && finding.hosts == std::vector<HostIndex>{9} &&
                finding.rail == 1;
       }},
      {"host dies",
       [](MadeUpFabric* f) {
         f->report.hosts[4].state = HostState::kDied;
         f->report.hosts[4].lost_in = 3;
       },
       about(Fault::kDied, Culprit::kHost, 4, -1)},
      {"wrong bytes, one rail",
       [](MadeUpFabric* f) {
         add(f, ends_with(Outcome::kWrongBytes,
                          [](const Measurement& m) { return m.to == 11 && m.rail == 1; }));
       },
       about(Fault::kWrongBytes, Culprit::kNic, 11, 1)},
  };
}

struct Tally {
  std::size_t found = 0, false_alarms = 0, retests = 0;
};

Tally run(const Case& about, std::uint32_t hosts, std::uint64_t runs) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    MadeUpFabric fabric(
        {.hosts = hosts, .hosts_per_leaf = std::min(hosts / 4, 32U), .rails = 2, .seed = seed});
    about.inject(&fabric);
    const Report& report = fabric.run();
    std::size_t right = 0;
    for (const Finding& finding : report.findings) {
      if (about.is_it(finding)) {
        ++right;
      } else {
        ++tally.false_alarms;
      }
    }
    tally.found += right > 0 ? 1 : 0;
    tally.retests += report.retest_rounds;
  }
  return tally;
}

struct Size {
  std::uint32_t hosts = 0;
  std::uint64_t runs = 0;
};

std::string table(const std::vector<Size>& sizes) {
  std::string text =
      "# 2 rails, 32 hosts a leaf (of 64 hosts: 16), 16 uplinks, 8 random rounds, then retests.\n"
      "# Noise: 1 % with tails of Student's t (3 degrees of freedom); one of 200 transfers is\n"
      "# disturbed by up to half.\n"
      "# hosts  fault                    found in runs   false alarms   rounds of retests a run\n";
  char line[128];
  for (const Size& size : sizes) {
    for (const Case& about : cases()) {
      const Tally tally = run(about, size.hosts, size.runs);
      std::snprintf(line, sizeof line, "%7u  %-24s %6zu of %2u %14zu %25.1f\n", size.hosts,
                    about.name, tally.found, static_cast<unsigned>(size.runs), tally.false_alarms,
                    static_cast<double>(tally.retests) / static_cast<double>(size.runs));
      text += line;
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

TEST(FabricSimulation, OfTensToHundredsOfHostsFindsWhatItFound) {
  expect_golden(table({{.hosts = 64, .runs = 20}, {.hosts = 256, .runs = 10}}), "fabric.txt");
}

TEST(FabricSimulationOfThousands, FindsWhatItFound) {
  expect_golden(
      table({{.hosts = 1024, .runs = 5}, {.hosts = 4096, .runs = 2}, {.hosts = 10'000, .runs = 1}}),
      "fabric_thousands.txt");
}

// Of this process: other work on the machine does not count.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

long peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

TEST(FabricSimulationOfThousands, JudgesAMillionMeasurementsInSeconds) {
  MadeUpFabric fabric({.hosts = 10'000, .hosts_per_leaf = 32, .rails = 8, .rounds = 16});
  fabric.faults.push_back(slow_host(7, 0.85));
  fabric.measure_planned();
  const std::size_t count = fabric.report.measurements.size();
  EXPECT_EQ(count, 10'000U * 16 * 8);
  const long before = peak_mebibytes();
  const double start = processor_seconds();
  judge(&fabric.report);
  const double took = processor_seconds() - start;
  const long more = peak_mebibytes() - before;
  std::printf("%zu measurements judged in %.2f s with %ld MiB beside them\n", count, took, more);
  ASSERT_EQ(fabric.report.findings.size(), 1U);
  EXPECT_EQ(fabric.report.findings[0].hosts, std::vector<HostIndex>{7});
  // Several times what it takes, for slow machines and builds that check every access.
  EXPECT_LT(took, 20);
  EXPECT_LT(more, 600);
}

}  // namespace
}  // namespace gdr::fabric
