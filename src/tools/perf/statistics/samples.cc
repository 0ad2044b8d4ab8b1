#include "perf/statistics/samples.h"

#include <algorithm>
#include <iterator>

#include "perf/statistics/figure.h"

namespace gdr::perf {
namespace {

// The share is given in parts of 10,000 and not as a fraction: 0.9999 * 10,000 may be above 9,999.
std::uint64_t nearest_rank(std::uint64_t count, std::uint64_t of_10000) {
  // Not count * of_10000, which 2^64 cannot hold for any count.
  const std::uint64_t whole = count / 10'000 * of_10000;
  const std::uint64_t rest = count % 10'000 * of_10000;
  return std::max<std::uint64_t>(1, whole + (rest + 9'999) / 10'000);
}

constexpr std::uint64_t kHalf = 5'000;

// Different samples in ascending order, each with how often it was seen: far fewer than samples.
struct Run {
  Ticks ticks = 0;
  std::uint64_t count = 0;
};
using Runs = std::vector<Run>;

void append(Runs& runs, const Run& next) {
  if (!runs.empty() && runs.back().ticks == next.ticks) {
    runs.back().count += next.count;
  } else {
    runs.push_back(next);
  }
}

Runs runs_of(const Samples& samples) {
  std::vector<std::uint32_t> shorter(samples.short_ones().begin(), samples.short_ones().end());
  std::vector<Ticks> longer(samples.long_ones().begin(), samples.long_ones().end());
  std::sort(shorter.begin(), shorter.end());
  std::sort(longer.begin(), longer.end());
  Runs runs;
  for (const Ticks ticks : shorter) append(runs, {ticks, 1});
  for (const Ticks ticks : longer) append(runs, {ticks, 1});
  return runs;
}

Runs merge(const Runs& a, const Runs& b) {
  Runs both;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
             [](const Run& x, const Run& y) { return x.ticks < y.ticks; });
  Runs merged;
  for (const Run& run : both) append(merged, run);
  return merged;
}

Ticks percentile(const Runs& runs, std::uint64_t samples, std::uint64_t of_10000) {
  const std::uint64_t rank = nearest_rank(samples, of_10000);
  std::uint64_t seen = 0;
  for (const Run& run : runs) {
    seen += run.count;
    if (seen >= rank) return run.ticks;
  }
  return 0;
}

double mean_of(const std::vector<Bin>& bins, std::uint64_t samples) {
  long double sum = 0;
  for (const Bin& bin : bins) {
    sum += static_cast<long double>(bin.nanoseconds) * static_cast<long double>(bin.count);
  }
  return static_cast<double>(sum / static_cast<long double>(samples));
}

}  // namespace

bool Samples::add_long(Ticks sample) {
  if (full()) return false;
  --room_;
  long_.push_back(sample);
  return true;
}

void Samples::clear() {
  room_ += long_.size();
  long_.clear();
  count_ = 0;
}

void Samples::append(const Samples& other) {
  const std::size_t count = other.count_;  // `other` may be this one
  const std::size_t longer = other.long_.size();
  room_ += other.room_;
  short_.resize(short_.size() + other.short_.size());
  std::copy_n(other.short_.begin(), count, short_.begin() + static_cast<std::ptrdiff_t>(count_));
  count_ += count;
  for (std::size_t i = 0; i < longer; ++i) long_.push_back(other.long_[i]);
}

Latency summarize(std::span<const Samples> repetitions, double nanoseconds_per_tick) {
  Latency latency;
  std::vector<double> medians;
  Runs all;
  for (const Samples& repetition : repetitions) {
    if (repetition.size() == 0) continue;
    const Runs runs = runs_of(repetition);
    medians.push_back(static_cast<double>(percentile(runs, repetition.size(), kHalf)) *
                      nanoseconds_per_tick);
    latency.samples += repetition.size();
    all = merge(all, runs);
  }
  latency.median = make_figure(std::move(medians));
  if (latency.samples == 0) return latency;

  // At least one sample lies beyond it, else it would be the longest one by another name.
  const auto share = [&](std::uint64_t of_10000) {
    if (latency.samples < 10'000 / (10'000 - of_10000)) return 0.0;
    return static_cast<double>(percentile(all, latency.samples, of_10000)) * nanoseconds_per_tick;
  };
  latency.p50 = static_cast<double>(percentile(all, latency.samples, kHalf)) * nanoseconds_per_tick;
  latency.p90 = share(9'000);
  latency.p99 = share(9'900);
  latency.p999 = share(9'990);
  latency.p9999 = share(9'999);
  for (const Run& run : all) {
    latency.histogram.push_back({static_cast<double>(run.ticks) * nanoseconds_per_tick, run.count});
  }
  latency.least = latency.histogram.front().nanoseconds;
  latency.most = latency.histogram.back().nanoseconds;
  latency.mean = mean_of(latency.histogram, latency.samples);
  return latency;
}

}  // namespace gdr::perf
