#include "cli/perf_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/output_file.h"
#include "perf/output/csv_report.h"
#include "perf/output/html_page.h"
#include "perf/output/json_report.h"
#include "perf/output/progress.h"
#include "perf/output/text_report.h"

namespace gdr::cli {
namespace {

constexpr const char* kStandardOutput = "-";

Result<void> write_document(const std::string& name, const std::string& text) {
  if (name == kStandardOutput) {
    fmt::print("{}", text);
    if (fflush(stdout) != 0) return from_errno("standard output");
    return {};
  }
  return write_output(name, text);
}

}  // namespace

void add_output_options(CLI::App& perf, PerfOutput& output) {
  const auto add = [&](const char* name, std::string& file, const char* help) {
    perf.add_option(name, file, help)->type_name("FILE");
  };
  add("--json", output.json, "Also write one JSON document; - is standard output");
  add("--csv", output.csv, "Also write one CSV line per row; - is standard output");
  add("--html", output.html, "Also write a self-contained page with curves");
}

Result<void> check_outputs(const PerfOutput& output) {
  const std::string* const files[] = {&output.json, &output.csv, &output.html};
  if (std::count_if(std::begin(files), std::end(files),
                    [](const std::string* file) { return *file == kStandardOutput; }) > 1) {
    return Error{EINVAL, "two documents on standard output; give one of them a file"};
  }
  for (const std::string* file : files) {
    if (file->empty() || *file == kStandardOutput) continue;
    if (const Result<void> writable = check_output(*file); !writable) {
      return Error{EINVAL, writable.error().message};
    }
  }
  return {};
}

Result<void> write_outputs(const PerfOutput& output, const perf::Report& report) {
  for (const auto& [file, write] :
       {std::pair(&output.json, &perf::to_json), std::pair(&output.csv, &perf::to_csv),
        std::pair(&output.html, &perf::to_html)}) {
    if (file->empty()) continue;
    if (Result<void> written = write_document(*file, write(report)); !written) return written;
  }
  return {};
}

int exit_status(const perf::Report& report) {
  const bool all_well = !report.interrupted && !report.rows.empty() &&
                        std::all_of(report.rows.begin(), report.rows.end(), [](auto& row) {
                          return row.problem.empty() && (!row.checked || row.checked->wrong == 0) &&
                                 (row.lost == 0 || row.lost < row.messages);
                        });
  return all_well ? 0 : 1;
}

ShownRun::ShownRun(const PerfOutput& output) {
  listeners_.push_back(std::make_unique<perf::Progress>(stderr, text::Style::of(stderr)));
  if (output.json != kStandardOutput && output.csv != kStandardOutput) {
    listeners_.push_back(std::make_unique<perf::TextReport>(stdout, text::Style::of(stdout)));
  }
  std::vector<perf::Listener*> all;
  for (const auto& listener : listeners_) all.push_back(listener.get());
  all_ = std::make_unique<perf::Listeners>(std::move(all));
}

}  // namespace gdr::cli
