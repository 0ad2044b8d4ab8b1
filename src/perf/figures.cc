#include "perf/figures.h"

#include <algorithm>

#include "perf/statistics/figure.h"

namespace gdr::perf {
namespace {

using SlicesOfStations = std::vector<std::vector<Slice>>;

// Messages a second of all stations of both sides together, repetition by repetition.
std::vector<double> rates_of(const SlicesOfStations& near, const SlicesOfStations& far) {
  std::vector<double> rates;
  for (const SlicesOfStations* side : {&near, &far}) {
    for (const std::vector<Slice>& station : *side) {
      rates.resize(std::max(rates.size(), station.size()));
      for (std::size_t i = 0; i < station.size(); ++i) {
        if (station[i].nanoseconds == 0) continue;
        rates[i] += static_cast<double>(station[i].messages) * 1e9 /
                    static_cast<double>(station[i].nanoseconds);
      }
    }
  }
  return rates;
}

bool is_half(const Load& load) {
  return !is_staged(load) && load.operation != Operation::kRead && !is_atomic(load.operation);
}

void fill_latency(Row& row, const CrewOutcome& near, const TickClock& clock) {
  std::uint64_t samples = 0;
  for (const Samples& repetition : near.samples) samples += repetition.size();
  if (samples == 0) {
    if (row.problem.empty()) row.problem = "no message came back within the time given";
    return;
  }
  row.latency =
      summarize(near.samples, clock.nanoseconds_per_tick() * (is_half(row.load) ? 0.5 : 1));
  if (const auto remark = noise_remark(row.latency->median)) row.remarks.push_back(*remark);
}

void fill_rates(Row& row, const CrewOutcome& near, const Finish::Reply& far) {
  std::vector<double> rates = rates_of(near.slices, far.slices);
  if (rates.empty()) {
    if (row.problem.empty()) row.problem = "no repetition was completed";
    return;
  }
  // What is lost is no bandwidth.
  const std::uint64_t sent = row.messages;
  if (row.lost != 0 && sent != 0) {
    const double arrived =
        static_cast<double>(sent - std::min(row.lost, sent)) / static_cast<double>(sent);
    for (double& rate : rates) rate *= arrived;
    row.remarks.push_back("only what arrived is counted: this transport repeats nothing");
  }
  row.rate = make_figure(rates);
  std::vector<double> bytes = rates;
  for (double& value : bytes) value *= static_cast<double>(row.load.size);
  row.bandwidth = make_figure(bytes);
  if (const auto remark = noise_remark(*row.rate)) row.remarks.push_back(*remark);
}

}  // namespace

void fill_row(Row& row, const CrewOutcome& near, const Finish::Reply& far, const TickClock& clock) {
  if (!far.problem.empty()) row.problem = "the server: " + far.problem;
  if (!near.done) row.problem = near.done.error().message;
  row.messages = near.sent;
  for (const std::uint64_t sent : far.sent) row.messages += sent;
  row.lost = near.lost + far.lost;
  row.cores_near = near.cores;
  row.cores_far = far.cores;
  if (row.load.check) {
    Checked checked;
    checked.messages = near.checked + (row.load.measure == Measure::kLatency ? far.checked : 0);
    checked.bytes = checked.messages * row.load.size;
    checked.wrong = near.wrong + (row.load.measure == Measure::kLatency ? far.wrong : 0);
    checked.first = near.first_wrong.empty() ? far.first_wrong : near.first_wrong;
    checked.share_of_time = near.share_checking;
    row.checked = checked;
  }
  if (!row.problem.empty()) return;
  if (row.load.measure == Measure::kLatency) {
    fill_latency(row, near, clock);
  } else {
    fill_rates(row, near, far);
  }
}

}  // namespace gdr::perf
