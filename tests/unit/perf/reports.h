// Reports as a run could have written them, for the tests of what is made from reports.
#pragma once

#include <vector>

#include "perf/report.h"
#include "perf/statistics/figure.h"

namespace gdr::perf {

inline Load load_of(Measure measure, std::uint64_t size) {
  Load load;
  load.measure = measure;
  load.size = size;
  return load;
}

inline Row row_of(const Load& load, const std::vector<double>& repetitions) {
  Row row;
  row.load = load;
  const Figure figure = make_figure(repetitions);
  if (load.measure == Measure::kLatency) {
    row.latency.emplace().median = figure;
  } else {
    (load.measure == Measure::kRate ? row.rate : row.bandwidth) = figure;
  }
  return row;
}

inline std::vector<double> around(double value) {
  std::vector<double> repetitions;
  for (int i = -3; i <= 3; ++i) repetitions.push_back(value * (1 + i * 0.001));
  return repetitions;
}

inline Report report_of(std::vector<Row> rows) {
  Report report;
  report.date = "2026-11-22T08:15:00Z";
  report.command = "gdr perf";
  report.loopback = true;
  report.near.host = "alpha";
  report.near.kernel = "6.1.0";
  report.near.processor = "Example 9000";
  report.near.version = "0.1.0";
  report.near.ports = {{"mlx5_0", "", "", 1, 0, 4096, 400e9}};
  report.far = report.near;
  report.clock.invariant = true;
  report.rows = std::move(rows);
  return report;
}

}  // namespace gdr::perf
