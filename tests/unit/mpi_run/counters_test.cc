#include "mpi/run/counters.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gdr::mpi_run {
namespace {

RankCounters counters_of(const std::string& host, std::uint64_t out, std::uint64_t posted) {
  RankCounters counters;
  counters.host = host;
  counters.nics["soft0"] = {out, out / 2};
  counters.posted = posted;
  counters.posted_gpu = posted / 2;
  return counters;
}

TEST(MpiRunCounters, ComeBackFromTheirLineAsTheyWere) {
  watching::Snapshot calls;
  calls.devices.push_back({"mlx5_0", 1, {}});
  watching::Counts& all = calls.devices[0].all;
  const auto gpu = static_cast<std::size_t>(ledger::Memory::kGpu);
  all.bytes[ledger::kBytesOut][0] = 10;
  all.bytes[ledger::kBytesOut][gpu] = 20;
  all.bytes[ledger::kBytesRead][gpu] = 3;
  all.bytes[ledger::kBytesReceived][gpu] = 4;
  calls.processes.push_back({7, "gdr-mpi", 0, 100, 200, 1, 1});
  watching::Region region;
  region.memory = ledger::Memory::kGpu;
  calls.regions = {region, region};
  calls.regions[1].error = EFAULT;
  const std::string line = counters_line("node7/1", {{"mlx5_0", {5, 6}}}, calls);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Result<RankCounters> read = read_counters(nlohmann::json::parse(line));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->host, "node7/1");
  EXPECT_EQ(read->nics.at("mlx5_0").out, 5u);
  EXPECT_EQ(read->nics.at("mlx5_0").in, 6u);
  EXPECT_EQ(read->posted, 33u);
  EXPECT_EQ(read->posted_gpu, 27u);
  EXPECT_EQ(read->copied_to_host, 100u);
  EXPECT_EQ(read->copied_to_gpu, 200u);
  EXPECT_EQ(read->gpu_regions, 1u);
  EXPECT_EQ(read->gpu_refused, "Bad address");
}

TEST(MpiRunCounters, ALineThatLacksANumberIsAnError) {
  EXPECT_FALSE(read_counters(nlohmann::json::parse(R"({"host":"a","nics":{}})")));
  EXPECT_FALSE(read_counters(nlohmann::json(nullptr)));
}

TEST(MpiRunCounters, ANicOfAHostCountsOnceForAllItsRanks) {
  const Moved moved = difference({counters_of("a", 100, 1), counters_of("a", 100, 2)},
                                 {counters_of("a", 300, 11), counters_of("a", 300, 22)});
  EXPECT_EQ(moved.nics.at("soft0").out, 200u);
  EXPECT_EQ(moved.out(), 200u);
  EXPECT_EQ(moved.posted, 30u);
}

TEST(MpiRunCounters, NicsOfTheSameNameOnTwoHostsAreTwo) {
  const Moved moved = difference({counters_of("a", 0, 0), counters_of("b", 0, 0)},
                                 {counters_of("a", 5, 0), counters_of("b", 7, 0)});
  EXPECT_EQ(moved.nics.at("a: soft0").out, 5u);
  EXPECT_EQ(moved.nics.at("b: soft0").out, 7u);
  EXPECT_EQ(moved.out(), 12u);
}

TEST(MpiRunCounters, ANicThatAppearsHadCountedNothing) {
  RankCounters before = counters_of("a", 9, 0);
  before.nics.clear();
  EXPECT_EQ(difference({before}, {counters_of("a", 9, 0)}).out(), 9u);
}

}  // namespace
}  // namespace gdr::mpi_run
