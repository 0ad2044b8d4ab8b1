#include "perf/statistics/samples.h"

#include <algorithm>

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

// All samples in ascending order, the short ones apart from the long.
struct Sorted {
  std::vector<std::uint32_t> shorter;
  std::vector<Ticks> longer;

  void take(const Samples& samples) {
    shorter.insert(shorter.end(), samples.short_ones().begin(), samples.short_ones().end());
    longer.insert(longer.end(), samples.long_ones().begin(), samples.long_ones().end());
  }
  void sort() {
    std::sort(shorter.begin(), shorter.end());
    std::sort(longer.begin(), longer.end());
  }
  std::uint64_t size() const { return shorter.size() + longer.size(); }
  Ticks at(std::uint64_t index) const {
    return index < shorter.size() ? shorter[index] : longer[index - shorter.size()];
  }
  Ticks percentile(std::uint64_t of_10000) const { return at(nearest_rank(size(), of_10000) - 1); }
};

template <typename T>
void count_equal(const std::vector<T>& ascending, double nanoseconds_per_tick,
                 std::vector<Bin>& bins) {
  for (auto from = ascending.begin(); from != ascending.end();) {
    const T value = *from;
    const auto to = std::find_if(from, ascending.end(), [=](T other) { return other != value; });
    bins.push_back(
        {static_cast<double>(value) * nanoseconds_per_tick, static_cast<std::uint64_t>(to - from)});
    from = to;
  }
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
  Sorted all;
  for (const Samples& repetition : repetitions) {
    if (repetition.size() == 0) continue;
    Sorted one;
    one.take(repetition);
    one.sort();
    medians.push_back(static_cast<double>(one.percentile(kHalf)) * nanoseconds_per_tick);
    all.take(repetition);
  }
  latency.median = make_figure(std::move(medians));
  latency.samples = all.size();
  if (latency.samples == 0) return latency;

  all.sort();
  const auto percentile = [&](std::uint64_t of_10000) {
    return static_cast<double>(all.percentile(of_10000)) * nanoseconds_per_tick;
  };
  latency.p50 = percentile(kHalf);
  latency.p90 = percentile(9'000);
  latency.p99 = percentile(9'900);
  latency.p999 = percentile(9'990);
  latency.p9999 = percentile(9'999);
  count_equal(all.shorter, nanoseconds_per_tick, latency.histogram);
  count_equal(all.longer, nanoseconds_per_tick, latency.histogram);
  latency.least = latency.histogram.front().nanoseconds;
  latency.most = latency.histogram.back().nanoseconds;
  latency.mean = mean_of(latency.histogram, latency.samples);
  return latency;
}

}  // namespace gdr::perf
