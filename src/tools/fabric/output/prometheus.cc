#include "fabric/output/prometheus.h"

#include <fmt/format.h>
#include <time.h>

#include <cmath>
#include <set>

#include "base/printable.h"
#include "fabric/output/coverage.h"
#include "fabric/output/json_fields.h"

namespace gdr::fabric {
namespace {

// A label's value is UTF-8 in which three characters are escaped; printable() has no line feed.
std::string label_value(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

class Exposition {
 public:
  void head(std::string_view name, std::string_view help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
  }
  void sample(std::string_view name, const std::string& labels, double value) {
    // Not a number would be valid, and of no use to anybody.
    if (!std::isfinite(value)) return;
    text_ += labels.empty() ? fmt::format("{} {}\n", name, value)
                            : fmt::format("{}{{{}}} {}\n", name, labels, value);
  }
  void single(std::string_view name, std::string_view help, double value) {
    head(name, help);
    sample(name, "", value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Two series may not have the same labels: names that are shown alike are told apart.
std::vector<std::string> host_labels(const Report& report) {
  std::vector<std::string> labels;
  std::set<std::string> taken;
  for (const std::string& name : distinct_names(report)) {
    std::string label = label_value(name);
    for (int number = 2; !taken.insert(label).second; ++number) {
      label = fmt::format("{}#{}", label_value(name), number);
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

struct HostFigures {
  std::size_t rails = 0;
  std::vector<HostRail> medians;
  std::vector<std::string> labels;

  const HostRail& of(std::size_t host, std::size_t rail) const {
    return medians[host * rails + rail];
  }
};

template <typename Value>
void each_rail(const Report& report, const HostFigures& figures, std::string_view name,
               std::string_view help, Value value, Exposition& out) {
  out.head(name, help);
  for (std::size_t host = 0; host < report.hosts.size(); ++host) {
    if (!took_part(report.hosts[host])) continue;
    for (std::size_t rail = 0; rail < report.hosts[host].rails.size(); ++rail) {
      const double found = value(figures.of(host, rail), rail);
      if (!(found > 0)) continue;
      out.sample(name,
                 fmt::format("host=\"{}\",rail=\"{}\",nic=\"{}\"", figures.labels[host], rail,
                             label_value(report.hosts[host].rails[rail].nic)),
                 found);
    }
  }
}

// 0: there is nothing to compare with.
double share_of_fleet(const Report& report, const HostRail& one, std::size_t rail) {
  if (rail >= report.fleet.size() || !(report.fleet[rail].bandwidth.median > 0)) return 0;
  const double least = one.sent > 0 && one.received > 0 ? std::min(one.sent, one.received)
                                                        : std::max(one.sent, one.received);
  return least / report.fleet[rail].bandwidth.median;
}

void write_rails(const Report& report, const HostFigures& figures, Exposition& out) {
  each_rail(
      report, figures, "gdr_fabric_rail_sent_bytes_per_second",
      "Median bandwidth of what this rail of the host sent to other hosts.",
      [](const HostRail& one, std::size_t) { return one.sent; }, out);
  each_rail(
      report, figures, "gdr_fabric_rail_received_bytes_per_second",
      "Median bandwidth of what this rail of the host received from other hosts.",
      [](const HostRail& one, std::size_t) { return one.received; }, out);
  each_rail(
      report, figures, "gdr_fabric_rail_latency_seconds",
      "Median time of an 8-byte RDMA read by this rail from other hosts.",
      [](const HostRail& one, std::size_t) { return one.latency / 1e9; }, out);
  each_rail(
      report, figures, "gdr_fabric_rail_fleet_ratio",
      "Lower one of sent and received bandwidth, by the fleet's median of the rail.",
      [&](const HostRail& one, std::size_t rail) { return share_of_fleet(report, one, rail); },
      out);
}

void write_fleet_medians(const Report& report, Exposition& out) {
  out.head("gdr_fabric_fleet_bytes_per_second", "Median bandwidth of a rail over the fleet.");
  for (std::size_t rail = 0; rail < report.fleet.size(); ++rail) {
    if (!(report.fleet[rail].bandwidth.median > 0)) continue;
    out.sample("gdr_fabric_fleet_bytes_per_second", fmt::format("rail=\"{}\"", rail),
               report.fleet[rail].bandwidth.median);
  }
  out.head("gdr_fabric_fleet_latency_seconds", "Median latency of a rail over the fleet.");
  for (std::size_t rail = 0; rail < report.fleet.size(); ++rail) {
    if (!(report.fleet[rail].latency.median > 0)) continue;
    out.sample("gdr_fabric_fleet_latency_seconds", fmt::format("rail=\"{}\"", rail),
               report.fleet[rail].latency.median / 1e9);
  }
}

void write_hosts(const Report& report, const HostFigures& figures, Exposition& out) {
  out.head("gdr_fabric_host_up", "1 where the host took part to the end, else 0.");
  for (std::size_t host = 0; host < report.hosts.size(); ++host) {
    out.sample("gdr_fabric_host_up", fmt::format("host=\"{}\"", figures.labels[host]),
               report.hosts[host].state == HostState::kThere);
  }
  out.head("gdr_fabric_host_state", "1 for the state that the host ended in.");
  for (std::size_t host = 0; host < report.hosts.size(); ++host) {
    out.sample("gdr_fabric_host_state",
               fmt::format("host=\"{}\",state=\"{}\"", figures.labels[host],
                           name_of(report.hosts[host].state)),
               1);
  }
}

void write_findings(const Report& report, Exposition& out) {
  out.head("gdr_fabric_findings", "Number of findings, by what is to blame.");
  for (int i = 0; i <= static_cast<int>(kLast<Culprit>); ++i) {
    const auto culprit = static_cast<Culprit>(i);
    std::size_t count = 0;
    for (const Finding& finding : report.findings) count += finding.culprit == culprit;
    out.sample("gdr_fabric_findings", fmt::format("culprit=\"{}\"", name_of(culprit)),
               double(count));
  }
  out.head("gdr_fabric_host_findings", "Number of findings that name the host.");
  std::vector<std::size_t> counts(report.hosts.size());
  for (const Finding& finding : report.findings) {
    for (const HostIndex host : std::set<HostIndex>(finding.hosts.begin(), finding.hosts.end())) {
      if (host < counts.size()) ++counts[host];
    }
  }
  const std::vector<std::string> labels = host_labels(report);
  for (std::size_t host = 0; host < counts.size(); ++host) {
    out.sample("gdr_fabric_host_findings", fmt::format("host=\"{}\"", labels[host]),
               double(counts[host]));
  }
}

void write_run(const Report& report, Exposition& out) {
  const Coverage coverage = coverage_of(report);
  out.head("gdr_fabric_transfers", "Number of transfers between hosts, by what became of them.");
  for (int i = 0; i <= static_cast<int>(kLast<Outcome>); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    out.sample("gdr_fabric_transfers", fmt::format("outcome=\"{}\"", name_of(outcome)),
               double(coverage.of(outcome)));
  }
  out.single("gdr_fabric_rounds", "Rounds that were done.", report.rounds_done);
  out.single("gdr_fabric_rounds_planned", "Rounds that were planned.", report.rounds_planned);
  out.single("gdr_fabric_interrupted", "1 where the run was interrupted, else 0.",
             report.is_interrupted);
  out.single("gdr_fabric_simulation", "1 where a software NIC or GPU took part, else 0.",
             is_simulation(report));
  out.single("gdr_fabric_exit_status",
             "Exit status of gdr fabric: 0 no finding, 1 findings, 3 interrupted.",
             exit_status(report));
  out.single("gdr_fabric_duration_seconds", "Time that the run took.", report.seconds);
  if (const auto seconds = seconds_of_date(report.date)) {
    out.single("gdr_fabric_run_timestamp_seconds", "When the run began, in seconds since 1970.",
               *seconds);
  }
}

}  // namespace

std::optional<double> seconds_of_date(std::string_view date) {
  for (const char* form : {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M UTC", "%Y-%m-%d %H:%M:%S UTC"}) {
    tm time{};
    const std::string text(date);
    const char* end = strptime(text.c_str(), form, &time);
    if (end != nullptr && *end == 0) return static_cast<double>(timegm(&time));
  }
  return {};
}

std::string to_prometheus(const Report& report) {
  Exposition out;
  const HostFigures figures{rail_count(report), host_rails(report), host_labels(report)};
  write_rails(report, figures, out);
  write_fleet_medians(report, out);
  write_hosts(report, figures, out);
  write_findings(report, out);
  write_run(report, out);
  return out.take();
}

}  // namespace gdr::fabric
