// Where the results of `gdr perf` go: a table for people, and files.
//
//   PerfOutput output;
//   add_output_options(perf, output);
//   ShownRun shown(output);
//   perf::run(options, shown.listener(), interrupted);
//   write_outputs(output, report);
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/report_files.h"
#include "cli/subcommands.h"
#include "perf/output/listener.h"

namespace gdr::cli {

struct PerfOutput {
  bool json = false;  // on standard output, in place of the table
  ReportFiles files{{".json", ".csv", ".html"}};
};

void add_output_options(CLI::App& perf, PerfOutput& output);
// Before anything is measured: whether the files can be written.
Result<void> check_outputs(const PerfOutput& output);
Result<void> write_outputs(const PerfOutput& output, const perf::Report& report);
// 1: something was not measured, all of it was lost, or a byte was wrong.
int exit_status(const perf::Report& report);

// The table while the run goes on, and a line that says what is measured now.
class ShownRun {
 public:
  explicit ShownRun(const PerfOutput& output);
  perf::Listener& listener() { return *all_; }

 private:
  std::vector<std::unique_ptr<perf::Listener>> listeners_;
  std::unique_ptr<perf::Listener> all_;
};

// `gdr perf compare A.json B.json ...`
void add_perf_compare(CLI::App& perf, Action& chosen);

}  // namespace gdr::cli
