#include "fabric/output/text_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/judge/judge.h"
#include "fabric/output/coverage.h"
#include "fabric/output/words.h"
#include "perf/output/figures.h"
#include "text/format.h"
#include "text/table.h"
#include "text/wrap.h"

namespace gdr::fabric {
namespace {

// More than a screen of them helps nobody; the documents have all.
constexpr std::size_t kMostFindings = 20, kMostEvidence = 6, kMostReasons = 10, kMostRails = 32;

class Sheet {
 public:
  explicit Sheet(const text::Style& style) : style_(style) {}

  void line(std::string_view text, std::size_t indent = 0) {
    text_ += text::wrap(text, style_.columns, indent) + "\n";
  }
  void heading(const std::string& title) {
    text_ += "\n";
    line(painted(text::Colour::kBold, title));
  }
  // Lines that are laid out already.
  void table(const std::vector<std::vector<std::string>>& rows) {
    text_ += text::wrap_lines(text::table(rows, 2), style_.columns, 6);
  }
  std::string painted(text::Colour colour, const std::string& text) const {
    return paint(style_, colour, text);
  }
  std::string take() { return std::move(text_); }

 private:
  const text::Style& style_;
  std::string text_;
};

text::Colour colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kProved:
    case Verdict::kOneHost:
    case Verdict::kSimulated:
      return text::Colour::kGreen;
    case Verdict::kFindings:
      return text::Colour::kRed;
    default:
      return text::Colour::kYellow;
  }
}

void write_head(const Report& report, const Coverage& coverage, Sheet& sheet) {
  const Headline head = headline_of(report, coverage);
  sheet.line(sheet.painted(colour_of(head.verdict), head.word) + ": " + head.detail, 2);
  for (const std::string& label : head.labels) {
    sheet.line(sheet.painted(text::Colour::kYellow, label), 2);
  }
}

void write_finding(std::size_t number, const Finding& finding, Sheet& sheet) {
  sheet.line(fmt::format("{:>2}. {}", number, printable(finding.text)), 4);
  std::size_t shown = 0;
  for (const std::string& sentence : finding.evidence) {
    if (shown++ == kMostEvidence) {
      sheet.line(fmt::format("    and {} more sentences of evidence in the JSON document",
                             finding.evidence.size() - kMostEvidence),
                 4);
      break;
    }
    sheet.line("    " + printable(sentence), 4);
  }
  if (was_retested(finding)) sheet.line("    Confirmed: seen again alone on the fabric.", 4);
  if (!finding.doctor.empty()) sheet.line("    gdr doctor: " + printable(finding.doctor), 6);
  if (!finding.next.empty()) {
    sheet.line("    " + sheet.painted(text::Colour::kBold, "next: " + finding.next.text()), 6);
  }
}

void write_findings(const Report& report, Sheet& sheet) {
  if (report.findings.empty()) return;
  sheet.heading(report.findings.size() == 1 ? "Finding" : "Findings, the worst first");
  for (std::size_t i = 0; i < std::min(report.findings.size(), kMostFindings); ++i) {
    write_finding(i + 1, report.findings[i], sheet);
  }
  if (report.findings.size() > kMostFindings) {
    sheet.line(fmt::format("and {} more findings; the JSON document and the page have all.",
                           grouped(report.findings.size() - kMostFindings)));
  }
  if (const text::Command drain = drain_command(report); !drain.empty()) {
    sheet.line("To take all hosts with confirmed faults out of service:");
    sheet.line("    " + sheet.painted(text::Colour::kBold, drain.text()), 6);
  }
}

std::string value_or_dash(double value, std::string (*text)(double)) {
  return value > 0 ? text(value) : "-";
}

void add_figure(const FleetFigure& figure, std::string (*text)(double),
                std::vector<std::string>& row) {
  row.push_back(value_or_dash(figure.median, text));
  row.push_back(value_or_dash(figure.least, text));
  row.push_back(value_or_dash(figure.most, text));
}

std::string share_of_link(const Report& report, std::size_t rail) {
  const double link = link_rate(report, rail);
  const double median = report.fleet[rail].bandwidth.median;
  return link > 0 && median > 0 ? perf::percent(median / link) : "";
}

