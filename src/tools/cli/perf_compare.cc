// gdr perf compare: compares runs by their JSON documents.
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

// A fixed seed for the bootstrap, so that the same files give the same answer everywhere.
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
    return Error{EINVAL, error.message + "; 'gdr perf --json FILE' writes such a document"};
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
  CLI::App* compare = perf.add_subcommand(
      "compare", "Compare runs: what changed, and whether the change is significant");
  compare->add_option("FILE", options->files, "JSON documents of gdr perf --json; BASE comes first")
      ->expected(0, 64)
      ->type_name("");
  compare->add_flag("--json", options->json, "Print one JSON document instead of text");
  compare->callback([options, &chosen] {
    if (options->files.size() < 2) {
      throw CLI::ValidationError(
          "two or more JSON files are needed, as in 'gdr perf compare before.json after.json'");
    }
    chosen = [options] { return run_compare(*options); };
  });
}

}  // namespace gdr::cli
