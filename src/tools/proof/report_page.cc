#include "proof/report_page.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>
#include <vector>

#include "proof/mode_summary.h"
#include "proof/speed_rows.h"
#include "proof/text_report.h"
#include "proof/verdict.h"
#include "proof/verdict_lines.h"
#include "text/format.h"
#include "text/markdown.h"
#include "text/markup.h"
#include "text/page.h"

namespace gdr::proof {
namespace {

using text::escape_markdown;
using Fact = std::pair<std::string, std::string>;

// A failure's verdict does not say what was replaced.
std::string simulated(const InventoryReport& inventory) {
  std::string text = inventory.soft_nic ? "RDMA NIC" : "";
  if (inventory.soft_gpu && !inventory.host_memory_only) {
    text += text.empty() ? "GPU" : " and GPU";
  }
  return text;
}

// Between two hosts the first names this one, and "B" the other.
void add_other_host(const OtherSide& other, bool with_host, std::vector<Fact>& facts) {
  const RunFacts& its = other.facts;
  facts.insert(facts.end(),
               {{"simulated at B", simulated(other.inventory)},
                {"B: host", with_host ? its.host : ""},
                {"B: gdrkit", its.version},
                {"B: kernel", its.kernel},
                {"B: NVIDIA driver", its.gpu_driver.empty() ? "none" : its.gpu_driver}});
}

std::vector<Fact> facts_of(const Report& report, bool with_host) {
  const RunFacts& facts = report.facts;
  std::vector<Fact> all{{"simulated", simulated(report.inventory)},
                        {"host", with_host ? facts.host : ""},
                        {"date", facts.date},
                        {"gdrkit", facts.version},
                        {"kernel", facts.kernel},
                        {"NVIDIA driver", facts.gpu_driver.empty() ? "none" : facts.gpu_driver}};
  if (report.other) add_other_host(*report.other, with_host, all);
  return all;
}

const char* class_of(VerdictKind kind) {
  if (kind == VerdictKind::kProved) return "ok";
  return kind == VerdictKind::kFailed ? "fail" : "warn";
}

// A row for each mode that is alike in all directions, and else one for each direction.
struct Row {
  std::string path, mode, directions;
  Status status = Status::kNotProved;
  std::string result;
};

Row row_of(const Check& check) {
  Row row{path_text(check), check.title, direction_text(check), check.status, check.reason};
  if (check.status == Status::kProved) {
    row.result =
        text::plural(check.transfers, "transfer") + ", " + sizes_text(check.least, check.most);
  } else if (check.status == Status::kFailed && check.transfers > 0) {
    row.result = failure_text(check);
  }
  return row;
}

std::vector<Row> rows_of(const Report& report) {
  std::vector<Row> rows;
  for (const ModeSummary& mode : summaries_of(report.checks)) {
    if (!mode.is_uniform()) {
      for (const Check& check : mode.checks()) rows.push_back(row_of(check));
      continue;
    }
    Row row = row_of(mode.checks().front());
    row.directions = text::plural(mode.checks().size(), "direction");
    if (row.status == Status::kProved) {
      row.result =
          text::plural(mode.transfers(), "transfer") + ", " + sizes_text(mode.least(), mode.most());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

const char* word_of(Status status) {
  if (status == Status::kProved) return "ok";
  return status == Status::kFailed ? "FAILED" : "not proved";
}

const char* class_of(Status status) {
  if (status == Status::kProved) return "ok";
  return status == Status::kFailed ? "fail" : "warn";
}

std::string speeds_of(const Report& report) {
  std::string text, title;
  for (const Measurement& measurement : report.measurements) {
    const std::string its = speed_title(measurement, false, report.has_soft_nic());
    if (its != title)
      text += (title.empty() ? "" : "\n") + its + "\n" + speed_columns(measurement) + "\n";
    title = its;
    text += speed_row(measurement) + "\n";
  }
  return text;
}

std::string transfers_table(const Report& report) {
  std::string text =
      "<h2>Transfers</h2>\n<p class=\"quiet\">Every byte and its guards were compared by the "
      "process that owns the memory.</p>\n<div class=\"wide\"><table class=\"figures\">\n"
      "<tr><th>ports</th><th>mode</th><th>directions</th><th>result</th><th></th></tr>\n";
  for (const Row& row : rows_of(report)) {
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td></tr>\n",
        text::escape_markup(row.path), text::escape_markup(row.mode),
        text::escape_markup(row.directions), class_of(row.status), word_of(row.status),
        text::escape_markup(row.result));
  }
  return text + "</table></div>\n";
}

bool is_of_a_name(char one) {
  return std::isalnum(static_cast<unsigned char>(one)) || one == '-' || one == '_' || one == '.';
}

// `name` as a whole word becomes `other`. Only in what is escaped afterwards: a name that others
// chose may be an escape's backslash, or the fence of a block.
std::string renamed(const std::string& text, const std::string& name, const std::string& other) {
  if (name.empty()) return text;
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool whole = (at == 0 || !is_of_a_name(text[at - 1])) &&
                       (end == text.size() || !is_of_a_name(text[end]));
    if (!whole || at < from) continue;
    result += text.substr(from, at - from) + other;
    from = end;
  }
  return result + text.substr(from);
}

}  // namespace

std::string to_html(const Report& report) {
  const Verdict& verdict = report.verdict;
  const std::string name = report.facts.host.empty() ? "" : report.facts.host + ": ";
  std::string page = text::page_head("gdr prove: " + name + headline(verdict));
  page += fmt::format("<p class=\"quiet\">gdr prove: GPUDirect RDMA {}, byte by byte</p>\n",
                      report.other ? "between two hosts" : "on one host");
  page += fmt::format("<h1 class=\"{}\">{}</h1>\n<table class=\"facts\">\n", class_of(verdict.kind),
                      text::escape_markup(headline(verdict)));
  for (const VerdictLine& line : lines_of(verdict)) {
    page += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", line.name,
                        text::escape_markup(line.text));
  }
  for (const auto& [fact, value] : facts_of(report, true)) {
    page += text::page_fact(fact, value);
  }
  page += "</table>\n";
  if (!report.checks.empty()) page += transfers_table(report);
  const std::string speeds = speeds_of(report);
  if (!speeds.empty()) page += "<h2>Speed</h2>\n<pre>" + text::escaped_lines(speeds) + "</pre>\n";
  page += "<h2>Everything</h2>\n<details><summary>what gdr prove -v prints</summary><pre>" +
          text::escaped_lines(text_of(report, TextReport::Detail::kFull)) + "</pre></details>\n";
  return page + "</body>\n</html>\n";
}

std::string to_markdown(const Report& report) {
  const auto nameless = [&report](const std::string& text) {
    if (!report.other) return text;
    // The second may be the first with more behind it.
    return renamed(renamed(text, report.other->facts.host, "B"), report.facts.host, "A");
  };
  const auto escaped = [&](const std::string& text) { return escape_markdown(nameless(text)); };
  const Verdict& verdict = report.verdict;
  std::string page = "### gdr prove: " + escaped(headline(verdict)) + "\n\n| | |\n|---|---|\n";
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) page += fmt::format("| {} | {} |\n", name, escaped(value));
  };
  for (const VerdictLine& line : lines_of(verdict)) add(line.name, line.text);
  for (const auto& [fact, value] : facts_of(report, false)) add(fact, value);
  if (!report.checks.empty()) {
    page += "\n| ports | mode | directions | result | |\n|---|---|---|---|---|\n";
    for (const Row& row : rows_of(report)) {
      page += fmt::format("| {} | {} | {} | {} | {} |\n", escaped(row.path), escaped(row.mode),
                          escaped(row.directions), word_of(row.status), escaped(row.result));
    }
  }
  page += "\n";
  const std::string speeds = nameless(speeds_of(report));
  if (!speeds.empty()) page += text::folded_markdown("Speed", text::fenced_markdown("", speeds));
  // Its first line names the host.
  Report without = report;
  without.facts.host.clear();
  if (report.other) without.other->facts.host.clear();
  return page +
         text::folded_markdown(
             "What gdr prove -v prints",
             text::fenced_markdown("", nameless(text_of(without, TextReport::Detail::kFull))));
}

}  // namespace gdr::proof
