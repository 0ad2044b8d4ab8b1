#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fabric/compare.h"
#include "fabric/output/json_writer.h"
#include "fabric/output/words.h"
#include "perf/output/figures.h"
#include "text/format.h"
#include "text/json_text.h"
#include "text/table.h"
#include "text/wrap.h"

namespace gdr::fabric {
namespace {

// More than a screen of them helps nobody; the document has all.
constexpr std::size_t kMostChanges = 30, kMostListed = 20;

using nlohmann::ordered_json;

class Lines {
 public:
  explicit Lines(std::size_t columns) : columns_(columns) {}

  void line(std::string_view text, std::size_t indent = 0) {
    text_ += text::wrap(text, columns_, indent) + "\n";
  }
  void blank() { text_ += "\n"; }
  void table(const std::vector<std::vector<std::string>>& rows) {
    text_ += text::wrap_lines(text::table(rows, 2), columns_, 6);
  }
  std::string take() { return std::move(text_); }

 private:
  std::size_t columns_;
  std::string text_;
};

std::string amount_of(Measure measure, double value) {
  return measure == Measure::kLatency ? perf::microseconds(value) : perf::gigabytes(value);
}

std::string word_of(const Change& change) {
  if (!change.is_shown) return "no difference shown";
  return change.is_worse ? "worse" : "better";
}

std::string share_words(double share) { return fmt::format("{:+.1f} %", share * 100); }

std::vector<std::string> row_of_change(const Change& change) {
  return {printable(change.host),
          printable(change.rail_name),
          std::string(name_of(change.measure)),
          amount_of(change.measure, change.base),
          amount_of(change.measure, change.other),
          share_words(change.share),
          word_of(change)};
}

void write_source(const char* which, const Source& source, Lines& lines) {
  lines.line(
      fmt::format("{:<5}  {}  {}  {}  {}", which, printable(source.file), printable(source.date),
                  text::plural(source.hosts, "host"), printable(source.launcher)),
      7);
}

void write_unlike(const Comparison& comparison, Lines& lines) {
  if (comparison.unlike.empty()) return;
  lines.blank();
  lines.line("These differ between the runs and may explain a change:");
  const auto shown = [](const std::string& value) {
    return value.empty() ? "none" : printable(value);
  };
  for (const Unlike& one : comparison.unlike) {
    lines.line(
        fmt::format("  {}  base: {}  other: {}", one.what, shown(one.base), shown(one.other)), 6);
  }
}

void write_names(const char* title, const std::vector<std::string>& names, Lines& lines) {
  if (names.empty()) return;
  lines.blank();
  lines.line(fmt::format("{} ({}): {}", title, names.size(), host_names(names)), 4);
}

void write_findings(const char* title, const std::vector<Finding>& findings, Lines& lines) {
  if (findings.empty()) return;
  lines.blank();
  lines.line(fmt::format("{} ({}):", title, findings.size()));
  for (std::size_t i = 0; i < std::min(findings.size(), kMostListed); ++i) {
    lines.line("  " + printable(findings[i].text), 4);
  }
  if (findings.size() > kMostListed) {
    lines.line(fmt::format("  and {} more, which --json has", findings.size() - kMostListed));
  }
}

void write_changes(const Comparison& comparison, Lines& lines) {
  lines.blank();
  if (comparison.fleet.empty()) {
    lines.line("The documents have no fleet figure in common.");
  } else {
    lines.line("Fleet medians:");
    std::vector<std::vector<std::string>> rows{
        {"", "rail", "", "base", "other", "change", "verdict"}};
    for (const Change& change : comparison.fleet) rows.push_back(row_of_change(change));
    lines.table(rows);
  }
  lines.blank();
  if (comparison.hosts.empty()) {
    lines.line(fmt::format("None of {} changed otherwise than the fleet.",
                           text::plural(comparison.hosts_compared, "host")));
    return;
  }
  lines.line("Hosts that changed otherwise than the fleet:");
  std::vector<std::vector<std::string>> rows{
      {"host", "rail", "", "base", "other", "change", "verdict"}};
  for (const Change& change : comparison.hosts) {
    if (rows.size() <= kMostChanges) rows.push_back(row_of_change(change));
  }
  lines.table(rows);
  if (comparison.hosts.size() > kMostChanges) {
    lines.line(
        fmt::format("  and {} more, which --json has", comparison.hosts.size() - kMostChanges));
  }
}

void write_sum(const Comparison& comparison, Lines& lines) {
  std::size_t worse = 0, better = 0;
  for (const std::vector<Change>* changes : {&comparison.fleet, &comparison.hosts}) {
    for (const Change& change : *changes) {
      worse += change.is_shown && change.is_worse;
      better += change.is_shown && !change.is_worse;
    }
  }
  lines.blank();
  lines.line(fmt::format("{} compared: {} better, {} worse; {} new, {} gone, {} still there.",
                         text::plural(comparison.hosts_compared, "host"), better, worse,
                         text::plural(comparison.findings_new.size(), "finding"),
                         comparison.findings_gone.size(), comparison.findings_still.size()));
  lines.line(
      "A host's change counts where it is 2 % or more and beyond 6 deviations of the fleet's "
      "changes; a fleet's where it is 2 % or more and beyond the noise of its median.");
}

const char* unit_of_measure(Measure measure) {
  return measure == Measure::kLatency ? "ns" : "bytes/s";
}

ordered_json json_of_change(const Change& change) {
  ordered_json json = ordered_json::object();
  if (!change.host.empty()) json["host"] = change.host;
  json.update({{"rail", change.rail},
               {"rail_name", change.rail_name},
               {"measure", name_of(change.measure)},
               {"unit", unit_of_measure(change.measure)},
               {"base", change.base},
               {"other", change.other},
               {"difference", change.share},
               {"noise", change.noise},
               {"verdict", word_of(change)}});
  return json;
}

ordered_json json_of_source(const Source& source) {
  return {{"file", source.file},         {"date", source.date},
          {"launcher", source.launcher}, {"collector", source.collector},
          {"gdrkit", source.version},    {"hosts", source.hosts}};
}

// Without the hosts' places, which are those of one of the two runs.
ordered_json json_of_findings(const std::vector<Finding>& findings) {
  ordered_json all = ordered_json::array();
  for (const Finding& finding : findings) {
    ordered_json one = JsonWriter::json_of(finding);
    one.erase("hosts");
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::string to_text(const Comparison& comparison, std::size_t columns) {
  Lines lines(columns);
  write_source("base", comparison.base, lines);
  write_source("other", comparison.other, lines);
  write_unlike(comparison, lines);
  write_names("Hosts that came", comparison.hosts_came, lines);
  write_names("Hosts that went", comparison.hosts_went, lines);
  write_findings("New findings", comparison.findings_new, lines);
  write_findings("Findings still there", comparison.findings_still, lines);
  write_findings("Findings gone", comparison.findings_gone, lines);
  write_changes(comparison, lines);
  write_sum(comparison, lines);
  return lines.take();
}

std::string to_json(const Comparison& comparison, const text::Provenance& provenance) {
  ordered_json json = text::envelope("gdr fabric compare", 1, provenance);
  json["base"] = json_of_source(comparison.base);
  json["other"] = json_of_source(comparison.other);
  json["unlike"] = ordered_json::array();
  for (const Unlike& one : comparison.unlike) {
    json["unlike"].push_back({{"what", one.what}, {"base", one.base}, {"other", one.other}});
  }
  json["hosts_compared"] = comparison.hosts_compared;
  json["hosts_came"] = comparison.hosts_came;
  json["hosts_went"] = comparison.hosts_went;
  json["findings_new"] = json_of_findings(comparison.findings_new);
  json["findings_gone"] = json_of_findings(comparison.findings_gone);
  json["findings_still"] = json_of_findings(comparison.findings_still);
  json["fleet"] = ordered_json::array();
  for (const Change& change : comparison.fleet) json["fleet"].push_back(json_of_change(change));
  json["hosts"] = ordered_json::array();
  for (const Change& change : comparison.hosts) json["hosts"].push_back(json_of_change(change));
  return text::json_text(json, 2) + "\n";
}

}  // namespace gdr::fabric
