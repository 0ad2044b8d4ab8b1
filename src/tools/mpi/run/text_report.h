// The report for people: tables in the form that the OSU benchmarks have made known, and the
// answer; the same as a page for a ticket.
//
//   fputs(to_text(report).c_str(), stdout);
#pragma once

#include <string>
#include <vector>

#include "mpi/run/report.h"

namespace gdr::mpi_run {

// One table for each measure that has rows: the headings, then a line for each size.
struct SizeTable {
  Measure measure = Measure::kLatency;
  std::string title;  // "Latency, one way (us)"
  std::vector<std::vector<std::string>> rows;
};
std::vector<SizeTable> size_tables(const Report& report);

std::string to_text(const Report& report);
// The answer alone: the sentence, then its reasons.
std::string answer_text(const Report& report);
std::string to_html(const Report& report);

}  // namespace gdr::mpi_run
