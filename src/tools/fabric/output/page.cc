#include "fabric/output/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/output/coverage.h"
#include "fabric/output/page_data.h"
#include "fabric/output/page_parts.h"
#include "fabric/output/words.h"
#include "perf/output/figures.h"
#include "text/format.h"
#include "text/markup.h"

namespace gdr::fabric {
namespace {

using text::escape_markup;

// Cells have 16 bits for a host's number.
constexpr std::size_t kMostHostsOfMap = 65536;

// In a <script>, "<" could end it; in JSON it only stands inside text.
std::string inside_script(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string page_begin(const std::string& title) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>" +
         title + "</title>\n<style>\n" + std::string(page_css()) + "</style>\n</head>\n<body>\n";
}

const char* class_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kProved:
    case Verdict::kOneHost:
    case Verdict::kSimulated:
      return "good";
    case Verdict::kFindings:
      return "bad";
    default:
      return "warn";
  }
}

std::string head_of(const Report& report, const Coverage& coverage) {
  const Headline head = headline_of(report, coverage);
  std::string page = page_begin(escape_markup("gdr fabric: " + head.word));
  page += "<p class=\"quiet\">gdr fabric: RDMA between hosts, proved and measured</p>\n";
  page += fmt::format("<h1 class=\"{}\">{}</h1>\n<p>{}</p>\n", class_of(head.verdict),
                      escape_markup(head.word), escape_markup(head.detail));
  for (const std::string& label : head.labels) {
    page += "<p class=\"label\">" + escape_markup(label) + "</p>\n";
  }
  std::string run = fmt::format("{}, {} of {} ({}), {}", report.date, report.rounds_done,
                                text::plural(report.rounds_planned, "round"),
                                name_of(report.pattern), duration_text(report.seconds));
  if (!report.collector.empty()) run += ", collected on " + report.collector;
  if (!report.launcher.empty()) run += ", started by " + report.launcher;
  if (!report.topology.empty()) run += ", leaf switches from " + report.topology;
  if (!report.version.empty()) run += ", gdr " + report.version;
  return page + "<p class=\"quiet\">" + escape_markup(run) + "</p>\n";
}

std::string finding_row(const Report& report, const Finding& finding) {
  std::string hosts;
  for (const HostIndex host : finding.hosts) {
    if (host < report.hosts.size()) hosts += fmt::format("{}{}", hosts.empty() ? "" : " ", host);
  }
  std::string text = fmt::format(
      "<tr data-hosts=\"{}\" data-rail=\"{}\"><td class=\"kind\">{}: {}</td><td>"
      "<strong>{}</strong>",
      hosts, finding.rail, name_of(finding.culprit), name_of(finding.fault),
      escape_markup(finding.text));
  if (was_retested(finding)) text += "<br>Confirmed: seen again alone on the fabric.";
  if (!finding.evidence.empty()) {
    text += "<ul>";
    for (const std::string& sentence : finding.evidence) {
      text += "<li>" + escape_markup(sentence) + "</li>";
    }
    text += "</ul>";
  }
  if (!finding.doctor.empty()) text += "<p>gdr doctor: " + escape_markup(finding.doctor) + "</p>";
  if (!finding.next.empty()) {
    text += "<p>Next: <code>" + escape_markup(finding.next.text()) + "</code></p>";
  }
  return text +
         "</td><td><button type=\"button\" aria-pressed=\"false\" hidden>show</button>"
         "</td></tr>\n";
}

std::string findings_of(const Report& report) {
  if (report.findings.empty()) return "";
  std::string text =
      "<h2>Findings, the worst first</h2>\n<div class=\"scroll findings\"><table id=\"findings\">\n"
      "<thead><tr><th>what and where</th><th>finding</th><th></th></tr></thead><tbody>\n";
  for (const Finding& finding : report.findings) text += finding_row(report, finding);
  return text + "</tbody></table></div>\n";
}

// Without JavaScript nothing of it is shown.
std::string map_of(const PageData& data) {
  std::string text = R"(<section id="heatmap" hidden>
<h2>Pairs of hosts</h2>
<p class="quiet">A row sends, a column receives; colour is the share of the fleet's median on that
rail. Beside the map: the median of each row and column. Wheel, pinch or + and - zoom, dragging or
Shift with arrows moves, arrows choose a cell, 0 shows all.</p>
)";
  if (data.shown < data.cells) {
    text += fmt::format(
        "<p class=\"label\">{} of {} cells are on this page: those that stand out and an even "
        "share "
        "of the others. The JSON document has all.</p>\n",
        grouped(data.shown), grouped(data.cells));
  }
  return text + R"(<div class="controls">
