#include "perf/figures.h"

#include <algorithm>

#include "perf/statistics/figure.h"

namespace gdr::perf {
namespace {

using SlicesOfStations = std::vector<std::vector<Slice>>;

// Messages a second of both sides together, repetition by repetition, of the stations that use
// `port` of `ports`.
std::vector<double> rates_of(const SlicesOfStations& near, const SlicesOfStations& far,
                             std::size_t port, std::size_t ports) {
  std::vector<double> rates;
  for (const SlicesOfStations* side : {&near, &far}) {
    for (std::size_t station = port; station < side->size(); station += ports) {
      const std::vector<Slice>& slices = (*side)[station];
      rates.resize(std::max(rates.size(), slices.size()));
      for (std::size_t i = 0; i < slices.size(); ++i) {
        if (slices[i].nanoseconds == 0) continue;
        rates[i] += static_cast<double>(slices[i].messages) * 1e9 /
                    static_cast<double>(slices[i].nanoseconds);
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
    if (row.problem.empty()) row.problem = "no answer arrived within the given time";
    return;
  }
  row.latency =
      summarize(near.samples, clock.nanoseconds_per_tick() * (is_half(row.load) ? 0.5 : 1));
  if (const auto remark = noise_remark(row.latency->median)) row.remarks.push_back(*remark);
}

double share_arrived(const Row& row) {
  if (row.lost == 0 || row.messages == 0) return 1;
  return static_cast<double>(row.messages - std::min(row.lost, row.messages)) /
         static_cast<double>(row.messages);
}

// Which port has lost a message is not known: each its share.
void fill_ports(Row& row, const CrewOutcome& near, const Finish::Reply& far) {
  double sum = 0;
  for (std::uint32_t port = 0; port < row.load.ports; ++port) {
    const Figure figure = make_figure(rates_of(near.slices, far.slices, port, row.load.ports));
    PortShare share;
    share.rate = figure.median * share_arrived(row);
    share.bandwidth = share.rate * static_cast<double>(row.load.size);
    sum += share.rate;
    row.ports.push_back(std::move(share));
  }
  for (PortShare& port : row.ports) port.share = sum > 0 ? port.rate / sum : 0;
}

void fill_rates(Row& row, const CrewOutcome& near, const Finish::Reply& far) {
  std::vector<double> rates = rates_of(near.slices, far.slices, 0, 1);
  if (rates.empty()) {
    if (row.problem.empty()) row.problem = "no repetition was completed";
    return;
  }
  // What is lost is no bandwidth.
  const double arrived = share_arrived(row);
  for (double& rate : rates) rate *= arrived;
  if (arrived != 1) {
    row.remarks.push_back("only arrived messages count: this transport does not retransmit");
  }
  row.rate = make_figure(rates);
  std::vector<double> bytes = rates;
  for (double& value : bytes) value *= static_cast<double>(row.load.size);
  row.bandwidth = make_figure(bytes);
  if (const auto remark = noise_remark(*row.rate)) row.remarks.push_back(*remark);
  if (row.load.ports > 1) fill_ports(row, near, far);
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
