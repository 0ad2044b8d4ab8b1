#include "perf/compare.h"

#include <gtest/gtest.h>

#include <limits>

#include "reports.h"

namespace gdr::perf {
namespace {

constexpr std::uint64_t kSeed = 1;

Comparison compare_one(const Row& base, const Row& other) {
  return compare(report_of({base}), report_of({other}), kSeed);
}

Verdict verdict_of(Measure measure, double base, double other) {
  const Load load = load_of(measure, 64);
  const Comparison found = compare_one(row_of(load, around(base)), row_of(load, around(other)));
  EXPECT_EQ(found.rows.size(), 1u);
  return found.rows.empty() ? Verdict::kNoDifference : found.rows[0].verdict;
}

TEST(Compare, TakesMoreBytesAndMessagesForBetterAndMoreTimeForWorse) {
  EXPECT_EQ(verdict_of(Measure::kBandwidth, 10e9, 11e9), Verdict::kBetter);
  EXPECT_EQ(verdict_of(Measure::kBandwidth, 11e9, 10e9), Verdict::kWorse);
  EXPECT_EQ(verdict_of(Measure::kRate, 10e6, 11e6), Verdict::kBetter);
  EXPECT_EQ(verdict_of(Measure::kLatency, 1000, 1100), Verdict::kWorse);
  EXPECT_EQ(verdict_of(Measure::kLatency, 1100, 1000), Verdict::kBetter);
}

TEST(Compare, ShowsNoDifferenceWithinTheNoise) {
  EXPECT_EQ(verdict_of(Measure::kBandwidth, 10e9, 10e9), Verdict::kNoDifference);
  EXPECT_EQ(verdict_of(Measure::kLatency, 1000, 1000.3), Verdict::kNoDifference);
}

TEST(Compare, HasBothFiguresAndTheDifferenceOfEachRow) {
  const Load load = load_of(Measure::kBandwidth, 4096);
  const Comparison found = compare_one(row_of(load, around(10e9)), row_of(load, around(12e9)));
  ASSERT_EQ(found.rows.size(), 1u);
  const ComparedRow& row = found.rows[0];
  EXPECT_EQ(row.load.size, 4096u);
  EXPECT_DOUBLE_EQ(row.base.median, 10e9);
  EXPECT_DOUBLE_EQ(row.other.median, 12e9);
  EXPECT_NEAR(row.difference.share, 0.2, 1e-9);
  EXPECT_LT(row.difference.interval.low, 0.2);
  EXPECT_GT(row.difference.interval.high, 0.2);
  EXPECT_NEAR(row.difference.p, 2.0 / 3432, 1e-9);
  EXPECT_TRUE(row.remarks.empty());
}

TEST(Compare, MatchesNoRowsOfWhichAnySettingDiffers) {
  const Load load = load_of(Measure::kBandwidth, 64);
  const auto matched = [&](const auto& change) {
    Load changed = load;
    change(changed);
    return compare_one(row_of(load, around(1)), row_of(changed, around(1))).rows.size();
  };
  EXPECT_EQ(matched([](Load&) {}), 1u);
  EXPECT_EQ(matched([](Load& l) { l.size = 65; }), 0u);
  EXPECT_EQ(matched([](Load& l) { l.operation = Operation::kRead; }), 0u);
  EXPECT_EQ(matched([](Load& l) { l.transport = Transport::kUc; }), 0u);
  EXPECT_EQ(matched([](Load& l) { l.measure = Measure::kRate; }), 0u);
  EXPECT_EQ(matched([](Load& l) { l.far = {Place::Kind::kGpu, 1}; }), 0u);
  EXPECT_EQ(matched([](Load& l) { l.check = true; }), 0u);
  EXPECT_EQ(matched([](Load& l) { l.depth = 127; }), 0u);
  EXPECT_EQ(matched([](Load& l) { l.traffic_class = 1; }), 0u);
}

TEST(Compare, ListsRowsThatOnlyOneReportHas) {
  const Row first = row_of(load_of(Measure::kBandwidth, 64), around(1));
  const Row second = row_of(load_of(Measure::kBandwidth, 128), around(1));
  const Row third = row_of(load_of(Measure::kBandwidth, 256), around(1));
  const Comparison found = compare(report_of({first, second}), report_of({third, second}), kSeed);
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].load.size, 128u);
  ASSERT_EQ(found.only_base.size(), 1u);
  EXPECT_EQ(found.only_base[0].load.size, 64u);
  ASSERT_EQ(found.only_other.size(), 1u);
  EXPECT_EQ(found.only_other[0].load.size, 256u);
}

