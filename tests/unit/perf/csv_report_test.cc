#include "perf/output/csv_report.h"

#include <gtest/gtest.h>

#include <map>

#include "base/printable.h"
#include "sample_report.h"

namespace gdr::perf {
namespace {

// As RFC 4180 has it, written anew here.
std::vector<std::vector<std::string>> parsed(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& cell = lines.back().back();
    if (quoted) {
      if (text[i] != '"') {
        cell += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        quoted = false;
      }
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == ',') {
      lines.back().emplace_back();
    } else if (text.compare(i, 2, "\r\n") == 0) {
      ++i;
      lines.push_back({""});
    } else {
      cell += text[i];
    }
  }
  lines.pop_back();
  return lines;
}

std::vector<std::map<std::string, std::string>> rows_of(const Report& report) {
  const auto lines = parsed(to_csv(report));
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].size(), lines[0].size()) << "line " << i;
    rows.emplace_back();
    for (std::size_t j = 0; j < lines[i].size(); ++j) rows.back()[lines[0][j]] = lines[i][j];
    EXPECT_EQ(rows.back().size(), lines[0].size()) << "each name is there once";
  }
  return rows;
}

TEST(PerfCsv, IsALineARowWithUnitsInTheNames) {
  const Report report = sample_report();
  auto rows = rows_of(report);
  ASSERT_EQ(rows.size(), report.rows.size());
  EXPECT_EQ(rows[1]["size_bytes"], "1024");
  EXPECT_EQ(std::stod(rows[1]["bandwidth_median_bytes_per_second"]),
            report.rows[1].bandwidth->median);
  EXPECT_EQ(rows[1]["nearest_limit"], "link of mlx5_0 port 1");
  EXPECT_EQ(rows[1]["latency_p50_ns"], "") << "not measured";
  EXPECT_EQ(rows[1]["near_host"], "node1");
  EXPECT_EQ(rows[1]["far_gpu_is_stand_in"], "true");
  EXPECT_EQ(std::stod(rows[18]["latency_p99_99_ns"]), report.rows[18].latency->p9999);
  EXPECT_EQ(rows[18]["bandwidth_median_bytes_per_second"], "");
}

TEST(PerfCsv, HasSeveralPortsInOneCell) {
  Report report = sample_report();
  report.near.ports.push_back({"mlx5_1", "", "", 2, 0, 0, 0});
  report.rows[0].ports = {{"mlx5_0", "mlx5_0", 24e9, 1e6, 0.25},
                          {"mlx5_1:2", "mlx5_1", 8e9, 3e6, 0.75}};
  auto rows = rows_of(report);
  EXPECT_EQ(rows[0]["near_nic"], "mlx5_0; mlx5_1");
  EXPECT_EQ(rows[0]["near_port"], "1; 2");
  EXPECT_EQ(rows[0]["far_nic"], "mlx5_0");
  EXPECT_EQ(rows[0]["port_names"], "mlx5_0 to mlx5_0; mlx5_1:2 to mlx5_1");
  EXPECT_EQ(rows[0]["port_share_percent"], "25; 75");
  EXPECT_EQ(rows[1]["port_share_percent"], "");
}

TEST(PerfCsv, QuotesCommasAndQuotes) {
  Report report = sample_report();
  report.near.host = "a,\"b\" c";
  report.rows[0].problem = "plain";
  const std::string text = to_csv(report);
  EXPECT_NE(text.find(",\"a,\"\"b\"\" c\","), text.npos) << text;
  EXPECT_NE(text.find(",plain,"), text.npos);
  EXPECT_EQ(rows_of(report)[0]["near_host"], "a,\"b\" c");
}

TEST(PerfCsv, ShowsOfAServersTextOnlyWhatMovesNoCursor) {
  const Report report = report_of_hostile_server();
  auto row = rows_of(report)[0];
  for (const char* cell : {"problem", "first_wrong", "far_host", "far_nic", "far_netdev", "far_gid",
                           "far_gpus", "far_version", "nearest_limit", "remarks", "advice"}) {
    EXPECT_EQ(row[cell], kHostileShown) << cell;
  }
  EXPECT_EQ(row["port_names"], "mlx5_0 to " + std::string(kHostileShown));
  std::string cells = to_csv(report);
  for (auto at = cells.find("\r\n"); at != cells.npos; at = cells.find("\r\n")) cells.erase(at, 2);
  EXPECT_EQ(cells, printable(cells)) << "each line's own end is the only control character";
}

TEST(PerfCsv, KeepsItsColumnsWhereTheFirstIsEmpty) {
  Report report = sample_report();
  report.date.clear();
  EXPECT_EQ(rows_of(report)[0]["operation"], "write");
}

}  // namespace
}  // namespace gdr::perf
