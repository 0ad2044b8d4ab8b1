// Rows of reports by their loads, and several runs of one plan as one.
//
//   const Report all = pool(runs);  // its rows have the repetitions of every run
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "perf/report.h"

namespace gdr::perf {

// The figure by which rows are compared: the bandwidth, the medians of latency or the rate. Null:
// it has none.
const Figure* compared_figure(const Row& row);
Figure* compared_figure(Row& row);

// Rows that wait to be taken.
class RowsByLoad {
 public:
  explicit RowsByLoad(const std::vector<Row>& rows);
  // A report may hold the same load twice: the first goes with the first. Null: there is none left.
  const Row* take(const Load& load);

 private:
  std::map<std::string, std::deque<const Row*>> rows_;
};

// The first run with what the others add to its rows: repetitions, lost and wrong messages. A row
// that failed in one run, or is missing there, has that as its problem. At least one run.
Report pool(std::span<const Report> runs);

}  // namespace gdr::perf
