// The plan: which rows a run has, from what was asked for and what there is. Pure.
//
//   Wishes wishes;
//   wishes.operations = {Operation::kWrite};
//   Result<std::vector<Group>> groups = make_plan(wishes, {.near_gpu = 0, .far_gpu = 0});
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "perf/messages.h"

namespace gdr::perf {

// Rows that differ in their size alone, and share memory and queue pairs.
struct Group {
  Load load;
  std::vector<std::uint64_t> sizes;
  Timing timing;
};

struct Wishes {
  std::vector<Operation> operations{Operation::kWrite};
  std::vector<Measure> measures;     // empty: bandwidth and latency, as far as the rest allows
  std::vector<std::uint64_t> sizes;  // empty: as suits the measure
  std::vector<Place> near, far;      // empty: every one that there is; far: the same as near
  Load load;                         // everything else
  Timing timing;
};

// GPUs by ordinal; nothing: there is none.
struct Available {
  std::optional<int> near_gpu, far_gpu;
};

// A place whose ordinal nobody has named: the chosen GPU's.
constexpr std::int32_t kChosenGpu = -1;

// EINVAL: what was asked for contradicts itself or what there is.
Result<std::vector<Group>> make_plan(const Wishes& wishes, const Available& available);

}  // namespace gdr::perf
