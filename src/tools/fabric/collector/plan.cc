#include "fabric/collector/plan.h"

#include <algorithm>

#include "fabric/judge/judge.h"

namespace gdr::fabric {
namespace {

// So many measurements are judged in a few milliseconds; of more, only the end is judged.
constexpr std::size_t kMostJudgedMeanwhile = 50'000;

// Of those hosts alone; empty: not known.
std::vector<std::uint32_t> leaves_of(const Report& report, const std::vector<HostIndex>& hosts) {
  const std::vector<std::uint32_t> all = leaf_numbers(report);
  std::vector<std::uint32_t> leaves;
  if (all.empty()) return leaves;
  for (const HostIndex host : hosts) leaves.push_back(all[host]);
  return leaves;
}

}  // namespace

void Plan::begin(Report& report) {
  for (HostIndex host = 0; host < report.hosts.size(); ++host) {
    if (report.hosts[host].state == HostState::kThere) there_.push_back(host);
  }
  find_leaves(report);
  ScheduleOptions schedule;
  schedule.hosts = static_cast<std::uint32_t>(there_.size());
  schedule.leaves = leaves_of(report, there_);
  if (options_.pattern == Pattern::kByLeaf && schedule.leaves.empty()) {
    report.notes.push_back(
        "--pattern by-leaf: no leaves are known, so all hosts met as if under one; name the leaves "
        "with --topology FILE");
  }
  schedule.rails = static_cast<std::uint16_t>(std::max<std::size_t>(report.rails.size(), 1));
  schedule.most_rounds =
      options_.rounds.value_or(there_.size() > kMostHostsInFull ? kSampledRounds : 0);
  schedule.least_rounds = options_.rounds ? 0 : kLeastRounds;
  schedule.crossed_rounds = options_.crossed_rounds.value_or(report.rails.size() > 1 ? 1 : 0);
  schedule.isolate = options_.isolate;
  if (there_.size() >= 2) schedule_.emplace(options_.pattern, schedule, options_.seed);
  report.pattern = options_.pattern;
  report.isolate = options_.isolate;
  report.is_sampled = schedule_ && schedule_->is_sampled();
  report.rounds_planned = schedule_ ? schedule_->rounds() : 0;
}

std::optional<Round> Plan::next(Report& report) {
  if (schedule_ && next_ < schedule_->rounds()) {
    show_suspects(report);
    Round round = schedule_->round(next_++);
    for (Edge& edge : round.edges) edge = {there_[edge.from], there_[edge.to]};
    return round;
  }
  if (!retests_are_planned_) plan_retests(report);
  if (next_retest_ == retests_.size()) return std::nullopt;
  return retests_[next_retest_++];
}

void Plan::find_leaves(Report& report) {
  for (std::string& note : locate(options_.topology, &report)) {
    if (std::ranges::find(report.notes, note) == report.notes.end()) {
      report.notes.push_back(std::move(note));
    }
  }
}

void Plan::show_suspects(Report& report) {
  const std::size_t count = report.measurements.size();
  if (count > kMostJudgedMeanwhile || count < 2 * last_shown_ || count == 0) return;
  last_shown_ = count;
  judge(report);
  listener_.on_judged(report, report.findings);
}

void Plan::plan_retests(Report& report) {
  retests_are_planned_ = true;
  find_leaves(report);  // by latency, which is known now
  judge(report);
  listener_.on_judged(report, report.findings);
  Suspicion suspicion = suspect(report);
  RetestPlan plan{.suspects = std::move(suspicion.hosts),
                  .pairs = std::move(suspicion.pairs),
                  .good = std::move(suspicion.good)};
  plan.times = options_.retests;
  plan.first_number = next_;
  if (plan.times != 0 && !(plan.suspects.empty() && plan.pairs.empty())) {
    retests_ = retest_rounds(plan, options_.seed);
  }
  if (!retests_.empty()) {
    listener_.on_retests(report, static_cast<std::uint32_t>(retests_.size()));
  }
}

void Plan::judge(Report& report) { fabric::judge(&report); }

}  // namespace gdr::fabric
