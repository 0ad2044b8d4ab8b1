// Drafts: findings on their way. Each step of the judgement adds some, sees what is not explained
// yet, and marks what it explains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/judge/cells.h"
#include "fabric/judge/view.h"
#include "fabric/report.h"

namespace gdr::fabric {

// This share of a leaf's rails, of this many hosts, must have a fault for it to be the leaf's.
constexpr double kMostOfLeaf = 0.6;
constexpr std::size_t kLeastHostsOfLeaf = 3;

// So many slow paths make it a leaf's, or a spine's.
constexpr std::size_t kLeastPaths = 3;
constexpr std::size_t kLeastSpinePaths = 6;

// How rarely chance may make a finding in a whole run.
constexpr double kChanceOfRun = 1e-3;
// Even a fleet in which nothing stood out has outliers now and then.
constexpr double kLeastRate = 1e-3;

// What comes and goes: in how many rounds of how many. A retest may just miss it, so what counts is
// whether chance explains all rounds together.
struct Recurrence {
  std::size_t slow = 0, all = 0;  // rounds; all == 0: it does not come and go
  double each = 0;                // the chance that a round of a healthy host is slow
  double limit = 0;               // the chance that is left to chance
};

struct Draft {
  Finding finding;
  std::vector<std::uint32_t> cells;  // the rails of hosts that it is about
  bool sends = false, receives = false;
  std::vector<std::size_t> examples;  // measurements that show it, where it is about a path
  Recurrence recurrence;
  bool is_clearable = false;       // a retest that is as fast as the fleet says that it was nothing
  bool is_only_candidate = false;  // no finding unless a retest shows it again
};

struct Analysis {
  explicit Analysis(const Report& report);

  View view;
  std::vector<FleetRail> fleet;
  std::vector<bool> explained;  // measurements that a draft accounts for
  Medians sent, received, both;
  double scatter = 0;  // of single ratios of bandwidth
  std::vector<Draft> drafts;

  // Ratios below this are outliers, whatever made them.
  double outlier_below() const;
  // What is left to chance in each cell.
  double chance_of_cell() const { return kChanceOfRun / static_cast<double>(view.cells()); }
};

// Steps, in the order in which judge() takes them.
void find_states(Analysis* analysis);       // hosts that are not there to the end, missing rails
void find_low_links(Analysis* analysis);    // ports that came up slower than their like
void find_damage(Analysis* analysis);       // wrong bytes, failed transfers
void find_slow_leaves(Analysis* analysis);  // all that leaves a leaf or enters it is slow
void find_slow_cells(Analysis* analysis);   // hosts, NICs, cables
void find_late_cells(Analysis* analysis);   // latency
void find_slow_paths(Analysis* analysis);   // a leaf's uplink, spines, what flaps, single pairs
void find_slow_fleet(Analysis* analysis);   // slow beside the links' own rate

// Drafts about most hosts of a leaf become one about the leaf.
void merge_into_leaves(Analysis* analysis);

// Retests confirm drafts, or remove them.
void confirm(Analysis* analysis);

// Pairs that are slow for sure and lie across leaves are an uplink's or a spine's.
void merge_pairs(Analysis* analysis);

}  // namespace gdr::fabric
