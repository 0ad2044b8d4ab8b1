#include "mpi/run/text_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "text/format.h"
#include "text/markup.h"
#include "text/page.h"

namespace gdr::mpi_run {
namespace {

constexpr double kMicroseconds = 1e6, kMegabytes = 1e-6;

std::string title_of(Measure measure, const Program& program) {
  switch (measure) {
    case Measure::kLatency:
      return "Latency, one way (us)";
    case Measure::kBandwidth:
      return "Bandwidth (MB/s)";
    case Measure::kBidirectional:
      return "Bidirectional bandwidth (MB/s)";
    case Measure::kMultiPair:
      return fmt::format("Bandwidth of {} together (MB/s)",
                         text::plural(program.ranks / 2, "pair"));
    case Measure::kAllReduce:
      return fmt::format("All-reduce of floats, {} ranks (us)", program.ranks);
    case Measure::kAllToAll:
      return fmt::format("All-to-all, {} ranks (us)", program.ranks);
  }
  return "";
}

std::string figure(Measure measure, double value) {
  return is_rate(measure) ? fmt::format("{:.2f}", value * kMegabytes)
                          : fmt::format("{:.2f}", value * kMicroseconds);
}

struct Column {
  const char* title;
  Memory from, to;
};
constexpr Column kColumns[] = {
    {"host", Memory::kHost, Memory::kHost},
    {"host-GPU", Memory::kHost, Memory::kGpu},
    {"host-GPU staged", Memory::kHost, Memory::kStaged},
    {"GPU", Memory::kGpu, Memory::kGpu},
    {"GPU staged", Memory::kStaged, Memory::kStaged},
};
constexpr Memory kPerfColumns[] = {Memory::kHost, Memory::kGpu, Memory::kStaged};

const Row* find(const Program& program, Measure measure, const Column& column, std::uint64_t size) {
  for (const Row& row : program.rows) {
    if (row.measure == measure && row.from == column.from && row.to == column.to &&
        row.size == size) {
      return &row;
    }
  }
  return nullptr;
}

SizeTable table_of(const Report& report, Measure measure) {
  SizeTable table{measure, title_of(measure, report.program), {}};
  std::set<std::uint64_t> sizes;
  for (const Row& row : report.program.rows) {
    if (row.measure == measure) sizes.insert(row.size);
  }
  if (sizes.empty()) return table;
  std::vector<std::string> head = {"# Size"};
  for (const Column& column : kColumns) head.emplace_back(column.title);
  for (const Memory memory : kPerfColumns)
    head.push_back(fmt::format("gdr perf {}", name_of(memory)));
  table.rows.push_back(head);
  for (const std::uint64_t size : sizes) {
    std::vector<std::string> line = {std::to_string(size)};
    for (const Column& column : kColumns) {
      const Row* row = find(report.program, measure, column, size);
      line.push_back(row == nullptr   ? ""
                     : row->wrong > 0 ? "WRONG"
                                      : figure(measure, row->median()));
    }
    for (const Memory memory : kPerfColumns) {
      const std::optional<double> value = report.baseline.find(measure, memory, size);
      line.push_back(value ? figure(measure, *value) : "");
    }
    table.rows.push_back(line);
  }
  return table;
}

// Figures at the right, without columns that are empty throughout.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    for (std::size_t k = 1; k < rows.size(); ++k) {
      widths[i] = std::max(widths[i], rows[k][i].size());
    }
    if (widths[i] > 0) widths[i] = std::max(widths[i], rows.front()[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line = text::pad(row.front(), std::max<std::size_t>(widths.front(), 10));
    for (std::size_t i = 1; i < row.size(); ++i) {
      if (widths[i] > 0)
        line += "  " + text::pad_left(row[i], std::max<std::size_t>(widths[i], 10));
    }
    text += line + "\n";
  }
  return text;
}

std::string stand_ins_of(const Report& report) {
  std::string words = report.soft_nic ? "software NIC" : "";
  if (report.soft_gpu && report.wants_gpu)
    words += words.empty() ? "software GPU" : ", software GPU";
  return words;
}

std::vector<std::pair<std::string, std::string>> facts_of(const Report& report) {
  const Program& program = report.program;
  const Baseline& baseline = report.baseline;
  std::uint64_t compared = 0;
  for (const Row& row : program.rows) compared += row.compared;
  return {{"MPI", program.short_name()},
          {"ranks", fmt::format("{} on {}", program.ranks, fmt::join(program.hosts, ", "))},
          {"GPU", program.gpus ? program.gpu_name : ""},
          {"STAND-INS", stand_ins_of(report)},
          {"command", report.command},
          {"compared", text::size_text(compared) + ", every value"},
          {"gdr perf", baseline.rows.empty()
                           ? "no figures: " + baseline.problem
                           : fmt::format("between {} and {}", baseline.near, baseline.far)}};
}

}  // namespace

std::vector<SizeTable> size_tables(const Report& report) {
  std::vector<SizeTable> tables;
  for (int i = 0; i < kMeasures; ++i) {
    SizeTable table = table_of(report, static_cast<Measure>(i));
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

std::string answer_text(const Report& report) {
  std::string text = report.verdict.headline + "\n";
  for (const std::string& reason : report.verdict.reasons) text += "  " + reason + "\n";
  return text;
}

std::string to_text(const Report& report) {
  std::string text;
  for (const auto& [name, value] : facts_of(report)) {
    if (!value.empty()) text += fmt::format("# {}: {}\n", name, printable(value));
  }
  for (const SizeTable& table : size_tables(report)) {
    text += fmt::format("\n# {}\n{}", table.title, aligned(table.rows));
  }
  return text + (text.empty() ? "" : "\n") + answer_text(report);
}

std::string to_html(const Report& report) {
  using text::escape_markup;
  const Verdict& verdict = report.verdict;
  const char* colour = verdict.kind == Verdict::Kind::kUsed ? "ok"
                       : verdict.exit_status() == 3         ? "warn"
                                                            : "fail";
  std::string page = text::page_head("gdr mpi run: " + report.program.short_name());
  page += fmt::format("<h1>gdr mpi run</h1>\n<p class=\"{}\">{}</p>\n", colour,
                      escape_markup(verdict.headline));
  for (const std::string& reason : verdict.reasons) {
    page += fmt::format("<p class=\"quiet\">{}</p>\n", escape_markup(reason));
  }
  page += "<table class=\"facts\">\n";
  page += text::page_fact("date", report.date) + text::page_fact("gdrkit", report.version);
  for (const auto& [name, value] : facts_of(report)) page += text::page_fact(name, value);
  page += "</table>\n";
  for (const SizeTable& table : size_tables(report)) {
    page += fmt::format("<h2>{}</h2>\n<div class=\"wide\"><table class=\"figures\">\n",
                        escape_markup(table.title));
    for (const std::vector<std::string>& row : table.rows) {
      const char* cell = &row == &table.rows.front() ? "th" : "td";
      page += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i) {
        bool empty = true;
        for (std::size_t k = 1; k < table.rows.size(); ++k)
          empty = empty && table.rows[k][i].empty();
        if (!empty) page += fmt::format("<{0}>{1}</{0}>", cell, escape_markup(row[i]));
      }
      page += "</tr>\n";
    }
    page += "</table></div>\n";
  }
  return page + "</body></html>\n";
}

}  // namespace gdr::mpi_run
