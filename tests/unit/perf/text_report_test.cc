#include "perf/output/text_report.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "perf/output/progress.h"
#include "sample_report.h"
#include "text/wrap.h"

namespace gdr::perf {
namespace {

std::string text_of(const Report& report, text::Style style) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&buffer, &size);
  TextReport table(file, style);
  table.on_side(report);
  for (const Row& row : report.rows) table.on_row(row);
  table.on_end(report);
  std::fclose(file);
  std::string written(buffer, size);
  free(buffer);
  return written;
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    most = std::max(most, text::screen_width(line));
  }
  return most;
}

text::Style columns(std::size_t count) { return {false, false, count}; }

// With GDR_PERF_WRITE_GOLDEN=1 in the environment it writes what it would compare.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(GDR_GOLDEN_DIR) + "/" + name;
  if (getenv("GDR_PERF_WRITE_GOLDEN")) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

TEST(PerfTable, OfEightyColumnsIsAsAgreed) {
  const std::string text = text_of(sample_report(), columns(80));
  expect_golden("table_80.txt", text);
  EXPECT_LE(widest(text), 80u);
}

TEST(PerfTable, OfHundredAndTwentyColumnsIsAsAgreed) {
  const std::string text = text_of(sample_report(), columns(120));
  expect_golden("table_120.txt", text);
  EXPECT_LE(widest(text), 120u);
}

TEST(PerfTable, LeavesRoomBeforeASpreadOfManyDigits) {
  for (const auto& [spread, said] : {std::pair(9.99, "   999 %"), std::pair(1234.0, "  >999 %")}) {
    Report report = sample_report();
    report.rows.resize(1);
    ASSERT_TRUE(report.rows[0].bandwidth);
    report.rows[0].bandwidth->spread = spread;
    const std::string text = text_of(report, {});
    EXPECT_NE(text.find(said), std::string::npos) << text;
  }
}

TEST(PerfTable, InAPipeKeepsALineARowAndHasNoColours) {
  const std::string text = text_of(sample_report(), {});
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_NE(
      text.find("  1 MiB  locked-memory limit too low: 2 MiB were needed, 64 KiB are allowed; "
                "type: ulimit -l unlimited\n"),
      text.npos)
      << text;
}

TEST(PerfTable, OnATerminalPaintsWhatIsWrongRed) {
  const std::string text = text_of(sample_report(), {true, false, 80});
  EXPECT_NE(text.find("\x1b[31m  WRONG\x1b[0m"), text.npos) << text;
}

TEST(PerfTable, LabelsAStandInAtItsSideAndAtTheEnd) {
  Report report = sample_report();
  EXPECT_NE(text_of(report, {}).find("STAND-IN: GPU\n"), std::string::npos);
  report.near.soft_nic = report.near.soft_gpu = true;
  const std::string text = text_of(report, {});
  EXPECT_NE(text.find("STAND-IN: NIC and GPU\n"), text.npos) << text;
  EXPECT_NE(text.find("measured on STAND-INs, not on real hardware\n"), text.npos);
  report.near.soft_nic = report.near.soft_gpu = report.far.soft_gpu = false;
  EXPECT_EQ(text_of(report, {}).find("STAND-IN"), text.npos) << "of real hardware it says nothing";
}

TEST(PerfTable, LetsNoNameMoveTheCursorOrBeginALine) {
  Report report = sample_report();
  report.far.host =
      "node2\x1b[2J\nrow\xc2\x9b"
      "1m\xff";
  report.rows[0].remarks = {"a\rb"};
  const std::string text = text_of(report, {});
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_EQ(text.find('\r'), text.npos);
  EXPECT_NE(text.find("node2 [2J row 1m?"), text.npos) << text;
}

TEST(PerfTable, HasALineForEachOfSeveralPortsAndSaysWhatEachHad) {
  Report report = sample_report();
  report.near.ports.push_back({"mlx5_1", "", "", 2, 0, 4096, 0});
  report.rows[0].ports = {{"mlx5_0", "mlx5_0", 24.1e9, 1e6, 0.6},
                          {"mlx5_1:2", "mlx5_1", 16e9, 2e6, 0.4}};
  const std::string text = text_of(report, {});
  EXPECT_NE(text.find("  client  node1\n          mlx5_0 port 1  netdev eth0"), text.npos) << text;
  EXPECT_NE(text.find("\n          mlx5_1 port 2  path MTU 4096 B\n          GPU 0: NVIDIA"),
            text.npos)
      << text;
  EXPECT_NE(
      text.find("\n            mlx5_0 24.1 GB/s (60 %), mlx5_1:2 with mlx5_1 16.0 GB/s (40 %)\n"),
      text.npos)
      << text;
}

TEST(PerfTable, SaysThatItWasInterrupted) {
  Report report = sample_report();
  report.interrupted = true;
  EXPECT_NE(
      text_of(report, {})
          .find(
              "\nInterrupted: 38 measurements in 62.5 s; peak bandwidth 48.8 GB/s (write 4 MiB, "),
      std::string::npos)
      << text_of(report, {});
}

TEST(PerfTable, OfNothingMeasuredHasAHeadAndASummary) {
  Report report = sample_report();
  report.rows.clear();
  const std::string text = text_of(report, {});
  EXPECT_NE(text.find("From node1 (client) to node2 (server)\n"), text.npos);
  EXPECT_NE(text.find("\n0 measurements in 62.5 s; measured on STAND-INs"), text.npos) << text;
}

}  // namespace
}  // namespace gdr::perf