// Two tables where one would not fit: a rail's bandwidth, and its latency.
void write_fleet(const Report& report, Sheet& sheet) {
  if (report.fleet.empty()) return;
  sheet.heading("Fleet: medians of all transfers; link: share of its rate");
  std::vector<std::vector<std::string>> bandwidth{{"rail", "bandwidth", "least", "most", "link"}},
      latency{{"rail", "latency", "least", "most"}};
  for (std::size_t rail = 0; rail < std::min(report.fleet.size(), kMostRails); ++rail) {
    const std::string name = printable(rail_name(report, rail));
    bandwidth.push_back({name});
    add_figure(report.fleet[rail].bandwidth, perf::gigabytes, bandwidth.back());
    bandwidth.back().push_back(share_of_link(report, rail));
    latency.push_back({name});
    add_figure(report.fleet[rail].latency, perf::microseconds, latency.back());
  }
  const auto any = [&](FleetFigure FleetRail::*figure) {
    return std::ranges::any_of(report.fleet,
                               [&](const FleetRail& rail) { return (rail.*figure).median > 0; });
  };
  if (any(&FleetRail::bandwidth)) sheet.table(bandwidth);
  if (any(&FleetRail::latency)) sheet.table(latency);
  if (report.fleet.size() > kMostRails) {
    sheet.line(
        fmt::format("  and {} more rails in the JSON document", report.fleet.size() - kMostRails));
  }
}

void write_lost(const Report& report, Sheet& sheet) {
  const std::vector<LostHosts> lost = lost_hosts(report);
  if (lost.empty()) return;
  sheet.heading("Hosts that did not take part to the end");
  std::size_t shown = 0;
  for (const LostHosts& group : lost) {
    if (shown++ == kMostReasons) {
      sheet.line(fmt::format("  and {} for other reasons, which are in the JSON document",
                             text::plural(lost.size() - kMostReasons, "group")));
      break;
    }
    const std::string problem = group.problem.empty() ? "" : ", " + printable(group.problem);
    sheet.line(fmt::format("  {} {}{}: {}", group.names.size(), name_of(group.state), problem,
                           host_names(group.names)),
               4);
  }
}

void write_untested(const Report& report, const Coverage& coverage, Sheet& sheet) {
  const std::vector<std::string> open = not_tested(report, coverage);
  if (open.empty()) return;
  sheet.heading("Not tested");
  for (const std::string& sentence : open) sheet.line("  " + sentence, 4);
}

void write_notes(const Report& report, Sheet& sheet) {
  constexpr std::size_t kMost = 20;
  if (report.notes.empty()) return;
  sheet.heading("Notes");
  for (std::size_t i = 0; i < std::min(report.notes.size(), kMost); ++i) {
    sheet.line("  " + printable(report.notes[i]), 4);
  }
  if (report.notes.size() > kMost) {
    sheet.line(
        fmt::format("  and {} more; all are in the JSON document", report.notes.size() - kMost), 4);
  }
}

void write_run(const Report& report, Sheet& sheet) {
  sheet.heading("Run");
  std::string rounds = fmt::format("  {} of {} ({}{})", report.rounds_done,
                                   text::plural(report.rounds_planned, "round"),
                                   name_of(report.pattern), report.isolate ? ", isolated" : "");
  if (report.retest_rounds > 0) {
    rounds += fmt::format(", {} again for suspects", text::plural(report.retest_rounds, "round"));
  }
  sheet.line(fmt::format("{}, {}", rounds, duration_text(report.seconds)), 4);
  sheet.line(
      fmt::format("  {} compared in each transfer, bandwidth with writes of {}",
                  text::size_text(report.proof_bytes), text::size_text(report.message_bytes)),
      4);
  if (!report.topology.empty()) {
    sheet.line("  leaf switches known from " + printable(report.topology), 4);
  }
  std::string where = "  collected on " + printable(report.collector);
  if (!report.launcher.empty()) where += ", started by " + printable(report.launcher);
  sheet.line(where, 4);
  sheet.line(fmt::format("  {}, gdr {}", printable(report.date), printable(report.version)), 4);
}

}  // namespace

std::string to_text(const Report& report, const text::Style& style) {
  Sheet sheet(style);
  const Coverage coverage = coverage_of(report);
  write_head(report, coverage, sheet);
  write_findings(report, sheet);
  write_fleet(report, sheet);
  write_lost(report, sheet);
  write_untested(report, coverage, sheet);
  write_notes(report, sheet);
  write_run(report, sheet);
  return sheet.take();
}

}  // namespace gdr::fabric
