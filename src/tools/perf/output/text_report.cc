#include "perf/output/text_report.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "perf/output/figures.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::perf {
namespace {

using text::Colour;
using text::pad_left;
using text::plural;

constexpr std::size_t kSizeWidth = 8;
// Where the text about a side begins, and the text below a row.
constexpr std::size_t kSideIndent = 10, kBelowIndent = 2 + kSizeWidth + 2;

// A group's set-up gets a line of its own above these.
constexpr double kMuchSetUp = 0.1;  // seconds
constexpr std::uint64_t kMuchMemory = std::uint64_t{1} << 30;

struct Column {
  const char* head;
  std::size_t width;
  std::string text;
};

std::string check_text(const Row& row) {
  if (!row.checked) return "-";
  return row.checked->wrong == 0 ? "ok" : "WRONG";
}

// A row without figures has the same heads.
std::vector<Column> columns_of(const Row& row) {
  std::vector<Column> columns;
  const auto add = [&](const char* head, std::size_t width, const auto& figure, auto text) {
    columns.push_back({head, width, figure ? text(*figure) : "-"});
  };
  const auto spread = [](const Figure& figure) { return spread_text(figure.spread); };
  switch (row.load.measure) {
    case Measure::kBandwidth:
      add("bandwidth", 13, row.bandwidth, [](const Figure& f) { return gigabytes(f.median); });
      add("spread", 8, row.bandwidth, spread);
      break;
    case Measure::kRate:
      add("messages", 13, row.rate, [](const Figure& f) { return megamessages(f.median); });
      add("spread", 8, row.rate, spread);
      break;
    default:
      const auto add_time = [&](const char* head, double Latency::*time) {
        add(head, 11, row.latency, [&](const Latency& l) -> std::string {
          return l.*time > 0 ? microseconds(l.*time) : "-";
        });
      };
      add_time("median", &Latency::p50);
      add_time("99 %", &Latency::p99);
      add_time("99.99 %", &Latency::p9999);
      add_time("max", &Latency::most);
      add("spread", 8, row.latency, [&](const Latency& l) { return spread(l.median); });
  }
  if (row.load.check) {
    columns.push_back({"data", 7, check_text(row)});
    add("checking", 10, row.checked, [](const Checked& c) { return percent(c.share_of_time); });
  }
  return columns;
}

std::string link_speed(double bits_per_second) {
  return bits_per_second > 0 ? fmt::format("{:g} Gb/s", bits_per_second / 1e9) : "";
}

std::string limit_text(const Row& row) {
  const Limit* limit = nearest_limit(row);
  if (!limit) return "";
  return share_text(limit->share) + " " + printable(limit->what);
}

// The row with the largest `figure`; nullptr if all are 0.
template <typename Take>
const Row* best(const std::vector<Row>& rows, Take figure) {
  const Row* found = nullptr;
  for (const Row& row : rows) {
    if (figure(row) > 0 && (!found || figure(row) > figure(*found))) found = &row;
  }
  return found;
}

std::string where(const Row& row) {
  return fmt::format(" ({} {}, {})", name_of(row.load.operation), message_size(row.load.size),
                     direction(row.load));
}

std::string highlights(const std::vector<Row>& rows) {
  std::string text;
  const auto say = [&](const Row* row, const char* what, auto figure) {
    if (row) text += std::string("; ") + what + " " + figure(*row) + where(*row);
  };
  say(best(rows, [](const Row& row) { return row.bandwidth ? row.bandwidth->median : 0.0; }),
      "peak bandwidth", [](const Row& row) { return gigabytes(row.bandwidth->median); });
  say(best(rows, [](const Row& row) { return row.rate ? row.rate->median : 0.0; }), "peak rate",
      [](const Row& row) { return megamessages(row.rate->median); });
  say(best(rows,
           [](const Row& row) {
             return row.latency && row.latency->p50 > 0 ? 1 / row.latency->p50 : 0.0;
           }),
      "lowest latency", [](const Row& row) { return microseconds(row.latency->p50); });
  return text;
}

}  // namespace

void TextReport::line(const std::string& text, std::size_t indent) {
  fmt::print(file_, "{}\n", text::wrap(text, style_.columns, indent));
  std::fflush(file_);
}

void TextReport::side(const char* name, const Side& side) {
  const bool several = side.ports.size() > 1;  // each on a line of its own
  std::string text = "  " + text::pad(name, kSideIndent - 2);
  std::vector<std::string> parts = {printable(side.host)};
  const auto end_line = [&] {
    line(text + text::join(std::exchange(parts, {})), kSideIndent);
    text.assign(kSideIndent, ' ');
  };
  for (const Port& port : side.ports) {
    if (several) end_line();
    const std::string of_port[] = {
        fmt::format("{} port {}", printable(port.nic), port.number),
        port.netdev.empty() ? "" : "netdev " + printable(port.netdev),
        port.gid.empty() ? "" : fmt::format("GID {}: {}", port.gid_index, printable(port.gid)),
        port.path_mtu > 0 ? fmt::format("path MTU {} B", port.path_mtu) : "",
        link_speed(port.link_bits_per_second)};
    parts.insert(parts.end(), std::begin(of_port), std::end(of_port));
  }
  if (several) end_line();
  for (const std::string& gpu : side.gpus) parts.push_back(printable(gpu));
  const std::string replaced = stand_ins(side);
  if (!replaced.empty()) {
    parts.push_back(paint(style_, Colour::kYellow, "STAND-IN: " + replaced));
  }
  if (!parts.empty()) end_line();
}

void TextReport::on_side(const Report& report) {
  line(paint(style_, Colour::kBold,
             report.loopback ? "Loopback on " + printable(report.near.host)
                             : "From " + printable(report.near.host) + " (client) to " +
                                   printable(report.far.host) + " (server)"),
       2);
  side("client", report.near);
  side("server", report.far);
  if (!report.clock.invariant) {
    line("  Times come from the system clock: this CPU has no invariant counter.", 2);
  }
}

