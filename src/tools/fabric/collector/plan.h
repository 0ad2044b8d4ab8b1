// Plan: the campaign of gdr fabric: the rounds of a schedule, a judgement, then retests of those
// that stand out.
//
//   Plan plan({.pattern = Pattern::kTournament}, listener);
//   Collector collector(options, plan, listener, report, now());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/collector/campaign.h"
#include "fabric/output/listener.h"
#include "fabric/schedule/retest.h"
#include "fabric/schedule/schedule.h"
#include "fabric/topology/locate.h"

namespace gdr::fabric {

// Above so many hosts not every pair meets, unless that was asked for.
constexpr std::uint32_t kMostHostsInFull = 128;
constexpr std::uint32_t kSampledRounds = 8;
// Fewer rounds repeat the pattern, where nobody has said how many there are to be.
constexpr std::uint32_t kLeastRounds = 8;

struct PlanOptions {
  Pattern pattern = Pattern::kTournament;
  std::optional<std::uint32_t> rounds;          // 0: all; nothing: by the number of hosts
  std::optional<std::uint32_t> crossed_rounds;  // nothing: one where there are several rails
  bool isolate = false;
  std::uint32_t retests = 3;  // of each suspect; 0: none
  std::uint64_t seed = 1;
  TopologyTexts topology;
};

class Plan : public Campaign {
 public:
  // The listener is told of judgements and retests. It outlives this.
  Plan(PlanOptions options, Listener& listener)
      : options_(std::move(options)), listener_(listener) {}

  void begin(Report& report) override;
  std::optional<Round> next(Report& report) override;
  void judge(Report& report) override;

 private:
  void find_leaves(Report& report);
  void plan_retests(Report& report);
  void show_suspects(Report& report);

  const PlanOptions options_;
  Listener& listener_;
  std::vector<HostIndex> there_;  // the schedule's places -> hosts
  std::optional<Schedule> schedule_;
  std::uint32_t next_ = 0;
  bool retests_are_planned_ = false;
  std::vector<Round> retests_;
  std::size_t next_retest_ = 0;
  std::size_t last_shown_ = 0;  // measurements at the last judgement shown
};

}  // namespace gdr::fabric
