#include "perf/plan.h"

#include <gtest/gtest.h>

namespace gdr::perf {
namespace {

Wishes some_wishes() {
  Wishes wishes;
  wishes.timing = {0, 1'000'000, 0, 10};
  return wishes;
}

std::string problem(const Result<std::vector<Group>>& groups) {
  return groups ? "" : groups.error().message;
}

std::vector<std::string> titles(const Wishes& wishes, const Available& available = {}) {
  std::vector<std::string> all;
  const Result<std::vector<Group>> groups = make_plan(wishes, available);
  if (!groups) return {groups.error().message};
  for (const Group& group : *groups) {
    all.push_back(std::string(name_of(group.load.measure)) + " " + text_of(group.load.near) + " " +
                  text_of(group.load.far));
  }
  return all;
}

using Titles = std::vector<std::string>;

TEST(Plan, WithoutGpuHasBandwidthAndLatencyOfHostMemory) {
  EXPECT_EQ(titles(some_wishes()), (Titles{"bandwidth host host", "latency host host"}));
}

TEST(Plan, WithGpusSetsTheDirectWayBesideTheStagedOne) {
  EXPECT_EQ(titles(some_wishes(), {.near_gpu = 0, .far_gpu = 1}),
            (Titles{"bandwidth gpu:0 gpu:1", "bandwidth staged:0 staged:1", "bandwidth host host",
                    "latency gpu:0 gpu:1", "latency staged:0 staged:1", "latency host host"}));
}

TEST(Plan, LeavesOutWhatNobodyAskedForAndCannotBe) {
  Wishes wishes = some_wishes();
  wishes.load.queue_pairs = 4;
  EXPECT_EQ(titles(wishes), Titles{"bandwidth host host"});
  wishes.load.queue_pairs = 1;
  wishes.load.both_ways = true;
  EXPECT_EQ(titles(wishes, {.near_gpu = 0, .far_gpu = 0}),
            (Titles{"bandwidth gpu:0 gpu:0", "bandwidth host host"}));
  wishes = some_wishes();
  wishes.operations = {Operation::kRead};
  EXPECT_EQ(titles(wishes, {.near_gpu = 0, .far_gpu = 0}),
            (Titles{"bandwidth gpu:0 gpu:0", "bandwidth host host", "latency gpu:0 gpu:0",
                    "latency host host"}));
}

TEST(Plan, RefusesWhatWasAskedForByName) {
  Wishes wishes = some_wishes();
  wishes.measures = {Measure::kLatency};
  wishes.load.both_ways = true;
  EXPECT_NE(problem(make_plan(wishes, {})).find("--both-ways does not work with --measure latency"),
            std::string::npos);
  wishes = some_wishes();
  wishes.near = {{Place::Kind::kStaged, kChosenGpu}};
  wishes.measures = {Measure::kBandwidth};
  wishes.load.both_ways = true;
  EXPECT_NE(problem(make_plan(wishes, {.near_gpu = 0, .far_gpu = 0}))
                .find("--memory staged does not work with --both-ways"),
            std::string::npos);
}

TEST(Plan, RefusesTheFirstMeasureByDefaultTooWhenItCannotBe) {
  Wishes wishes = some_wishes();
  wishes.load.transport = Transport::kUd;
  EXPECT_NE(
      problem(make_plan(wishes, {})).find("--operation write does not work with --transport UD"),
      std::string::npos);
}

TEST(Plan, PutsTheChosenGpuWhereNoOrdinalWasGiven) {
  Wishes wishes = some_wishes();
  wishes.measures = {Measure::kBandwidth};
  wishes.near = {{Place::Kind::kGpu, kChosenGpu}, {Place::Kind::kGpu, 3}};
  EXPECT_EQ(titles(wishes, {.near_gpu = 1, .far_gpu = 2}),
            (Titles{"bandwidth gpu:1 gpu:2", "bandwidth gpu:3 gpu:2"}));
}

TEST(Plan, SetsEveryNearMemoryBesideEveryFarOne) {
  Wishes wishes = some_wishes();
  wishes.measures = {Measure::kBandwidth};
  wishes.near = {{Place::Kind::kHost, 0}, {Place::Kind::kGpu, 0}};
  wishes.far = wishes.near;
  EXPECT_EQ(titles(wishes), (Titles{"bandwidth host host", "bandwidth host gpu:0",
                                    "bandwidth gpu:0 host", "bandwidth gpu:0 gpu:0"}));
}

TEST(Plan, SaysWhichSideHasNoGpu) {
  Wishes wishes = some_wishes();
  wishes.near = {{Place::Kind::kGpu, kChosenGpu}};
  EXPECT_EQ(problem(make_plan(wishes, {})), "no GPU on the client's side; use --memory host");
  EXPECT_EQ(problem(make_plan(wishes, {.near_gpu = 0, .far_gpu = {}})),
            "no GPU on the server's side; use --memory host");
}

TEST(Plan, GivesAtomicsEightBytesAndDatagramsNoMoreThanAPacket) {
  Wishes wishes = some_wishes();
  wishes.operations = {Operation::kFetchAndAdd};
  EXPECT_EQ(make_plan(wishes, {})->front().sizes, std::vector<std::uint64_t>{8});
  wishes.operations = {Operation::kSend};
  wishes.load.transport = Transport::kUd;
  const Result<std::vector<Group>> groups = make_plan(wishes, {});
  ASSERT_TRUE(groups);
  for (const Group& group : *groups) {
    ASSERT_FALSE(group.sizes.empty());
    for (const std::uint64_t size : group.sizes) EXPECT_LE(size, 1024u);
  }
}

TEST(Plan, RefusesRepetitionsThatTakeNoTime) {
  Wishes wishes = some_wishes();
  wishes.timing.slice_nanoseconds = 0;
  EXPECT_EQ(problem(make_plan(wishes, {})),
            "--duration must be greater than 0, with at least 1 ns for each of the 10 --repeats");
  wishes.timing.slice_messages = 1;
  EXPECT_EQ(problem(make_plan(wishes, {})), "");
}

TEST(Plan, JudgesEverySizeAndNotOnlyTheLargest) {
  Wishes wishes = some_wishes();
  wishes.operations = {Operation::kCompareAndSwap};
  wishes.sizes = {4, 8};
  EXPECT_EQ(problem(make_plan(wishes, {})),
            "--sizes 4 does not work with --operation compare-swap: an atomic has 8 bytes; use "
            "--sizes 8");
}

}  // namespace
}  // namespace gdr::perf
