#include "perf/output/csv_report.h"

#include <fmt/format.h>

#include "perf/output/figures.h"
#include "text/csv_cell.h"

namespace gdr::perf {
namespace {

// Names and cells are written by the same lines, so that they cannot come apart.
class Line {
 public:
  explicit Line(bool names) : names_(names) {}

  void add(std::string_view name, const std::string& text) {
    if (!first_) text_ += ',';
    first_ = false;
    text_ += text::csv_cell(names_ ? name : text);
  }
  void add(std::string_view name, const char* text) { add(name, std::string(text)); }
  void add(std::string_view name, bool value) { add(name, value ? "true" : "false"); }
  template <typename Number>
  void add(std::string_view name, Number value) {
    add(name, fmt::format("{}", value));
  }
  template <typename Optional, typename Take>
  void maybe(std::string_view name, const Optional& whole, Take take) {
    if (whole) {
      add(name, take(*whole));
    } else {
      add(name, "");
    }
  }
  std::string take() { return text_ + "\r\n"; }

 private:
  bool names_;
  bool first_ = true;
  std::string text_;
};

std::string joined(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& part : texts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

void add_load(Line& line, const Load& load) {
  Load::each_field(
      [&](const char* name, auto field, const char*) { line.add(name, field_text(load.*field)); });
}

void add_figure(Line& line, const std::string& name, const std::string& unit,
                const std::optional<Figure>& figure) {
  line.maybe(name + "_median_" + unit, figure, [](const Figure& f) { return f.median; });
  line.maybe(name + "_least_" + unit, figure, [](const Figure& f) { return f.least; });
  line.maybe(name + "_most_" + unit, figure, [](const Figure& f) { return f.most; });
  line.maybe(name + "_spread_percent", figure, [](const Figure& f) { return f.spread * 100; });
  line.maybe(name + "_repetitions", figure, [](const Figure& f) { return f.repetitions.size(); });
}

void add_latency(Line& line, const std::optional<Latency>& latency) {
  const auto add = [&](const char* name, double Latency::*time) {
    const double* const known = latency && (*latency).*time > 0 ? &((*latency).*time) : nullptr;
    line.maybe(name, known, [](double nanoseconds) { return nanoseconds; });
  };
  add("latency_mean_ns", &Latency::mean);
  add("latency_least_ns", &Latency::least);
  add("latency_p50_ns", &Latency::p50);
  add("latency_p90_ns", &Latency::p90);
  add("latency_p99_ns", &Latency::p99);
  add("latency_p99_9_ns", &Latency::p999);
  add("latency_p99_99_ns", &Latency::p9999);
  add("latency_most_ns", &Latency::most);
  line.maybe("latency_samples", latency, [](const Latency& l) { return l.samples; });
  line.maybe("latency_spread_percent", latency,
             [](const Latency& l) { return l.median.spread * 100; });
  line.maybe("latency_repetitions", latency,
             [](const Latency& l) { return l.median.repetitions.size(); });
}

void add_checked(Line& line, const std::optional<Checked>& checked) {
  line.maybe("checked_messages", checked, [](const Checked& c) { return c.messages; });
  line.maybe("checked_bytes", checked, [](const Checked& c) { return c.bytes; });
  line.maybe("wrong_messages", checked, [](const Checked& c) { return c.wrong; });
  line.maybe("first_wrong", checked, [](const Checked& c) { return c.first; });
  line.maybe("check_time_percent", checked, [](const Checked& c) { return c.share_of_time * 100; });
}

void add_rest(Line& line, const Row& row) {
  const Limit* limit = nearest_limit(row);
  line.maybe("nearest_limit", limit, [](const Limit& l) { return l.what; });
  line.maybe("nearest_limit_bytes_per_second", limit, [](const Limit& l) { return l.value; });
  line.maybe("nearest_limit_reached_percent", limit, [](const Limit& l) { return l.share * 100; });
  line.add("messages", row.messages);
  line.add("lost_messages", row.lost);
  line.add("registered_bytes", row.registered_bytes);
  line.add("set_up_seconds", row.set_up_seconds);
  line.add("seconds", row.seconds);
  line.add("cores_near", row.cores_near);
  line.add("cores_far", row.cores_far);
  line.add("problem", row.problem);
  line.add("remarks", joined(row.remarks));
  std::vector<std::string> advice;
  for (const Limit& known : row.limits) {
    if (!known.advice.empty()) advice.push_back(known.advice);
  }
  line.add("advice", joined(advice));
}

// One cell for several ports.
template <typename List, typename Take>
std::string of_each(const List& list, Take take) {
  std::vector<std::string> texts;
  for (const auto& item : list) texts.push_back(fmt::format("{}", take(item)));
  return joined(texts);
}

void add_shares(Line& line, const std::vector<PortShare>& ports) {
  line.add("port_names",
           of_each(ports, [](const PortShare& p) { return p.near_port + " to " + p.far_port; }));
  line.add("port_bandwidth_median_bytes_per_second",
           of_each(ports, [](const PortShare& p) { return p.bandwidth; }));
  line.add("port_rate_median_messages_per_second",
           of_each(ports, [](const PortShare& p) { return p.rate; }));
  line.add("port_share_percent", of_each(ports, [](const PortShare& p) { return p.share * 100; }));
}

void add_side(Line& line, const std::string& name, const Side& side) {
  const auto add = [&](const char* what, auto Port::*field) {
    line.add(name + what, of_each(side.ports, [&](const Port& port) { return port.*field; }));
  };
  line.add(name + "_host", side.host);
  add("_nic", &Port::nic);
  add("_port", &Port::number);
  add("_netdev", &Port::netdev);
  add("_gid_index", &Port::gid_index);
  add("_gid", &Port::gid);
  add("_path_mtu_bytes", &Port::path_mtu);
  add("_link_bits_per_second", &Port::link_bits_per_second);
  line.add(name + "_gpus", joined(side.gpus));
  line.add(name + "_nic_is_stand_in", side.soft_nic);
  line.add(name + "_gpu_is_stand_in", side.soft_gpu);
  line.add(name + "_version", side.version);
}

std::string line_of(const Report& report, const Row& row, bool names) {
  Line line(names);
  line.add("date", report.date);
  add_load(line, row.load);
  add_figure(line, "bandwidth", "bytes_per_second", row.bandwidth);
  add_figure(line, "rate", "messages_per_second", row.rate);
  add_latency(line, row.latency);
  add_checked(line, row.checked);
  add_shares(line, row.ports);
  add_rest(line, row);
  add_side(line, "near", report.near);
  add_side(line, "far", report.far);
  return line.take();
}

}  // namespace

std::string to_csv(const Report& report) {
  std::string text = line_of(report, {}, true);
  for (const Row& row : report.rows) text += line_of(report, row, false);
  return text;
}

}  // namespace gdr::perf
