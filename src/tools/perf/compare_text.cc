#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "perf/compare.h"
#include "perf/output/figures.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::perf {
namespace {

// Indents of wrapped lines about a file and a setting.
constexpr std::size_t kFileIndent = 7, kIndent = 6;

struct Unit {
  double size;
  const char* name;
};

Unit unit_of(Measure measure) {
  switch (measure) {
    case Measure::kLatency:
      return {1e3, "µs"};
    case Measure::kRate:
      return {1e6, "M messages/s"};
    default:
      return {1e9, "GB/s"};
  }
}

// Four significant digits, but at most five decimals.
std::string four_digits(double value) {
  const double before = value > 0 ? std::floor(std::log10(value)) + 1 : 1;
  return fmt::format("{:.{}f}", value, static_cast<int>(std::clamp(4 - before, 0.0, 5.0)));
}

std::string signed_percent(double share) {
  return fmt::format("{:+.{}f}", share * 100, std::abs(share) < 1 ? 1 : 0);
}

std::string heading(const Load& load) { return group_title(load, unit_of(load.measure).name); }

class Text {
 public:
  explicit Text(std::size_t columns) : columns_(columns) {}

  void line(std::string_view text, std::size_t indent = 0) {
    text_ += text::wrap(text, columns_, indent) + "\n";
  }
  void blank() { text_ += "\n"; }
  std::string take() { return std::move(text_); }

 private:
  std::size_t columns_;
  std::string text_;
};

void write_source(const char* which, const Source& source, Text& text) {
  text.line(fmt::format("{:<5}  {}  {}  {}", which, printable(source.file), printable(source.date),
                        printable(source.command)),
            kFileIndent);
}

void write_unlike(const std::vector<Unlike>& unlike, Text& text) {
  if (unlike.empty()) return;
  text.blank();
  text.line("These differ between the runs and may explain a change:");
  const auto shown = [](const std::string& value) {
    return value.empty() ? "not known" : printable(value);
  };
  for (const Unlike& one : unlike) {
    text.line(fmt::format("  {}  base: {}  other: {}", one.what, shown(one.base), shown(one.other)),
              kIndent);
  }
}

void write_row(const ComparedRow& row, Text& text) {
  const double unit = unit_of(row.load.measure).size;
  const Difference& found = row.difference;
  const std::string interval = fmt::format("{} to {} %", signed_percent(found.interval.low),
                                           signed_percent(found.interval.high));
  text.line(fmt::format("{:>10}{:>10}{:>10}{:>10}{:>18}{:>9}  {}", message_size(row.load.size),
                        four_digits(row.base.median / unit), four_digits(row.other.median / unit),
                        signed_percent(found.share) + " %", interval,
                        found.p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", found.p),
                        name_of(row.verdict)),
            kIndent);
  for (const std::string& remark : row.remarks) text.line("            " + remark, 12);
}

void write_rows(const std::vector<ComparedRow>& rows, Text& text) {
  std::string last;
  for (const ComparedRow& row : rows) {
    const std::string now = heading(row.load);
    if (now != last) {
      text.blank();
      text.line(now, kIndent);
      text.line(fmt::format("{:>10}{:>10}{:>10}{:>10}{:>18}{:>9}", "size", "base", "other",
                            "change", "95 % interval", "p"),
                kIndent);
      last = now;
    }
    write_row(row, text);
  }
}

void write_unmatched(const char* title, const std::vector<UnmatchedRow>& rows, Text& text) {
  if (rows.empty()) return;
  text.blank();
  text.line(title);
  for (const UnmatchedRow& row : rows) {
    text.line(fmt::format("  {}  {}: {}", heading(row.load), message_size(row.load.size),
                          printable(row.reason)),
              kIndent);
  }
}

void write_sum(const std::vector<ComparedRow>& rows, Text& text) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(rows.begin(), rows.end(),
                         [=](const ComparedRow& row) { return row.verdict == verdict; });
  };
  text.blank();
  if (rows.empty())
    return text.line("The documents have no measurement in common, so nothing was compared.");
  std::string sum =
      fmt::format("{} compared: {} better, {} worse, {} without a significant difference",
                  text::plural(rows.size(), "measurement"), count(Verdict::kBetter),
                  count(Verdict::kWorse), count(Verdict::kNoDifference));
  if (const auto noisy = count(Verdict::kNoisy))
    sum += fmt::format(", {} too noisy to tell", noisy);
  text.line(sum + ".");
}

void write_explanation(Text& text) {
  text.blank();
  text.line(
      "Change compares medians; the interval is a bootstrap, p is from the Mann-Whitney test. By "
      "chance alone about 1 measurement in 20 shows a difference. Repetitions are slices of one "
      "run: effects that vary from run to run (memory placement, other load) show only in several "
      "runs: gdr perf compare base1.json,base2.json other1.json,other2.json");
}

}  // namespace

std::string to_text(std::span<const Comparison> comparisons, std::size_t columns) {
  Text text(columns);
  if (comparisons.empty()) return text.take();
  write_source("base", comparisons.front().base, text);
  for (const Comparison& comparison : comparisons) {
    if (&comparison != &comparisons.front()) text.blank();
    write_source("other", comparison.other, text);
    write_unlike(comparison.unlike, text);
    write_rows(comparison.rows, text);
    write_unmatched("Measured in the base only, or in neither:", comparison.only_base, text);
    write_unmatched("Measured in the other only:", comparison.only_other, text);
    write_sum(comparison.rows, text);
  }
  const bool any = std::any_of(comparisons.begin(), comparisons.end(),
                               [](const Comparison& one) { return !one.rows.empty(); });
  if (any) write_explanation(text);
  return text.take();
}

}  // namespace gdr::perf