void TextReport::group(const Row& row) {
  if (group_ && is_same_group(*group_, row.load)) return;
  group_ = row.load;
  line("");
  line(paint(style_, Colour::kBold, group_title(row.load)), 2);
  std::string heads = "  " + pad_left("size", kSizeWidth);
  for (const Column& column : columns_of(row)) heads += pad_left(column.head, column.width);
  if (nearest_limit(row)) heads += "  nearest limit";
  line(paint(style_, Colour::kDim, heads), kBelowIndent);
}

void TextReport::figures(const Row& row) {
  std::string text = "  " + pad_left(message_size(row.load.size), kSizeWidth);
  if (!row.problem.empty()) {
    return line(text + "  " + paint(style_, Colour::kRed, printable(row.problem)), kBelowIndent);
  }
  for (const Column& column : columns_of(row)) {
    const std::string cell = pad_left(column.text, column.width);
    text += column.text == "WRONG" ? paint(style_, Colour::kRed, cell) : cell;
  }
  const std::string limit = limit_text(row);
  line(limit.empty() ? text : text + "  " + limit, kBelowIndent);
}

void TextReport::below(const Row& row) {
  const auto say = [&](Colour colour, const std::string& text) {
    line(std::string(kBelowIndent, ' ') + paint(style_, colour, printable(text)), kBelowIndent);
  };
  if (row.checked && row.checked->wrong > 0) {
    say(Colour::kRed, fmt::format("{} of {} wrong{}", row.checked->wrong,
                                  plural(row.checked->messages, "checked message"),
                                  row.checked->first.empty() ? "" : ": " + row.checked->first));
  }
  if (row.lost > 0) {
    say(Colour::kYellow, fmt::format("{} of {} lost", row.lost, plural(row.messages, "message")));
  }
  set_up(row);
  if (!row.ports.empty()) say(Colour::kDim, shares_text(row));
  for (const std::string& remark : row.remarks) say(Colour::kDim, remark);
  for (const Limit& limit : row.limits) {
    if (limit.advice.empty()) continue;
    say(Colour::kYellow,
        limit.advice + (limit.check.empty() ? "" : "  (gdr doctor --explain " + limit.check + ")"));
  }
}

// Said once for the rows that share it, and only if it took long.
void TextReport::set_up(const Row& row) {
  if (row.set_up_seconds < kMuchSetUp && row.registered_bytes < kMuchMemory) return;
  if (set_up_told_ && is_same_group(*set_up_told_, row.load)) return;
  set_up_told_ = row.load;
  line(std::string(kBelowIndent, ' ') +
           paint(style_, Colour::kDim,
                 fmt::format("set-up took {:.1f} s; the client registered {:.1f} MiB",
                             row.set_up_seconds,
                             static_cast<double>(row.registered_bytes) / (1 << 20))),
       kBelowIndent);
}

void TextReport::on_row(const Row& row) {
  group(row);
  figures(row);
  below(row);
}

void TextReport::gains_of(const Report& report) {
  const Load* group = nullptr;
  for (const Gain& gain : gains(report.rows)) {
    const Load& direct = gain.direct->load;
    const Load& staged = gain.staged->load;
    if (!group || !is_same_group(*group, staged)) {
      group = &staged;
      line("");
      line(paint(style_, Colour::kBold,
                 fmt::format("Direct vs. staged through host memory: {}, {}, {}, {}",
                             name_of(direct.operation), name_of(direct.transport),
                             name_of(direct.measure), direction(direct))),
           2);
      line(paint(style_, Colour::kDim,
                 fmt::format("  {:>{}}{:>14}{:>14}   direct is", "size", kSizeWidth, "direct",
                             "staged")),
           kBelowIndent);
    }
    const auto figure = [](const Row& row) {
      const double value = main_figure(row);
      return row.load.measure == Measure::kBandwidth ? gigabytes(value)
             : row.load.measure == Measure::kRate    ? megamessages(value)
                                                     : microseconds(value);
    };
    line("  " + pad_left(message_size(staged.size), kSizeWidth) +
             pad_left(figure(*gain.direct), 14) + pad_left(figure(*gain.staged), 14) + "   " +
             speed_up(gain.factor),
         kBelowIndent);
  }
}

void TextReport::summary(const Report& report) {
  std::size_t problems = 0, wrong = 0, checked = 0;
  for (const Row& row : report.rows) {
    problems += !row.problem.empty();
    checked += row.checked.has_value();
    wrong += row.checked && row.checked->wrong > 0;
  }
  const bool replaced = !stand_ins(report.near).empty() || !stand_ins(report.far).empty();
  std::string text =
      fmt::format("{} in {:.1f} s", plural(report.rows.size(), "measurement"), report.seconds);
  if (report.interrupted) text = "Interrupted: " + text;
  text += highlights(report.rows);
  if (problems > 0) text += fmt::format("; {} failed", plural(problems, "measurement"));
  if (checked > 0) {
    text += wrong > 0 ? fmt::format("; WRONG DATA in {}", plural(wrong, "measurement"))
                      : fmt::format("; every byte was right in {}", plural(checked, "measurement"));
  }
  if (replaced) text += "; measured on STAND-INs, not on real hardware";
  const Colour colour = problems + wrong > 0 || report.interrupted ? Colour::kRed
                        : replaced                                 ? Colour::kYellow
                                                                   : Colour::kGreen;
  line("");
  line(paint(style_, colour, text), 2);
}

void TextReport::on_end(const Report& report) {
  gains_of(report);
  summary(report);
}

}  // namespace gdr::perf
