// What the collector of `gdr fabric` takes: processor time of a round, of the judgement, and
// memory, for thousands of hosts. The members are simulated; their time and memory do not count.
// Times depend on the machine: what is printed belongs into docs/fabric.md, and the claim is that
// they grow as the hosts do.
#include <gtest/gtest.h>

#include <cstdio>

#include "counted_memory.h"
#include "fabric_run.h"
#include "processor_time.h"

namespace gdr::fabric {
namespace {

// Of this thread: other work on the machine does not count.
double processor_seconds() {
  return static_cast<double>(test::processor_time(CLOCK_THREAD_CPUTIME_ID)) * 1e-9;
}

// The plan, and how long it takes for calls that judge.
class MeasuredPlan : public Campaign, public Listener {
 public:
  explicit MeasuredPlan(const PlanOptions& options) : plan_(options, *this) {}

  void begin(Report& report) override { plan_.begin(report); }
  std::optional<Round> next(Report& report) override {
    const double start = processor_seconds();
    has_judged_ = false;
    std::optional<Round> round = plan_.next(report);
    if (has_judged_) judging_ += processor_seconds() - start;
    ++rounds;
    return round;
  }
  void judge(Report& report) override {
    memory_of_rounds = CountedMemory::most();
    const double start = processor_seconds();
    plan_.judge(report);
    last_judgement = processor_seconds() - start;
    judging_ += last_judgement;
  }
  void on_judged(const Report&, std::span<const Finding>) override { has_judged_ = true; }

  // What judging took since the last call.
  double take_judging() { return std::exchange(judging_, 0); }

  std::uint32_t rounds = 0;  // that were asked for
  double last_judgement = 0;
  std::size_t memory_of_rounds = 0;

 private:
  Plan plan_;
  bool has_judged_ = false;
  double judging_ = 0;
};

class CollectorMeter : public Meter {
 public:
  explicit CollectorMeter(MeasuredPlan* plan) : plan_(*plan) {}
  void enter() override {
    CountedMemory::enter();
    start_ = processor_seconds();
  }
  void leave() override {
    const double took = processor_seconds() - start_ - plan_.take_judging();
    CountedMemory::leave();
    of_round.resize(plan_.rounds + 1);
    of_round[plan_.rounds] += took;
  }
  std::vector<double> of_round;  // the first: until all have joined

 private:
  MeasuredPlan& plan_;
  double start_ = 0;
};

struct Cost {
  double joining = 0, round = 0, slowest_round = 0, judgement = 0;
  std::size_t memory = 0;
};

Cost measure(std::uint32_t hosts, std::uint16_t rails) {
  CountedMemory::forget_most();
  const std::size_t before = CountedMemory::now();
  FabricRun run({.hosts = hosts, .hosts_per_leaf = 32, .rails = rails}, {});
  run.fabric.faults.push_back(slow_host(7, 0.85));
  run.losses.push_back({.host = 11, .round = 3, .phase = Phase::kLatency});
  MeasuredPlan plan(run.plan);
  CollectorMeter meter(&plan);
  run.run(plan, plan, meter);
  EXPECT_EQ(run.report.findings.size(), 2U);
  Cost cost;
  cost.joining = meter.of_round.front();
  const std::uint32_t planned = run.report.rounds_planned;
  for (std::uint32_t round = 1; round <= planned; ++round) {
    cost.round += meter.of_round[round] / planned;
    cost.slowest_round = std::max(cost.slowest_round, meter.of_round[round]);
  }
  cost.judgement = plan.last_judgement;
  cost.memory = CountedMemory::most() - before;
  std::printf("| %u | %u | %.1f ms | %.1f ms | %.0f ms | %.0f ms | %zu MB | %zu MB |\n", hosts,
              rails, cost.round * 1e3, cost.slowest_round * 1e3, cost.joining * 1e3,
              cost.judgement * 1e3, (plan.memory_of_rounds - before) / 1'000'000,
              cost.memory / 1'000'000);
  return cost;
}

TEST(FabricScale, CollectorTakesTimeInProportionToTheHostsAndLessThan500Megabytes) {
  std::printf(
      "| hosts | rails | a round | slowest round | joining | last judgement | memory, rounds | "
      "memory, with judgement |\n|---|---|---|---|---|---|---|---|\n");
  constexpr double kMostForTenTimes = 40;  // a hundred, where each host is compared with all others
  for (const std::uint16_t rails : {1, 2, 8}) {
    const Cost thousand = measure(1'000, rails), cost = measure(10'000, rails);
    EXPECT_LT(cost.round, kMostForTenTimes * thousand.round);
    EXPECT_LT(cost.judgement, kMostForTenTimes * thousand.judgement);
    EXPECT_LT(cost.memory, 500'000'000U);
  }
}

}  // namespace
}  // namespace gdr::fabric
