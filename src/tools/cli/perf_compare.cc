// gdr perf compare: compares runs by their JSON documents.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "base/environment.h"
#include "cli/help.h"
#include "cli/percent.h"
#include "cli/perf_output.h"
#include "cli/this_host.h"
#include "cli/whole_io.h"
#include "perf/compare.h"
#include "perf/output/json_report.h"
#include "text/wrap.h"

namespace gdr::cli {
namespace {

// A fixed seed for the bootstrap, so that the same files give the same answer everywhere.
constexpr std::uint64_t kSeed = 1;

struct CompareOptions {
  std::vector<std::string> sides;  // each one or more files, with commas between them
  std::string fail_if_worse;
  double worse_share = 0;
  bool json = false;
};

Result<perf::Report> read_report(const std::string& name) {
  const Result<std::string> text = read_file(name);
  if (!text) {
    return Error{EINVAL,
                 text.error().message + "; 'gdr perf --report FILE.json' writes such a document"};
  }
  Result<perf::Report> report = perf::report_from_json(*text);
  if (!report) return Error{EINVAL, name + ": " + report.error().message};
  return report;
}

// "a.json,b.json": the runs of one side. A file whose name has a comma is taken as it is.
Result<std::vector<perf::Report>> read_side(const std::string& side) {
  std::vector<perf::Report> runs;
  std::vector<std::string_view> names = split(side, ',');
  if (std::ifstream(side).good()) names = {side};
  for (const std::string_view name : names) {
    Result<perf::Report> report = read_report(std::string(name));
    if (!report) return report.error();
    runs.push_back(*std::move(report));
  }
  return runs;
}

int run_compare(const CompareOptions& options) {
  std::vector<std::vector<perf::Report>> sides;
  for (const std::string& side : options.sides) {
    Result<std::vector<perf::Report>> runs = read_side(side);
    if (!runs) {
      say("gdr perf compare: " + runs.error().message);
      return kWrongUse;
    }
    sides.push_back(*std::move(runs));
  }
  std::vector<perf::Comparison> comparisons;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    comparisons.push_back(perf::compare(sides[0], sides[i], kSeed));
    comparisons.back().base.file = options.sides[0];
    comparisons.back().other.file = options.sides[i];
  }
  const std::string text = options.json
                               ? perf::to_json(comparisons, provenance())
                               : perf::to_text(comparisons, text::terminal_columns(stdout));
  std::fputs(text.c_str(), stdout);
  const bool is_worse = std::ranges::any_of(comparisons, [&](const perf::Comparison& one) {
    return perf::is_worse_by(one, options.worse_share);
  });
  return !options.fail_if_worse.empty() && is_worse ? kFailed : 0;
}

}  // namespace

void add_perf_compare(CLI::App& perf, Action& chosen) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* compare = perf.add_subcommand(
      "compare", "Compare runs: what changed, and whether the change is significant");
  compare
      ->add_option("FILE", options->sides,
                   "JSON documents of gdr perf --report FILE.json; BASE comes first. Several runs "
                   "of one side: "
                   "a.json,b.json")
      ->expected(0, 64)
      ->type_name("");
  compare
      ->add_option("--fail-if-worse", options->fail_if_worse,
                   "Exit status 1 if a measurement is shown to be worse by that much or more")
      ->type_name("PERCENT");
  compare->add_flag("--json", options->json, "Print one JSON document instead of text");
  compare->callback([options, &chosen] {
    if (!options->fail_if_worse.empty()) {
      options->worse_share = read_percent(options->fail_if_worse);
    }
    if (options->sides.size() < 2) {
      throw CLI::ValidationError(
          "two or more JSON files are needed, as in 'gdr perf compare before.json after.json'");
    }
    chosen = [options] { return run_compare(*options); };
  });
}

}  // namespace gdr::cli