TEST(Compare, MatchesLoadsThatOccurTwiceInTheirOrder) {
  const Load load = load_of(Measure::kBandwidth, 64);
  const Row slow = row_of(load, around(1)), fast = row_of(load, around(2));
  const Comparison found = compare(report_of({slow, fast}), report_of({slow, fast, fast}), kSeed);
  ASSERT_EQ(found.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(found.rows[0].other.median, 1);
  EXPECT_DOUBLE_EQ(found.rows[1].other.median, 2);
  EXPECT_TRUE(found.only_base.empty());
  EXPECT_EQ(found.only_other.size(), 1u);
}

TEST(Compare, SaysWhyARowWithoutAFigureIsNotCompared) {
  const Load load = load_of(Measure::kBandwidth, 64);
  Row failed;
  failed.load = load;
  failed.problem = "the NIC has no XRC";
  const Row good = row_of(load, around(1));

  const Comparison without_other = compare_one(good, failed);
  ASSERT_EQ(without_other.only_base.size(), 1u);
  EXPECT_EQ(without_other.only_base[0].reason, "in the other: the NIC has no XRC");
  EXPECT_TRUE(without_other.only_other.empty());

  const Comparison without_base = compare_one(failed, good);
  EXPECT_TRUE(without_base.only_base.empty());
  ASSERT_EQ(without_base.only_other.size(), 1u);
  EXPECT_EQ(without_base.only_other[0].reason, "in the base: the NIC has no XRC");

  EXPECT_EQ(compare_one(failed, failed).only_base.size(), 1u);
  EXPECT_TRUE(compare_one(failed, failed).only_other.empty());
}

TEST(Compare, TakesNoFigureForOneThatIsNotAboveZero) {
  const Load load = load_of(Measure::kLatency, 64);
  const Row good = row_of(load, around(1000));
  for (const std::vector<double>& bad : {std::vector<double>{}, {0}, {-1, -2, -3}, {1, 0, 1}}) {
    const Comparison found = compare_one(good, row_of(load, bad));
    EXPECT_TRUE(found.rows.empty());
    EXPECT_EQ(found.only_base.size(), 1u);
  }
  Row infinite = good;
  infinite.latency->median.repetitions = {std::numeric_limits<double>::infinity()};
  infinite.latency->median.median = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(compare_one(infinite, good).only_other.size(), 1u);
}

TEST(Compare, TrustsTheRepetitionsAndNotTheMedianBesideThem) {
  const Load load = load_of(Measure::kBandwidth, 64);
  Row row = row_of(load, around(10e9));
  row.bandwidth->median = 1;
  EXPECT_DOUBLE_EQ(compare_one(row, row).rows.at(0).base.median, 10e9);
  row.bandwidth->repetitions.clear();
  EXPECT_DOUBLE_EQ(compare_one(row, row).rows.at(0).base.median, 1);
}

TEST(Compare, RemarksOnTooFewRepetitionsNoiseAndBadMessages) {
  const Load load = load_of(Measure::kBandwidth, 64);
  Row noisy = row_of(load, {50, 100, 150});
  noisy.lost = 4;
  noisy.checked.emplace().wrong = 2;
  const Comparison found = compare_one(row_of(load, {100, 100.1, 100.2}), noisy);
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].remarks,
            (std::vector<std::string>{"3 and 3 repetitions are too few to show a difference",
                                      "other: noisy: ±40 % between repetitions",
                                      "other: 4 messages lost", "other: 2 messages wrong"}));
}

TEST(Unlike, IsEmptyForTheSameMachine) {
  EXPECT_TRUE(compare(report_of({}), report_of({}), kSeed).unlike.empty());
}

TEST(Unlike, NamesEachOfMachineAndSettingsThatDiffers) {
  const auto told = [](const auto& change) {
    Report other = report_of({});
    change(other.near);
    other.far = other.near;
    const Comparison found = compare(report_of({}), other, kSeed);
    return found.unlike.size() == 1 ? found.unlike[0].what : "not one";
  };
  EXPECT_EQ(told([](Side& side) { side.host = "beta"; }), "host");
  EXPECT_EQ(told([](Side& side) { side.kernel = "6.2.0"; }), "kernel");
  EXPECT_EQ(told([](Side& side) { side.processor = "older"; }), "processor");
  EXPECT_EQ(told([](Side& side) { side.version = "0.2.0"; }), "gdrkit");
  EXPECT_EQ(told([](Side& side) { side.ports[0].nic = "mlx5_1"; }), "NIC");
  EXPECT_EQ(told([](Side& side) { side.ports[0].netdev = "eth7"; }), "network device");
  EXPECT_EQ(told([](Side& side) { side.ports[0].number = 2; }), "port");
  EXPECT_EQ(told([](Side& side) { side.ports[0].gid_index = 3; }), "GID index");
  EXPECT_EQ(told([](Side& side) { side.ports[0].path_mtu = 1024; }), "path MTU");
  EXPECT_EQ(told([](Side& side) { side.ports[0].link_bits_per_second = 1e9; }), "link");
  EXPECT_EQ(told([](Side& side) { side.library = "/x.so"; }), "libibverbs");
  EXPECT_EQ(told([](Side& side) { side.gpus = {"GPU 0"}; }), "GPUs");
  EXPECT_EQ(told([](Side& side) { side.soft_nic = true; }), "software NIC");
  EXPECT_EQ(told([](Side& side) { side.soft_gpu = true; }), "software GPU");
}

