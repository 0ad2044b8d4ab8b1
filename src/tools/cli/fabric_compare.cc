// gdr fabric compare: what changed between two runs.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/printable.h"
#include "cli/fabric_commands.h"
#include "cli/help.h"
#include "cli/percent.h"
#include "cli/this_host.h"
#include "cli/whole_io.h"
#include "fabric/compare.h"
#include "fabric/output/json_lines.h"
#include "fabric/output/json_report.h"
#include "text/wrap.h"

namespace gdr::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> files;
  std::string fail_if_worse;
  double worse_share = 0;
  bool json = false;
};

Result<fabric::Report> read_report(const std::string& name) {
  const Result<std::string> text = read_file(name);
  if (!text) {
    return Error{EINVAL,
                 text.error().message + "; 'gdr fabric --report FILE.json' writes such a document"};
  }
  Result<fabric::Report> report = fabric::is_json_lines(*text)
                                      ? fabric::report_from_json_lines(*text)
                                      : fabric::report_from_json(*text);
  if (!report) return Error{EINVAL, name + ": " + report.error().message};
  return report;
}

int run_compare(const CompareOptions& options) {
  std::vector<fabric::Report> reports;
  for (const std::string& file : options.files) {
    Result<fabric::Report> report = read_report(file);
    if (!report) {
      say("gdr fabric compare: " + printable(report.error().message));
      return kWrongUse;
    }
    reports.push_back(*std::move(report));
  }
  fabric::Comparison comparison = fabric::compare(reports[0], reports[1]);
  comparison.base.file = options.files[0];
  comparison.other.file = options.files[1];
  const std::string text = options.json
                               ? fabric::to_json(comparison, provenance())
                               : fabric::to_text(comparison, text::terminal_columns(stdout));
  std::fputs(text.c_str(), stdout);
  const bool is_worse = fabric::is_worse_by(comparison, options.worse_share);
  return !options.fail_if_worse.empty() && is_worse ? kFailed : 0;
}

}  // namespace

void add_fabric_compare(CLI::App& fabric, Action& chosen) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* compare = fabric.add_subcommand(
      "compare", "Compare two runs: hosts, findings and speeds that changed by more than noise");
  compare
      ->add_option(
          "FILE", options->files,
          "Documents of gdr fabric --report FILE.json or --lines FILE; the older one first")
      ->expected(0, 2)
      ->type_name("");
  compare
      ->add_option("--fail-if-worse", options->fail_if_worse,
                   "Exit status 1 if a speed is worse by that much or more, or there is a new "
                   "finding")
      ->type_name("PERCENT");
  compare->add_flag("--json", options->json, "Print one JSON document instead of text");
  compare->callback([options, &chosen] {
    if (!options->fail_if_worse.empty()) {
      options->worse_share = read_percent(options->fail_if_worse);
    }
    if (options->files.size() != 2) {
      throw CLI::ValidationError(
          "two files are needed, as in 'gdr fabric compare last-month.json today.json'");
    }
    chosen = [options] { return run_compare(*options); };
  });
}

}  // namespace gdr::cli
