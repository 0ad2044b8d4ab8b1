#include "fabric/output/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "perf/statistics/figure.h"

namespace gdr::fabric {
namespace {

// Each pair once, whichever way it was measured.
std::uint64_t count_pairs(const Report& report) {
  std::vector<std::uint64_t> pairs;
  pairs.reserve(report.measurements.size());
  for (const Measurement& one : report.measurements) {
    if (one.is_retest || one.outcome == Outcome::kAbandoned || one.from == one.to) continue;
    const auto [low, high] = std::minmax(one.from, one.to);
    pairs.push_back(std::uint64_t{low} << 32 | high);
  }
  std::sort(pairs.begin(), pairs.end());
  const auto end = std::unique(pairs.begin(), pairs.end());
  return static_cast<std::uint64_t>(end - pairs.begin());
}

double median_or_zero(std::vector<double>& values) {
  return values.empty() ? 0 : perf::median_of(std::move(values));
}

}  // namespace

Coverage coverage_of(const Report& report) {
  Coverage coverage;
  for (const Host& host : report.hosts) {
    if (took_part(host)) ++coverage.hosts;
    if (host.state != HostState::kThere) ++coverage.lost;
  }
  coverage.pairs = std::uint64_t{coverage.hosts} * (coverage.hosts - (coverage.hosts > 0)) / 2;
  coverage.pairs_met = count_pairs(report);
  for (const Measurement& one : report.measurements) {
    ++coverage.transfers[static_cast<int>(one.outcome)];
    coverage.has_crossed_rails |= one.rail != one.far_rail;
    coverage.has_bandwidth |= one.bytes_per_second > 0;
    coverage.has_latency |= one.latency > 0;
  }
  return coverage;
}

std::string rail_name(const Report& report, std::size_t rail) {
  if (rail < report.rails.size() && !report.rails[rail].empty()) return report.rails[rail];
  return fmt::format("rail {}", rail);
}

double link_rate(const Report& report, std::size_t rail) {
  std::map<double, std::size_t> counts;
  for (const Host& host : report.hosts) {
    if (!took_part(host) || rail >= host.rails.size() || host.rails[rail].software_nic) continue;
    const double bits = host.rails[rail].link_bits_per_second;
    if (bits > 0) ++counts[bits];
  }
  if (counts.empty()) return 0;
  const auto most = std::ranges::max_element(
      counts, {}, [](const std::pair<const double, std::size_t>& one) { return one.second; });
  return most->first / 8;
}

std::vector<HostRail> host_rails(const Report& report) {
  const std::size_t rails = rail_count(report);
  struct Values {
    std::vector<double> sent, received, latency;
  };
  std::vector<Values> values(report.hosts.size() * rails);
  for (const Measurement& one : report.measurements) {
    if (one.is_retest || one.rail != one.far_rail) continue;
    if (one.bytes_per_second > 0) {
      values[one.from * rails + one.rail].sent.push_back(one.bytes_per_second);
      values[one.to * rails + one.rail].received.push_back(one.bytes_per_second);
    }
    if (one.latency > 0) values[one.from * rails + one.rail].latency.push_back(one.latency);
  }
  std::vector<HostRail> medians(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    medians[i].transfers =
        static_cast<std::uint32_t>(values[i].sent.size() + values[i].received.size());
    medians[i].sent = median_or_zero(values[i].sent);
    medians[i].received = median_or_zero(values[i].received);
    medians[i].latency = median_or_zero(values[i].latency);
  }
  return medians;
}

std::string stand_ins(const Report& report) {
  bool nic = false, gpu = false;
  for (const Host& host : report.hosts) {
    if (!took_part(host)) continue;
    for (const Rail& rail : host.rails) {
      nic |= rail.software_nic;
      gpu |= rail.software_gpu;
    }
  }
  if (nic) return gpu ? "RDMA NIC and GPU" : "RDMA NIC";
  return gpu ? "GPU" : "";
}

std::vector<std::string> distinct_names(const Report& report) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Host& host : report.hosts) {
    std::string name = host.name;
    for (int number = 2; !taken.insert(name).second; ++number) {
      name = fmt::format("{}#{}", host.name, number);
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace gdr::fabric
