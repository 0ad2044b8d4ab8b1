#include "cli/perf_output.h"

#include <algorithm>
#include <cstdio>

#include "cli/this_host.h"
#include "perf/output/csv_report.h"
#include "perf/output/html_page.h"
#include "perf/output/json_report.h"
#include "perf/output/progress.h"
#include "perf/output/text_report.h"

namespace gdr::cli {

void add_output_options(CLI::App& perf, PerfOutput& output) {
  perf.add_flag("--json", output.json, "Print one JSON document instead of text");
  output.files.add_to(perf, ".json; .csv, a line per row; .html, a page with curves");
}

Result<void> check_outputs(const PerfOutput& output) {
  const Result<void> writable = output.files.check();
  return writable ? writable : Error{EINVAL, writable.error().message};
}

Result<void> write_outputs(const PerfOutput& output, const perf::Report& report) {
  if (output.json) std::fputs(perf::to_json(report, provenance()).c_str(), stdout);
  return output.files.write([&](std::string_view ending) {
    if (ending == ".csv") return perf::to_csv(report);
    return ending == ".html" ? perf::to_html(report, provenance())
                             : perf::to_json(report, provenance());
  });
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
  if (!output.json) {
    listeners_.push_back(std::make_unique<perf::TextReport>(stdout, text::Style::of(stdout)));
  }
  std::vector<perf::Listener*> all;
  for (const auto& listener : listeners_) all.push_back(listener.get());
  all_ = std::make_unique<perf::Listeners>(std::move(all));
}

}  // namespace gdr::cli
