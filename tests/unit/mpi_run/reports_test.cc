#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "made_report.h"
#include "mpi/run/baseline.h"
#include "mpi/run/json_report.h"
#include "mpi/run/text_report.h"
#include "mpi/run/verdict.h"

namespace gdr::mpi_run {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Report judged() {
  Report report = made_gpu_report(100 * kMiB, 100 * kMiB);
  report.program.rows[1].moved->posted_gpu = 100 * kMiB;
  report.baseline = {"soft0", "soft1", {{Measure::kBandwidth, Memory::kGpu, kMiB, 4e9}}, ""};
  report.verdict = judge(report);
  return report;
}

TEST(MpiRunReports, TextHasATableInTheFormOfOsuAndTheAnswer) {
  const std::string text = to_text(judged());
  EXPECT_THAT(
      text, HasSubstr("# Bandwidth (MB/s)\n# Size            host         GPU  GPU staged  gdr "
                      "perf gpu\n1048576        2000.00     2000.00      500.00       4000.00\n"));
  EXPECT_THAT(text, HasSubstr("at 0.50 of what the software NIC (STAND-IN) can, 4 x staging"));
  EXPECT_THAT(text, HasSubstr("# STAND-INS: software NIC"));
}

TEST(MpiRunReports, AWrongFigureIsNotShown) {
  Report report = judged();
  report.program.rows[0].wrong = 1;
  EXPECT_THAT(to_text(report), HasSubstr("1048576          WRONG"));
}

TEST(MpiRunReports, JsonHasTheAnswerAndEveryRowWithItsCounters) {
  const nlohmann::json document = nlohmann::json::parse(
      to_json(judged(), {"0.2.0", "7a19af9", "node7", "2026-11-26T08:15:00Z"}));
  EXPECT_EQ(document["schema"], "gdr.mpi.run/1");
  EXPECT_EQ(document["host"], "node7");
  EXPECT_EQ(document["verdict"], "used");
  EXPECT_EQ(document["exit_status"], 0);
  EXPECT_EQ(document["gpu_memory"], "direct");
  EXPECT_EQ(document["times_staging"], 4.0);
  ASSERT_EQ(document["rows"].size(), 3u);
  EXPECT_EQ(document["rows"][1]["gdr_perf"], 4e9);
  EXPECT_EQ(document["rows"][0]["gdr_perf"], nullptr);
  EXPECT_EQ(document["rows"][0]["counters"]["nics"][0]["bytes_out"], 100 * kMiB);
}

TEST(MpiRunReports, CsvHasAsManyCellsInEveryLine) {
  const std::string csv = to_csv(judged());
  EXPECT_THAT(csv, HasSubstr("Open MPI 4.1.4,2,1,true,false,bandwidth,1048576,gpu,gpu,"));
  std::size_t begin = 0, commas = 0;
  for (std::size_t end; (end = csv.find("\r\n", begin)) != csv.npos; begin = end + 2) {
    const auto here = std::count(csv.begin() + static_cast<std::ptrdiff_t>(begin),
                                 csv.begin() + static_cast<std::ptrdiff_t>(end), ',');
    if (commas == 0) commas = static_cast<std::size_t>(here);
    EXPECT_EQ(static_cast<std::size_t>(here), commas);
  }
  EXPECT_EQ(commas, 15u);
}

TEST(MpiRunReports, ThePageShowsNothingThatAMachineSaysAsMarkup) {
  Report report = judged();
  report.program.gpu_name = "<script>x</script>";
  const std::string page = to_html(report);
  EXPECT_THAT(page, Not(HasSubstr("<script>x")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("GPUDirect RDMA is used"));
}

TEST(MpiRunBaseline, IsBetweenTheNicsThatMovedMost) {
  Report report = made_report(100 * kMiB, 100 * kMiB);
  EXPECT_EQ(used_nics(report.program).near, "soft0");
  report.program.rows[0].moved->nics["soft1"] = {90 * kMiB, 90 * kMiB};
  EXPECT_EQ(used_nics(report.program).far, "soft1");
  report.program.rows[0].moved->nics = {{"soft0", {1000, 1000}}};
  EXPECT_EQ(used_nics(report.program).near, "");
}

TEST(MpiRunBaseline, OfTwoHostsIsBetweenTheNicsOfTheFirstTwo) {
  Report report = made_report(100 * kMiB, 0);
  report.program.hosts = {"node7", "node8"};
  report.program.rows[0].moved->nics = {{"node7/1: mlx5_0", {1, 1}},
                                        {"node7/1: mlx5_1", {100 * kMiB, 1}},
                                        {"node8/1: mlx5_3", {1, 100 * kMiB}}};
  const UsedNics used = used_nics_of_two_hosts(report.program);
  EXPECT_EQ(used.near, "mlx5_1");
  EXPECT_EQ(used.far, "mlx5_3");
  report.program.rows[0].moved->nics = {{"node7/1: mlx5_0", {9, 9}}, {"node8/1: mlx5_0", {9, 9}}};
  EXPECT_EQ(used_nics_of_two_hosts(report.program).near, "");
}

TEST(MpiRunBaseline, ComesBackFromItsLineAsItWas) {
  const Baseline baseline{"a", "b", {{Measure::kBidirectional, Memory::kStaged, 4096, 1.5e9}}, ""};
  const Result<Baseline> read = read_baseline("[0]: " + baseline_line(baseline));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->near, "a");
  EXPECT_EQ(read->far, "b");
  EXPECT_EQ(read->find(Measure::kBidirectional, Memory::kStaged, 4096), 1.5e9);
  EXPECT_FALSE(read_baseline("{\"gdr_perf\":1}"));
  EXPECT_FALSE(read_baseline("srun: error"));
}

}  // namespace
}  // namespace gdr::mpi_run
