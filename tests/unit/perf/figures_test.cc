#include "perf/output/figures.h"

#include <gtest/gtest.h>

#include "sample_report.h"

namespace gdr::perf {
namespace {

TEST(SpreadText, EndsWhereASpreadSaysNothingMore) {
  EXPECT_EQ(spread_text(0.016), "1.6 %");
  EXPECT_EQ(spread_text(9.99), "999 %");
  EXPECT_EQ(spread_text(438.86), ">999 %");
}

TEST(PerfFigures, HaveThreeDigitsThatCount) {
  EXPECT_EQ(digits(0), "0");
  EXPECT_EQ(digits(0.0012345), "0.00123");
  EXPECT_EQ(digits(0.99951), "1.00");
  EXPECT_EQ(digits(9.996), "10.0");
  EXPECT_EQ(digits(99.94), "99.9");
  EXPECT_EQ(digits(99.96), "100");
  EXPECT_EQ(digits(1234.5), "1234");
  EXPECT_EQ(digits(-1.5), "-1.50");
}

TEST(PerfFigures, OfASizeAreExactInTheLargestUnit) {
  EXPECT_EQ(message_size(0), "0 B");
  EXPECT_EQ(message_size(1500), "1500 B");
  EXPECT_EQ(message_size(4096), "4 KiB");
  EXPECT_EQ(message_size(3 << 20), "3 MiB");
  EXPECT_EQ(message_size(1ull << 43), "8192 GiB");
}

TEST(PerfFigures, OfRatesAreInPowersOfTen) {
  EXPECT_EQ(gigabytes(12.345e9), "12.3 GB/s");
  EXPECT_EQ(megamessages(8.2e6), "8.20 M/s");
  EXPECT_EQ(microseconds(1234), "1.23 µs");
  EXPECT_EQ(percent(0.0123), "1.2 %");
  EXPECT_EQ(percent(0.984), "98 %");
}

TEST(PerfGroups, AreTitledByEverythingThatIsNotAsUsual) {
  Load load;
  load.operation = Operation::kRead;
  load.far = {Place::Kind::kGpu, 1};
  EXPECT_EQ(group_title(load), "read, RC, bandwidth: host ← gpu:1");
  load.way = Way::kDmaBuf;
  load.rdma_cm = load.both_ways = load.shared_receives = load.events = load.check =
      load.huge_pages = true;
  load.ports = 2;
  load.queue_pairs = load.threads = load.depth = load.batch = load.signal_every = 8;
  load.inline_bytes = 32;
  load.path_mtu = 1024;
  load.service_level = 3;
  load.traffic_class = 106;
  EXPECT_EQ(group_title(load),
            "read, RC, bandwidth: host ↔ gpu:1, dma-buf, both directions, shared receive queue, "
            "events, every byte checked, huge pages, by rdma_cm, 2 ports, 8 queue pairs, 8 "
            "threads, depth 8, batches of 8, a completion every 8, inline to 32 B, path MTU 1024 "
            "B, service level 3, traffic class 106");
}

TEST(PerfGroups, DifferInAnythingButTheSize) {
  Load a, b;
  b.size = 4096;
  EXPECT_TRUE(is_same_group(a, b));
  b.depth = 1;
  EXPECT_FALSE(is_same_group(a, b));
}

TEST(PerfLimits, TheNearestIsTheOneOfWhichMostIsReached) {
  Row row;
  EXPECT_EQ(nearest_limit(row), nullptr);
  row.limits = {
      {"link", 50e9, 0.5, "", ""}, {"PCIe", 30e9, 0.8, "", ""}, {"unknown", 0, 9, "", ""}};
  EXPECT_EQ(nearest_limit(row)->what, "PCIe");
}

TEST(PerfLimits, WhatTheRowIsFasterThanWasNotItsLimit) {
  Row row;
  row.limits = {{"memcpy", 1e9, 32.8, "", ""}};
  EXPECT_EQ(nearest_limit(row), nullptr);
  row.limits.push_back({"link", 50e9, 0.66, "", ""});
  EXPECT_EQ(nearest_limit(row)->what, "link");
  row.limits[1].share = 1.01;
  EXPECT_EQ(nearest_limit(row)->what, "link") << "both figures have their noise";
}

TEST(PerfGains, PairDirectWithStagedOfTheSameGpuSizeAndSettings) {
  const Report report = sample_report();
  const std::vector<Gain> found = gains(report.rows);
  ASSERT_EQ(found.size(), 10u);
  EXPECT_EQ(found[0].direct->load.far, (Place{Place::Kind::kGpu, 0}));
  EXPECT_EQ(found[0].staged->load.far, (Place{Place::Kind::kStaged, 0}));
  EXPECT_EQ(found[0].direct->load.size, found[0].staged->load.size);
  EXPECT_NEAR(found[0].factor, 46.1 / 11.7, 1e-9);
  EXPECT_GT(found[6].factor, 1) << "of latencies the smaller one is faster";
  std::vector<Row> rows = {*found[0].direct, *found[0].staged};
  rows[0].load.depth = 7;
  EXPECT_TRUE(gains(rows).empty()) << "other settings";
  rows[0].load.depth = rows[1].load.depth;
  rows[0].load.far.gpu = 1;
  EXPECT_TRUE(gains(rows).empty()) << "another GPU";
  rows[0].load.far = {};
  EXPECT_TRUE(gains(rows).empty()) << "host memory is no direct way to a GPU";
  rows[0].load.far = {Place::Kind::kGpuVmm, 0};
  EXPECT_EQ(gains(rows).size(), 1u);
  rows[0].bandwidth.reset();
  EXPECT_TRUE(gains(rows).empty()) << "no figure";
}

}  // namespace
}  // namespace gdr::perf
