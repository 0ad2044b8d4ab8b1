#include "fabric/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "fabric/output/coverage.h"
#include "perf/statistics/figure.h"
#include "text/format.h"

namespace gdr::fabric {
namespace {

// As the fleet is judged in one run: beyond it lies one host in many millions.
constexpr double kOutlier = 6;
// For the median of many hosts.
constexpr double kFleetOutlier = 3;
// What two runs of one fleet differ by, whatever their own noise.
constexpr double kLeastChange = 0.02;
// From the median absolute deviation to the standard deviation, where noise is Gaussian.
constexpr double kNormal = 1.4826;
// By how much a median varies more than a mean.
constexpr double kMedianNoise = 1.2533;

// A run's hosts by name, with each rail's medians.
struct Run {
  explicit Run(const Report& report)
      : report(report), rails(rail_count(report)), medians(host_rails(report)) {
    const std::vector<std::string> names = distinct_names(report);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (took_part(report.hosts[i])) hosts[names[i]] = i;
    }
  }
  double value(std::size_t host, std::size_t rail, Measure measure) const {
    if (rail >= rails) return 0;
    const HostRail& one = medians[host * rails + rail];
    if (measure == Measure::kLatency) return one.latency;
    return measure == Measure::kSent ? one.sent : one.received;
  }
  // About how much a host's median varies, as a share: by the fleet's deviation.
  double noise(std::size_t host, std::size_t rail, Measure measure) const {
    if (rail >= report.fleet.size()) return 0;
    const FleetFigure& figure =
        measure == Measure::kLatency ? report.fleet[rail].latency : report.fleet[rail].bandwidth;
    const std::uint32_t transfers = medians[host * rails + rail].transfers;
    const double count = std::max(1.0, transfers / 2.0);
    return figure.median > 0 ? kMedianNoise * figure.deviation / figure.median / std::sqrt(count)
                             : 0;
  }

  const Report& report;
  std::size_t rails;
  std::vector<HostRail> medians;
  std::map<std::string, std::size_t> hosts;
};

bool is_worse(Measure measure, double share) {
  return measure == Measure::kLatency ? share > 0 : share < 0;
}

// The hosts that both runs measured, for one rail and measure.
struct Ratio {
  const std::string* host;
  double base, other, log, noise;
};

std::vector<Ratio> ratios(const Run& base, const Run& other, std::size_t rail, Measure measure) {
  std::vector<Ratio> all;
  for (const auto& [name, index] : base.hosts) {
    const auto match = other.hosts.find(name);
    if (match == other.hosts.end()) continue;
    const double before = base.value(index, rail, measure);
    const double now = other.value(match->second, rail, measure);
    if (!(before > 0 && now > 0)) continue;
    const double noise =
        std::hypot(base.noise(index, rail, measure), other.noise(match->second, rail, measure));
    all.push_back({&name, before, now, std::log(now / before), noise});
  }
  return all;
}

double median_log(const std::vector<Ratio>& all) {
  std::vector<double> logs;
  for (const Ratio& one : all) logs.push_back(one.log);
  return perf::median_of(std::move(logs));
}

// How far the hosts' changes lie apart.
double deviation(const std::vector<Ratio>& all, double middle) {
  std::vector<double> away;
  for (const Ratio& one : all) away.push_back(std::abs(one.log - middle));
  return kNormal * perf::median_of(std::move(away));
}

Change make_change(const Run& other, std::size_t rail, Measure measure, double base, double now) {
  Change change;
  change.rail = static_cast<std::uint16_t>(rail);
  change.rail_name = rail_name(other.report, rail);
  change.measure = measure;
  change.base = base;
  change.other = now;
  change.share = now / base - 1;
  change.is_worse = is_worse(measure, change.share);
  return change;
}

void compare_hosts(const Run& base, const Run& other, std::size_t rail, Measure measure,
                   std::vector<Change>& changes) {
  const std::vector<Ratio> all = ratios(base, other, rail, measure);
  if (all.empty()) return;
  const double middle = median_log(all), apart = deviation(all, middle);
  for (const Ratio& one : all) {
    // Two hosts always change alike in one way or the other, so each has its own noise, too. Of
    // few hosts the middle is as much one host's change as the fleet's.
    const double from = all.size() > 3 ? middle : 0;
    const double noise = std::max(kOutlier * std::max(apart, one.noise), kLeastChange);
    Change change = make_change(other, rail, measure, one.base, one.other);
    change.host = *one.host;
    change.noise = noise;
    change.is_shown = std::abs(one.log - from) > noise && std::abs(change.share) > kLeastChange;
    if (change.is_shown) changes.push_back(std::move(change));
  }
}

void compare_fleet(const Run& base, const Run& other, std::size_t rail, Measure measure,
                   std::vector<Change>& changes) {
  const auto figure = [&](const Run& run) -> FleetFigure {
    if (rail >= run.report.fleet.size()) return {};
    const FleetRail& fleet = run.report.fleet[rail];
    return measure == Measure::kLatency ? fleet.latency : fleet.bandwidth;
  };
  const FleetFigure before = figure(base), now = figure(other);
  if (!(before.median > 0 && now.median > 0)) return;
  Change change = make_change(other, rail, measure, before.median, now.median);
  // The noise of a median over all hosts: it shrinks with their number, but not below what runs
  // differ by.
  const auto hosts = static_cast<double>(
      std::max<std::size_t>(1, std::min(base.hosts.size(), other.hosts.size())));
  const double spread = std::hypot(before.deviation / before.median, now.deviation / now.median);
  change.noise = std::max(kFleetOutlier * kMedianNoise * spread / std::sqrt(hosts), kLeastChange);
  change.is_shown = std::abs(change.share) > change.noise;
  changes.push_back(std::move(change));
}

// By name, so that it is the same in a run with other hosts.
using Key = std::tuple<Fault, Culprit, std::set<std::string>, std::int32_t, std::string>;

Key key_of(const Finding& finding, const std::vector<std::string>& names) {
  std::set<std::string> hosts;
  for (const HostIndex host : finding.hosts) {
    if (host < names.size()) hosts.insert(names[host]);
  }
  // A leaf is the same one, whichever of its hosts took part.
  if (finding.culprit == Culprit::kLeaf) hosts.clear();
  return {finding.fault, finding.culprit, std::move(hosts), finding.rail, finding.leaf};
}

std::vector<Key> keys_of(const Report& report) {
  const std::vector<std::string> names = distinct_names(report);
  std::vector<Key> keys;
  for (const Finding& finding : report.findings) keys.push_back(key_of(finding, names));
  return keys;
}

void compare_findings(const Report& base, const Report& other, Comparison& result) {
  const std::vector<Key> before = keys_of(base), now = keys_of(other);
  const std::set<Key> known(before.begin(), before.end()), left(now.begin(), now.end());
  for (std::size_t i = 0; i < now.size(); ++i) {
    (known.contains(now[i]) ? result.findings_still : result.findings_new)
        .push_back(other.findings[i]);
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!left.contains(before[i])) result.findings_gone.push_back(base.findings[i]);
  }
}

