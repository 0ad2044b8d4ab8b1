// Prints the page of a made-up report: perf_sample_page [rich|evil|one|empty].
#include <cstdio>
#include <string>

#include "perf/output/html_page.h"
#include "sample_report.h"

namespace {

using gdr::perf::Report;

Report chosen(const std::string& kind) {
  Report report = gdr::perf::sample_report();
  if (kind == "evil") {
    report.near.host = report.command = report.rows[0].limits[0].what = gdr::perf::kEvilName;
    report.rows[0].remarks = {gdr::perf::kEvilName};
  } else if (kind == "one") {
    report.rows.resize(1);
  } else if (kind == "empty") {
    report.rows.clear();
  }
  return report;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string page = gdr::perf::to_html(chosen(argc > 1 ? argv[1] : "rich"));
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}