<label>Rail <select id="rail"></select></label>
<fieldset aria-label="Figure">
<label><input type="radio" name="figure" value="bandwidth" checked> bandwidth</label>
<label><input type="radio" name="figure" value="latency"> latency</label>
</fieldset>
<span><button type="button" id="closer" aria-label="zoom in">+</button>
<button type="button" id="farther" aria-label="zoom out">−</button>
<button type="button" id="whole">show all</button></span>
</div>
<canvas id="map" tabindex="0" role="img" aria-label="heatmap of all pairs of hosts; the line below it
tells of the chosen cell, and the table of findings of what stands out"></canvas>
<div class="legend"><span id="scale"></span>
<span><i id="mark-wrong"></i>wrong bytes (×)</span>
<span><i id="mark-failed"></i>failed (/)</span>
<span><i id="mark-lost"></i>host lost</span>
<span><i id="mark-none"></i>not measured</span></div>
<div id="readout" role="status"></div>
<div id="tip" hidden></div>
</section>
<noscript><p class="label">The map needs JavaScript; the tables have what was found.</p></noscript>
)";
}

std::string number_cell(double value, std::string (*text)(double)) {
  return "<td class=\"number\">" + (value > 0 ? escape_markup(text(value)) : "") + "</td>";
}

std::string fleet_of(const Report& report) {
  if (report.fleet.empty()) return "";
  std::string text =
      "<h2>Fleet</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>rail</th>"
      "<th class=\"number\">bandwidth, median</th><th class=\"number\">least</th>"
      "<th class=\"number\">most</th><th class=\"number\">of the link</th>"
      "<th class=\"number\">latency, median</th><th class=\"number\">least</th>"
      "<th class=\"number\">most</th></tr></thead><tbody>\n";
  for (std::size_t rail = 0; rail < report.fleet.size(); ++rail) {
    const FleetRail& fleet = report.fleet[rail];
    const double link = link_rate(report, rail);
    text += "<tr><td class=\"rail\">" + escape_markup(rail_name(report, rail)) + "</td>";
    text += number_cell(fleet.bandwidth.median, perf::gigabytes) +
            number_cell(fleet.bandwidth.least, perf::gigabytes) +
            number_cell(fleet.bandwidth.most, perf::gigabytes) +
            number_cell(link > 0 ? fleet.bandwidth.median / link : 0, perf::percent) +
            number_cell(fleet.latency.median, perf::microseconds) +
            number_cell(fleet.latency.least, perf::microseconds) +
            number_cell(fleet.latency.most, perf::microseconds) + "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string lost_of(const Report& report) {
  const std::vector<LostHosts> lost = lost_hosts(report);
  if (lost.empty()) return "";
  std::string text =
      "<h2>Hosts that did not take part to the end</h2>\n<div class=\"scroll\"><table>\n"
      "<thead><tr><th>hosts</th><th></th><th>why</th></tr></thead><tbody>\n";
  for (const LostHosts& group : lost) {
    text += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        escape_markup(host_names(group.names)), name_of(group.state),
                        escape_markup(group.problem));
  }
  return text + "</tbody></table></div>\n";
}

std::string untested_of(const Report& report, const Coverage& coverage) {
  const std::vector<std::string> open = not_tested(report, coverage);
  if (open.empty()) return "";
  std::string text = "<h2>Not tested</h2>\n<ul>\n";
  for (const std::string& sentence : open) text += "<li>" + escape_markup(sentence) + "</li>\n";
  return text + "</ul>\n";
}

std::string scripts(const PageData& data) {
  std::string text = "<script type=\"application/json\" id=\"fabric\">" + inside_script(data.json) +
                     "</script>\n<script>\n";
  for (const std::string_view part : {cells_js(), words_js(), map_js(), edges_js(), page_js()}) {
    text += part;
  }
  return text + "</script>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  const Coverage coverage = coverage_of(report);
  const bool has_map = !report.measurements.empty() && report.hosts.size() <= kMostHostsOfMap;
  std::string page = head_of(report, coverage) + findings_of(report);
  PageData data;
  if (has_map) {
    data = page_data(report);
    page += map_of(data);
  }
  page += fleet_of(report) + lost_of(report) + untested_of(report, coverage);
  page +=
      "<footer><p>Rates use powers of ten. Latency is that of an 8-byte RDMA read. The JSON "
      "document "
      "of the run has every measurement.</p></footer>\n";
  if (has_map) page += scripts(data);
  return page + "</body>\n</html>\n";
}

}  // namespace gdr::fabric
