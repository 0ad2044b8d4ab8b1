// Two reports beside each other: which rows are faster or slower, by how much, and whether what
// they were measured on is alike at all.
//
//   std::vector<Comparison> comparisons;
//   for (const Report& other : others) comparisons.push_back(compare(base, other, seed));
//   comparisons[0].base.file = "before.json";  // and so on: reports do not know their files
//   fmt::print("{}", to_text(comparisons, text::terminal_columns(stdout)));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "perf/report.h"
#include "perf/statistics/significance.h"
#include "text/envelope.h"

namespace gdr::perf {

// kNoisy: the repetitions of one side disagree so much that none is given.
enum class Verdict : std::uint8_t { kNoDifference, kBetter, kWorse, kNoisy };

// "better", "worse", "no difference shown", "too noisy to tell"
const char* name_of(Verdict verdict);

// Both reports have a figure for the same load: the bandwidth, the median latency or the rate.
struct ComparedRow {
  Load load;
  Figure base, other;  // in the report's units
  Difference difference;
  Verdict verdict = Verdict::kNoDifference;  // of the other one
  std::vector<std::string> remarks;          // "base: noisy: ±12 % between repetitions"
};

struct UnmatchedRow {
  Load load;
  std::string reason;  // "the other report has no such row"
};

// A difference between the machines or their settings: "NIC", "server's kernel".
struct Unlike {
  std::string what, base, other;
};

struct Source {
  std::string file;  // for the caller to fill in
  std::string date, command;
};

struct Comparison {
  Source base, other;
  std::vector<Unlike> unlike;  // each makes the comparison unfair
  std::vector<ComparedRow> rows;
  std::vector<UnmatchedRow> only_base, only_other;
};

// Rows match where their whole loads do. The seed is for the intervals.
Comparison compare(const Report& base, const Report& other, std::uint64_t seed);

// Several runs a side, at least one: their repetitions count together, so that what varies from run
// to run is in the intervals. Settings in which the runs of one side differ are in `unlike`, too.
Comparison compare(std::span<const Report> base, std::span<const Report> other, std::uint64_t seed);

// Whether some measurement became worse by `share` of the base's median or more, and is shown to.
bool is_worse_by(const Comparison& comparison, double share);

// Comparisons of one base with others. `columns`: as text::wrap.
std::string to_text(std::span<const Comparison> comparisons, std::size_t columns);
// One document.
std::string to_json(std::span<const Comparison> comparisons,
                    const text::Provenance& provenance = {});

}  // namespace gdr::perf
