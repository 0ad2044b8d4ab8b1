// `gdr perf compare`: two or more runs beside each other, from their JSON documents.
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "cli/help.h"
#include "cli/perf_output.h"
#include "perf/compare.h"
#include "perf/output/json_report.h"
#include "text/wrap.h"

namespace gdr::cli {
namespace {

// Of the intervals: the same files give the same answer everywhere.
constexpr std::uint64_t kSeed = 1;

struct CompareOptions {
  std::vector<std::string> files;
  bool json = false;
};

Result<perf::Report> read_report(const std::string& name) {
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) {
    const Error error = from_errno(name);
    return Error{EINVAL, error.message + "; gdr perf --json FILE writes one"};
  }
  Result<perf::Report> report = perf::report_from_json(text.str());
  if (!report) return Error{EINVAL, name + ": " + report.error().message};
  return report;
}

int run_compare(const CompareOptions& options) {
  std::vector<perf::Report> reports;
  for (const std::string& name : options.files) {
    Result<perf::Report> report = read_report(name);
    if (!report) {
      say("gdr perf compare: " + report.error().message);
      return kWrongUse;
    }
    reports.push_back(*std::move(report));
  }
  std::vector<perf::Comparison> comparisons;
  for (std::size_t i = 1; i < reports.size(); ++i) {
    comparisons.push_back(perf::compare(reports[0], reports[i], kSeed));
    comparisons.back().base.file = options.files[0];
    comparisons.back().other.file = options.files[i];
  }
  fmt::print("{}", options.json ? perf::to_json(comparisons)
                                : perf::to_text(comparisons, text::terminal_columns(stdout)));
  return 0;
}

}  // namespace

void add_perf_compare(CLI::App& perf, Action& chosen) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* compare =
      perf.add_subcommand("compare", "What has changed from one run to others, and how sure it is");
  compare->add_option("files", options->files, "JSON documents; the first one is the base")
      ->required()
      ->expected(2, 64)
      ->type_name("FILE");
  compare->add_flag("--json", options->json, "One JSON document instead of text");
  compare->callback([options, &chosen] { chosen = [options] { return run_compare(*options); }; });
}

}  // namespace gdr::cli
