#include "perf/output/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "perf/output/figures.h"
#include "perf/output/html_tables.h"
#include "perf/output/json_report.h"
#include "perf/output/page_parts.h"
#include "text/format.h"
#include "text/json_text.h"

namespace gdr::perf {
namespace {

// In a <script>, "<" could end it; in JSON it only stands inside text.
std::string inside_script(const std::string& json) {
  std::string text;
  for (const char c : json) text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

std::string data(const char* id, const std::string& json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id,
                     inside_script(json));
}

// A group's title without its measure: each chart is about one.
std::string series_titles(const std::vector<Row>& rows) {
  nlohmann::ordered_json titles = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    std::string title = group_title(row.load);
    const std::string measure = std::string(", ") + name_of(row.load.measure) + ":";
    title.replace(title.find(measure), measure.size(), ":");
    titles.push_back(title);
  }
  return text::json_text(titles, -1);
}

std::string head(const std::string& title) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>" +
         title + "</title>\n<style>\n" + std::string(page_css()) + "</style>\n</head>\n<body>\n";
}

std::string entry(const char* name, const std::string& text) {
  return text.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escaped(text));
}

std::string side_card(const char* name, const Side& side) {
  const auto number = [](double value, const char* unit) {
    return value > 0 ? fmt::format("{:g} {}", value, unit) : "";
  };
  const std::string replaced = stand_ins(side);
  std::string text = fmt::format("<div class=\"side\"><h3>{}</h3><dl>\n", name);
  text += entry("host", side.host);
  for (const Port& port : side.ports) {
    text += entry("NIC", fmt::format("{} port {}", port.nic, port.number));
    text += entry("netdev", port.netdev);
    text += entry("GID", port.gid.empty() ? "" : fmt::format("{}: {}", port.gid_index, port.gid));
    text += entry("path MTU", number(port.path_mtu, "B"));
    text += entry("link", number(port.link_bits_per_second / 1e9, "Gb/s"));
  }
  for (const std::string& gpu : side.gpus) text += entry("GPU", gpu);
  text += entry("libibverbs", side.library);
  text += entry("processor", side.processor);
  text += entry("kernel", side.kernel);
  text += entry("gdrkit", side.version);
  if (!replaced.empty()) {
    text += fmt::format("<dt>STAND-IN</dt><dd class=\"advice\">{}</dd>\n", replaced);
  }
  return text + "</dl></div>\n";
}

std::string clock_text(const ClockReport& clock) {
  if (!clock.invariant) return "Times come from the system clock.";
  return fmt::format(
      "Times come from the CPU's counter, {:.6g} MHz; it drifted by {:.2g} ppm against the system "
      "clock.",
      clock.ticks_per_second / 1e6, clock.drift * 1e6);
}

// "server: GPU"
std::string all_stand_ins(const Report& report) {
  const std::string near = stand_ins(report.near), far = stand_ins(report.far);
  return (near.empty() ? "" : "client: " + near) + (near.empty() || far.empty() ? "" : "; ") +
         (far.empty() ? "" : "server: " + far);
}

std::string stand_in_banner(const std::string& replaced) {
  if (replaced.empty()) return "";
  return "<div class=\"stand-in\"><strong>STAND-IN</strong> (" + replaced +
         "): gdrkit simulated this hardware. These numbers say nothing about real "
         "hardware.</div>\n";
}

// The chart carries the words too, since people copy it out of the page.
std::string charts(const std::string& replaced) {
  return fmt::format(
      "<div class=\"charts\" id=\"charts\"{}></div>\n<noscript><p>The curves need "
      "JavaScript; the tables have all numbers.</p></noscript>\n",
      replaced.empty() ? "" : " data-stand-in=\"STAND-IN (" + replaced + ")\"");
}

std::string escaped_lines(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    safe += escaped(line) + "\n";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return safe;
}

std::string section(const char* title, const std::string& body) {
  return body.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", title, body);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string to_html(const Report& report, const text::Provenance& provenance) {
  const std::string title =
      escaped("gdr perf: " + (report.loopback ? "loopback on " + report.near.host
                                              : report.near.host + " to " + report.far.host));
  std::string page = head(title);
  page += "<h1>" + title + "</h1>\n";
  page += fmt::format("<p class=\"quiet\">{}, {} in {:.1f} s</p>\n", escaped(report.date),
                      text::plural(report.rows.size(), "measurement"), report.seconds);
  page += "<p><code>" + escaped(report.command) + "</code></p>\n";
  if (report.interrupted)
    page += "<p class=\"bad\">Interrupted: some measurements are missing.</p>\n";
  const std::string replaced = all_stand_ins(report);
  page += stand_in_banner(replaced);
  page += "<div class=\"sides\">\n" + side_card("client", report.near) +
          side_card("server", report.far) + "</div>\n";
  page += "<p class=\"quiet\">" + clock_text(report.clock) + "</p>\n";
  page += section("Curves", charts(replaced));
  page += section("Direct vs. staged through host memory", html_gains(report.rows));
  page += section("All measurements", html_tables(report.rows));
  page +=
      "<footer><p>Sizes use powers of 1024, rates powers of ten. Spread: half the range of the "
      "middle 80 % of the repetitions, as a share of their median. The page holds the whole report "
      "as JSON (element <code>#report</code>).</p>\n"
      "<details><summary>Curves drawn by Chart.js (MIT License)</summary><pre>" +
      escaped_lines(chart_licence()) + "</pre></details></footer>\n";
  page += data("report", to_json(report, provenance)) + data("titles", series_titles(report.rows));
  page += "<script>" + std::string(chart_js()) + "</script>\n<script>\n" + std::string(page_js()) +
          "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace gdr::perf
