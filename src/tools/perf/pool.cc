#include "perf/pool.h"

namespace gdr::perf {
namespace {

std::string key_of(const Load& load) {
  const process::Bytes bytes = process::encode(load);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// The row may be one that nobody changes.
auto figure_in(auto& row) -> decltype(&row.latency->median) {
  if (row.load.measure == Measure::kLatency) return row.latency ? &row.latency->median : nullptr;
  auto& figure = row.load.measure == Measure::kRate ? row.rate : row.bandwidth;
  return figure ? &*figure : nullptr;
}

void add(const Row* more, Row& row) {
  if (!row.problem.empty()) return;
  if (more == nullptr || !more->problem.empty() || compared_figure(*more) == nullptr) {
    row.problem = "in one of its runs: " + (more == nullptr || more->problem.empty()
                                                ? "it has no such row with a figure"
                                                : more->problem);
    return;
  }
  Figure* const figure = compared_figure(row);
  if (figure == nullptr) return;
  const std::vector<double>& repetitions = compared_figure(*more)->repetitions;
  figure->repetitions.insert(figure->repetitions.end(), repetitions.begin(), repetitions.end());
  row.lost += more->lost;
  if (row.checked && more->checked) row.checked->wrong += more->checked->wrong;
}

}  // namespace

Figure* compared_figure(Row& row) { return figure_in(row); }
const Figure* compared_figure(const Row& row) { return figure_in(row); }

RowsByLoad::RowsByLoad(const std::vector<Row>& rows) {
  for (const Row& row : rows) rows_[key_of(row.load)].push_back(&row);
}

const Row* RowsByLoad::take(const Load& load) {
  const auto found = rows_.find(key_of(load));
  if (found == rows_.end() || found->second.empty()) return nullptr;
  const Row* row = found->second.front();
  found->second.pop_front();
  return row;
}

Report pool(std::span<const Report> runs) {
  Report all = runs.front();
  for (const Report& run : runs.subspan(1)) {
    RowsByLoad rows(run.rows);
    for (Row& row : all.rows) add(rows.take(row.load), row);
  }
  return all;
}

}  // namespace gdr::perf
