#include "mpi/run/baseline.h"

#include <algorithm>

#include "perf/plan.h"
#include "perf/run.h"

namespace gdr::mpi_run {
namespace {

constexpr std::uint32_t kSlices = 5;
constexpr Nanoseconds kSlice = 30 * kMillisecond, kWarmUp = 20 * kMillisecond;

perf::Options options_for(const BaselineWishes& wishes, bool both_ways) {
  perf::Options options;
  if (!wishes.near.empty()) options.nics = {wishes.near};
  if (!wishes.far.empty()) options.peer_nics = {wishes.far};
  options.libraries.soft = wishes.soft_nic && (wishes.soft_gpu || !wishes.gpu);
  options.wishes.sizes = wishes.sizes;
  options.wishes.measures = {perf::Measure::kBandwidth};
  if (!both_ways) options.wishes.measures.push_back(perf::Measure::kLatency);
  using Kind = perf::Place::Kind;
  if (wishes.host) options.wishes.near.push_back({Kind::kHost, 0});
  if (wishes.gpu) {
    options.wishes.near.push_back({Kind::kGpu, perf::kChosenGpu});
    if (!both_ways) options.wishes.near.push_back({Kind::kStaged, perf::kChosenGpu});
  }
  options.wishes.load.both_ways = both_ways;
  options.wishes.timing.slices = kSlices;
  options.wishes.timing.slice_nanoseconds = kSlice;
  options.wishes.timing.warm_up_nanoseconds = kWarmUp;
  options.version = wishes.version;
  options.command = "gdr mpi run";
  return options;
}

Memory memory_of(const perf::Place& place) {
  if (place.kind == perf::Place::Kind::kStaged) return Memory::kStaged;
  return place.is_gpu() ? Memory::kGpu : Memory::kHost;
}

void take(const perf::Report& measured, Baseline& baseline) {
  constexpr double kNanosecond = 1e-9;
  if (!measured.near.ports.empty()) baseline.near = measured.near.ports.front().text();
  if (!measured.far.ports.empty()) baseline.far = measured.far.ports.front().text();
  for (const perf::Row& row : measured.rows) {
    Baseline::Row taken{Measure::kLatency, memory_of(row.load.near), row.load.size, 0};
    if (row.latency) {
      taken.value = row.latency->median.median * kNanosecond;
    } else if (row.bandwidth) {
      taken.measure = row.load.both_ways ? Measure::kBidirectional : Measure::kBandwidth;
      taken.value = row.bandwidth->median;
    } else {
      if (baseline.problem.empty()) baseline.problem = row.problem;
      continue;
    }
    baseline.rows.push_back(taken);
  }
}

// The name with the most bytes.
std::string most(const std::map<std::string, std::uint64_t>& bytes) {
  const auto best = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == bytes.end() || best->second == 0 ? "" : best->first;
}

}  // namespace

Baseline measure_baseline(const BaselineWishes& wishes, const std::atomic<bool>& interrupted) {
  Baseline baseline{wishes.near, wishes.far, {}, ""};
  for (const bool both_ways : {false, true}) {
    perf::Listener silent;
    const Result<perf::Report> measured =
        perf::run(options_for(wishes, both_ways), silent, interrupted);
    if (!measured) {
      baseline.problem = measured.error().message;
      return baseline;
    }
    take(*measured, baseline);
  }
  return baseline;
}

UsedNics used_nics(const Program& program) {
  std::map<std::string, std::uint64_t> out, in;
  std::uint64_t sent = 0;
  for (const Row& row : program.rows) {
    if (!row.moved || !is_of_one_pair(row.measure)) continue;
    sent += row.sent;
    for (const auto& [name, port] : row.moved->nics) {
      out[name] += port.out;
      in[name] += port.in;
    }
  }
  UsedNics used{most(out), most(in)};
  // Chatter is no use.
  constexpr double kLeast = 0.05;
  if (used.near.empty() ||
      static_cast<double>(out[used.near]) < kLeast * static_cast<double>(sent)) {
    return {};
  }
  // Two NICs that carry both directions are near and far of each other.
  for (const auto& [name, bytes] : out) {
    if (name != used.near && bytes * 2 > out[used.near]) used.far = name;
  }
  return used;
}

}  // namespace gdr::mpi_run