std::string yes_no(bool value) { return value ? "yes" : "no"; }

void compare_settings(const Report& base, const Report& other, std::vector<Unlike>& unlike) {
  const auto add = [&](const char* what, std::string before, std::string now) {
    if (before != now) unlike.push_back({what, std::move(before), std::move(now)});
  };
  add("simulated", stand_ins(base), stand_ins(other));
  add("processes stood for hosts", yes_no(base.processes_as_hosts),
      yes_no(other.processes_as_hosts));
  add("pattern", std::string(name_of(base.pattern)), std::string(name_of(other.pattern)));
  add("one rail at a time", yes_no(base.isolate), yes_no(other.isolate));
  add("bytes of a write", text::size_text(base.message_bytes),
      text::size_text(other.message_bytes));
  add("rails", std::to_string(rail_count(base)), std::to_string(rail_count(other)));
  for (std::size_t rail = 0; rail < std::min(rail_count(base), rail_count(other)); ++rail) {
    add("rail", rail_name(base, rail), rail_name(other, rail));
  }
  add("interrupted", yes_no(base.is_interrupted), yes_no(other.is_interrupted));
  add("gdrkit", base.version, other.version);
}

Source source_of_run(const Run& run) {
  const Report& report = run.report;
  return {"", report.date, report.launcher, report.collector, report.version, run.hosts.size()};
}

void compare_presence(const Run& base, const Run& other, Comparison& result) {
  for (const auto& [name, index] : other.hosts) {
    (base.hosts.contains(name) ? void(++result.hosts_compared) : result.hosts_came.push_back(name));
  }
  for (const auto& [name, index] : base.hosts) {
    if (!other.hosts.contains(name)) result.hosts_went.push_back(name);
  }
}

bool is_about_speed(Fault fault) { return fault == Fault::kSlow || fault == Fault::kHighLatency; }

}  // namespace

std::string_view name_of(Measure measure) {
  switch (measure) {
    case Measure::kSent:
      return "sent";
    case Measure::kReceived:
      return "received";
    case Measure::kLatency:
      return "latency";
    case Measure::kBandwidth:
      return "bandwidth";
  }
  return "";
}

Comparison compare(const Report& base_report, const Report& other_report) {
  const Run base(base_report), other(other_report);
  Comparison result;
  result.base = source_of_run(base);
  result.other = source_of_run(other);
  compare_settings(base_report, other_report, result.unlike);
  compare_presence(base, other, result);
  compare_findings(base_report, other_report, result);
  for (std::size_t rail = 0; rail < std::min(base.rails, other.rails); ++rail) {
    for (const Measure measure : {Measure::kBandwidth, Measure::kLatency}) {
      compare_fleet(base, other, rail, measure, result.fleet);
    }
    for (const Measure measure : {Measure::kSent, Measure::kReceived, Measure::kLatency}) {
      compare_hosts(base, other, rail, measure, result.hosts);
    }
  }
  // What became worse stands first, then what changed most.
  std::ranges::stable_sort(result.hosts, [](const Change& a, const Change& b) {
    return a.is_worse != b.is_worse ? a.is_worse : std::abs(a.share) > std::abs(b.share);
  });
  return result;
}

bool is_worse_by(const Comparison& comparison, double share) {
  const auto is_bad = [&](const Change& change) {
    return change.is_shown && change.is_worse && std::abs(change.share) >= share;
  };
  const auto counts = [&](const Finding& finding) {
    return !is_about_speed(finding.fault) || std::abs(1 - finding.share) >= share;
  };
  return std::ranges::any_of(comparison.fleet, is_bad) ||
         std::ranges::any_of(comparison.hosts, is_bad) ||
         std::ranges::any_of(comparison.findings_new, counts);
}

}  // namespace gdr::fabric