TEST(Unlike, TellsClientAndServerApartWhereTheyAreNotTheSame) {
  Report base = report_of({}), other = report_of({});
  other.far.host = "beta";
  other.loopback = false;
  const Comparison found = compare(base, other, kSeed);
  ASSERT_EQ(found.unlike.size(), 2u);
  EXPECT_EQ(found.unlike[0].what, "path");
  EXPECT_EQ(found.unlike[0].other, "client and server");
  EXPECT_EQ(found.unlike[1].what, "server's host");
  EXPECT_EQ(found.unlike[1].base, "alpha");
  EXPECT_EQ(found.unlike[1].other, "beta");
}

TEST(Unlike, NamesAClockThatDriftedAndOneThatIsNotTheCounter) {
  Report other = report_of({});
  other.clock.drift = 0.0005;
  EXPECT_TRUE(compare(report_of({}), other, kSeed).unlike.empty());
  other.clock.drift = -0.005;
  EXPECT_EQ(compare(report_of({}), other, kSeed).unlike.at(0).what, "clock");
  other.clock = {};
  EXPECT_EQ(compare(report_of({}), other, kSeed).unlike.at(0).other, "the system clock");
}

TEST(Compare, GivesNoVerdictOfANoisyRow) {
  const Load load = load_of(Measure::kBandwidth, 64);
  const std::vector<double> noisy = {100, 130, 70, 120, 80, 110, 90, 125, 75, 100};
  const Comparison found = compare_one(row_of(load, around(1000)), row_of(load, noisy));
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].verdict, Verdict::kNoisy);
  EXPECT_FALSE(is_worse_by(found, 0.01));
}

TEST(Compare, IsWorseByWhatWasAskedForAndMoreAlone) {
  const Load load = load_of(Measure::kBandwidth, 64);
  const Comparison found = compare_one(row_of(load, around(10e9)), row_of(load, around(9e9)));
  EXPECT_TRUE(is_worse_by(found, 0.05));
  EXPECT_FALSE(is_worse_by(found, 0.2));
  const Comparison better = compare_one(row_of(load, around(9e9)), row_of(load, around(10e9)));
  EXPECT_FALSE(is_worse_by(better, 0.05));
}

TEST(Compare, CountsTheRepetitionsOfAllRunsOfASideTogether) {
  const Load load = load_of(Measure::kBandwidth, 64);
  const std::vector<Report> base = {report_of({row_of(load, {100, 101, 102})}),
                                    report_of({row_of(load, {100.5, 101.5, 102.5})})};
  const std::vector<Report> other = {report_of({row_of(load, {110, 111, 112})}),
                                     report_of({row_of(load, {110.5, 111.5, 112.5})})};
  const Comparison found = compare(base, other, kSeed);
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].base.repetitions.size(), 6u);
  EXPECT_EQ(found.rows[0].verdict, Verdict::kBetter) << "three alone show nothing";
  EXPECT_EQ(found.other.command, other[0].command + " (and 1 more)");
}

TEST(Compare, NamesInWhichSettingsTheRunsOfASideDiffer) {
  const Load load = load_of(Measure::kBandwidth, 64);
  std::vector<Report> base = {report_of({row_of(load, around(1))}),
                              report_of({row_of(load, around(1))})};
  base[1].near.kernel = base[1].far.kernel = "another";
  const Comparison found = compare(base, std::span(base.data(), 1), kSeed);
  ASSERT_EQ(found.unlike.size(), 1u);
  EXPECT_EQ(found.unlike[0].what, "kernel between the base's own runs");
  EXPECT_EQ(found.unlike[0].other, "another");
}

TEST(Compare, SaysThatARowFailedInOneOfTheRuns) {
  const Load load = load_of(Measure::kBandwidth, 64);
  Row failed;
  failed.load = load;
  failed.problem = "the NIC has no XRC";
  const std::vector<Report> base = {report_of({row_of(load, around(1))}), report_of({failed})};
  const Comparison found = compare(base, std::span(base.data(), 1), kSeed);
  EXPECT_TRUE(found.rows.empty());
  ASSERT_EQ(found.only_other.size(), 1u);
  EXPECT_EQ(found.only_other[0].reason, "in the base: in one of its runs: the NIC has no XRC");
}

}  // namespace
}  // namespace gdr::perf
