// Schedule: the rounds of a run. They are worked out one at a time, so that 10,000 hosts take a few
// numbers each and not one for each pair.
//
//   const Schedule schedule(Pattern::kTournament, {.hosts = 1000, .most_rounds = 8}, seed);
//   for (std::uint32_t number = 0; number < schedule.rounds(); ++number) {
//     run(schedule.round(number));
//   }
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/report.h"
#include "fabric/round.h"

namespace gdr::fabric {

struct ScheduleOptions {
  std::uint32_t hosts = 0;
  // A number of the leaf of each host; hosts with the same one are under one leaf. Empty: not
  // known, all count as being under one.
  std::vector<std::uint32_t> leaves{};
  // Rounds of the pattern; 0: all of them, so that each pair meets. With fewer they are chosen at
  // random.
  std::uint32_t most_rounds = 0;
  // A pattern with fewer rounds begins again until there are as many: with few hosts, one
  // disturbance would be a large part of what is known of a host.
  std::uint32_t least_rounds = 0;
  std::uint16_t rails = 1;
  // Rounds at the end in which rail r sends to another rail than r; none where there is one rail.
  std::uint32_t crossed_rounds = 0;
  bool isolate = false;  // each round once for each rail, the others resting
};

class Schedule {
 public:
  Schedule(Pattern pattern, ScheduleOptions options, std::uint64_t seed);

  std::uint32_t rounds() const;
  Round round(std::uint32_t number) const;
  // Not every pair meets.
  bool is_sampled() const { return is_sampled_; }

 private:
  // Rounds of kByLeaf in which all members of a pair of leaves meet, for one round of the leaves'
  // own tournament.
  struct LeafRound {
    std::uint32_t first = 0, number = 0;
  };

  void place_hosts(std::uint64_t seed);
  void plan_leaves();
  void choose_rounds(std::uint64_t seed);
  std::uint32_t aligned() const;
  std::vector<Edge> edges(std::uint32_t step) const;
  void add_by_leaf(std::uint32_t step, std::vector<Edge>* edges) const;

  Pattern pattern_;
  ScheduleOptions options_;
  bool is_sampled_ = false;
  std::uint32_t steps_ = 0;  // of the whole pattern
  std::vector<HostIndex> places_;
  std::vector<HostIndex> left_, right_;          // kBisection
  std::vector<std::vector<HostIndex>> members_;  // kByLeaf: of each leaf
  std::uint32_t within_ = 0;                     // kByLeaf: steps within leaves
  std::vector<LeafRound> leaf_rounds_;
  std::vector<std::uint32_t> chosen_;   // which steps, where it is sampled
  std::vector<std::uint32_t> crossed_;  // which steps, with rails crossed
};

}  // namespace gdr::fabric
