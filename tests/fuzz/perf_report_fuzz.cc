// A report of any bytes: it is refused with one line, or it is a report that can be written in
// every way, and its JSON is the same when it has been read and written again.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "input.h"
#include "perf/output/csv_report.h"
#include "perf/output/figures.h"
#include "perf/output/json_report.h"
#include "perf/output/text_report.h"

namespace {

using gdr::test::require;

std::string table_of(const gdr::perf::Report& report) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&buffer, &size);
  gdr::perf::TextReport table(file, {false, false, 80});
  table.on_side(report);
  for (const gdr::perf::Row& row : report.rows) table.on_row(row);
  table.on_end(report);
  std::fclose(file);
  std::string text(buffer, size);
  std::free(buffer);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // In an allocation of just its size, so that the address sanitizer sees a byte too far.
  const std::string text(reinterpret_cast<const char*>(data), size);
  const gdr::Result<gdr::perf::Report> report = gdr::perf::report_from_json(text);
  if (!report) {
    const std::string& message = report.error().message;
    require(!message.empty());
    for (const char c : message) require(static_cast<unsigned char>(c) >= 0x20);
    return 0;
  }
  const std::string written = to_json(*report);
  const gdr::Result<gdr::perf::Report> again = gdr::perf::report_from_json(written);
  require(static_cast<bool>(again));
  require(to_json(*again) == written);
  for (const char c : table_of(*report)) {
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
  require(!to_csv(*report).empty());
  return 0;
}
