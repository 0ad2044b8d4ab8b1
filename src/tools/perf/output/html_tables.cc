#include "perf/output/html_tables.h"

#include <fmt/format.h>

#include "perf/output/figures.h"
#include "perf/output/html_page.h"
#include "text/format.h"

namespace gdr::perf {
namespace {

struct Cell {
  std::string head, text;
  const char* kind = "";  // CSS
};

void add_figure(std::vector<Cell>& cells, const char* name, const std::optional<Figure>& figure,
                std::string (*text)(double)) {
  cells.push_back({name, figure ? text(figure->median) : "–"});
  cells.push_back({"least", figure ? text(figure->least) : "–"});
  cells.push_back({"most", figure ? text(figure->most) : "–"});
  cells.push_back({"spread", figure ? spread_text(figure->spread) : "–"});
}

void add_latency(std::vector<Cell>& cells, const std::optional<Latency>& latency) {
  const auto add = [&](const char* name, double Latency::*time) {
    const bool is_known = latency && (*latency).*time > 0;
    cells.push_back({name, is_known ? microseconds((*latency).*time) : "–"});
  };
  add("least", &Latency::least);
  add("median", &Latency::p50);
  add("90 %", &Latency::p90);
  add("99 %", &Latency::p99);
  add("99.9 %", &Latency::p999);
  add("99.99 %", &Latency::p9999);
  add("most", &Latency::most);
  cells.push_back({"spread", latency ? spread_text(latency->median.spread) : "–"});
  cells.push_back({"samples", latency ? fmt::format("{}", latency->samples) : "–"});
}

// A cell's kind is a class of the style sheet.
void add_check(std::vector<Cell>& cells, const std::optional<Checked>& checked) {
  if (!checked) {
    cells.push_back({"data", "–"});
  } else if (checked->wrong > 0) {
    cells.push_back({"data", "WRONG", "bad"});
  } else {
    cells.push_back({"data", "ok", "good"});
  }
  cells.push_back({"time spent checking", checked ? percent(checked->share_of_time) : "–"});
}

std::string limits_text(const std::vector<Limit>& limits) {
  std::string text;
  for (const Limit& limit : limits) {
    if (!holds(limit)) continue;
    text += (text.empty() ? "" : "<br>") + share_text(limit.share) + " " + escaped(limit.what) +
            " (" + gigabytes(limit.value) + ")";
  }
  return text.empty() ? "–" : text;
}

// Texts are escaped for the page.
std::vector<Cell> cells_of(const Row& row) {
  std::vector<Cell> cells = {{"size", message_size(row.load.size)}};
  if (row.load.measure == Measure::kBandwidth) {
    add_figure(cells, "bandwidth", row.bandwidth, gigabytes);
  } else if (row.load.measure == Measure::kRate) {
    add_figure(cells, "messages", row.rate, megamessages);
  } else {
    add_latency(cells, row.latency);
  }
  if (row.load.check) add_check(cells, row.checked);
  cells.push_back({"messages", fmt::format("{}", row.messages)});
  cells.push_back({"set-up time", digits(row.set_up_seconds * 1e3) + " ms"});
  cells.push_back(
      {"CPUs used (client, server)", digits(row.cores_near) + ", " + digits(row.cores_far)});
  if (row.load.measure != Measure::kLatency) {
    cells.push_back({"limits", limits_text(row.limits), "words"});
  }
  return cells;
}

std::string below(const Row& row, std::size_t columns) {
  std::string text;
  const auto say = [&](const char* kind, const std::string& words) {
    text += fmt::format("<div class=\"{}\">{}</div>", kind, escaped(words));
  };
  if (row.checked && row.checked->wrong > 0) {
    say("bad",
        fmt::format("{} of {} wrong: {}", row.checked->wrong,
                    text::plural(row.checked->messages, "checked message"), row.checked->first));
  }
  if (row.lost > 0) {
    say("advice", fmt::format("{} of {} lost", row.lost, text::plural(row.messages, "message")));
  }
  if (!row.ports.empty()) say("quiet", shares_text(row));
  for (const std::string& remark : row.remarks) say("quiet", remark);
  for (const Limit& limit : row.limits) {
    if (limit.advice.empty()) continue;
    say("advice",
        limit.advice + (limit.check.empty() ? "" : " (gdr doctor --explain " + limit.check + ")"));
  }
  if (text.empty()) return "";
  return fmt::format("<tr><td></td><td class=\"below\" colspan=\"{}\">{}</td></tr>\n", columns - 1,
                     text);
}

std::string table_row(const Row& row) {
  const std::vector<Cell> cells = cells_of(row);
  std::string text = "<tr class=\"row\">";
  if (!row.problem.empty()) {
    text += fmt::format("<td>{}</td><td class=\"below bad\" colspan=\"{}\">{}</td>", cells[0].text,
                        cells.size() - 1, escaped(row.problem));
  } else {
    for (const Cell& cell : cells) {
      text += fmt::format("<td class=\"{}\">{}</td>", cell.kind, cell.text);
    }
  }
  return text + "</tr>\n" + below(row, cells.size());
}

std::string table_head(const std::string& title, const std::vector<Cell>& cells) {
  std::string text =
      "<h3 class=\"table\">" + title + "</h3>\n<div class=\"scroll\"><table>\n<thead><tr>";
  for (const Cell& cell : cells) {
    text += fmt::format("<th scope=\"col\" class=\"{}\">{}</th>",
                        std::string_view(cell.kind) == "words" ? "words" : "", cell.head);
  }
  return text + "</tr></thead>\n<tbody>\n";
}

constexpr const char* kTableEnd = "</tbody></table></div>\n";

std::string main_text(const Row& row) {
  const double value = main_figure(row);
  return row.load.measure == Measure::kBandwidth ? gigabytes(value)
         : row.load.measure == Measure::kRate    ? megamessages(value)
                                                 : microseconds(value);
}

}  // namespace

std::string html_tables(const std::vector<Row>& rows) {
  std::string text;
  const Load* group = nullptr;
  for (const Row& row : rows) {
    if (!group || !is_same_group(*group, row.load)) {
      if (group) text += kTableEnd;
      text += table_head(group_title(row.load), cells_of(row));
      group = &row.load;
    }
    text += table_row(row);
  }
  return group ? text + kTableEnd : text;
}

std::string html_gains(const std::vector<Row>& rows) {
  std::string text;
  const Load* group = nullptr;
  for (const Gain& gain : gains(rows)) {
    const Load& direct = gain.direct->load;
    const Load& staged = gain.staged->load;
    if (!group || !is_same_group(*group, staged)) {
      if (group) text += kTableEnd;
      text += table_head(
          fmt::format("{}, {}, {}: {}", name_of(direct.operation), name_of(direct.transport),
                      name_of(direct.measure), direction(direct)),
          {{"size", ""}, {"direct", ""}, {"staged", ""}, {"direct is", ""}});
      group = &staged;
    }
    text += fmt::format("<tr class=\"row\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        message_size(staged.size), main_text(*gain.direct), main_text(*gain.staged),
                        speed_up(gain.factor));
  }
  return group ? text + kTableEnd : text;
}

}  // namespace gdr::perf
