#include "fabric/schedule/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fabric/schedule/retest.h"

namespace gdr::fabric {
namespace {

using Pair = std::pair<HostIndex, HostIndex>;

// How often each direction comes; fails where a host sends or receives twice in a round, or where a
// round's number is not its place.
std::map<Pair, int> directions(const Schedule& schedule) {
  std::map<Pair, int> met;
  for (std::uint32_t number = 0; number < schedule.rounds(); ++number) {
    const Round round = schedule.round(number);
    EXPECT_EQ(round.number, number);
    std::set<HostIndex> senders, receivers;
    for (const Edge& edge : round.edges) {
      EXPECT_NE(edge.from, edge.to);
      EXPECT_TRUE(senders.insert(edge.from).second) << edge.from << " twice in round " << number;
      EXPECT_TRUE(receivers.insert(edge.to).second) << edge.to << " twice in round " << number;
      ++met[{edge.from, edge.to}];
    }
  }
  return met;
}

std::vector<std::uint32_t> leaves_of(std::uint32_t hosts, std::uint32_t size) {
  std::vector<std::uint32_t> leaves;
  // Interleaved, so that nothing works only because hosts come in the order of leaves.
  for (std::uint32_t host = 0; host < hosts; ++host) {
    leaves.push_back(host % ((hosts + size - 1) / size));
  }
  return leaves;
}

void expect_each_direction_once(Pattern pattern, std::uint32_t hosts, std::uint32_t leaf) {
  const Schedule schedule(pattern, {.hosts = hosts, .leaves = leaves_of(hosts, leaf)}, 7);
  EXPECT_FALSE(schedule.is_sampled());
  const std::map<Pair, int> met = directions(schedule);
  EXPECT_EQ(met.size(), std::size_t{hosts} * (hosts - (hosts > 0 ? 1 : 0)))
      << name_of(pattern) << " of " << hosts;
  for (const auto& [pair, times] : met) EXPECT_EQ(times, 1);
}

TEST(FabricSchedule, EachPatternHasEachDirectionOnce) {
  for (const std::uint32_t hosts : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 17U, 32U, 45U}) {
    expect_each_direction_once(Pattern::kTournament, hosts, 8);
    expect_each_direction_once(Pattern::kShift, hosts, 8);
    expect_each_direction_once(Pattern::kByLeaf, hosts, 8);
    expect_each_direction_once(Pattern::kByLeaf, hosts, 5);
    expect_each_direction_once(Pattern::kByLeaf, hosts, 1000);
  }
}

TEST(FabricSchedule, TournamentHasOneRoundLessThanHostsAndAByeWhereTheyAreOdd) {
  EXPECT_EQ(Schedule(Pattern::kTournament, {.hosts = 16}, 1).rounds(), 15U);
  const Schedule odd(Pattern::kTournament, {.hosts = 15}, 1);
  EXPECT_EQ(odd.rounds(), 15U);
  EXPECT_EQ(odd.round(3).edges.size(), 14U);
}

TEST(FabricSchedule, BisectionOnlyCrossesTheMiddleInLeafOrder) {
  const std::vector<std::uint32_t> leaves = leaves_of(24, 6);
  const Schedule schedule(Pattern::kBisection, {.hosts = 24, .leaves = leaves}, 1);
  const std::map<Pair, int> met = directions(schedule);
  EXPECT_EQ(schedule.rounds(), 12U);
  EXPECT_EQ(met.size(), 2U * 12 * 12);
  for (const auto& [pair, times] : met) {
    EXPECT_NE(leaves[pair.first] < 2, leaves[pair.second] < 2);
  }
  EXPECT_TRUE(schedule.is_sampled());
}

TEST(FabricSchedule, ByLeafStaysWithinLeavesFirst) {
  const std::vector<std::uint32_t> leaves = leaves_of(20, 5);
  const Schedule schedule(Pattern::kByLeaf, {.hosts = 20, .leaves = leaves}, 1);
  bool crossed = false;
  for (std::uint32_t number = 0; number < schedule.rounds(); ++number) {
    for (const Edge& edge : schedule.round(number).edges) {
      const bool crosses = leaves[edge.from] != leaves[edge.to];
      EXPECT_TRUE(crosses || !crossed);
      crossed = crossed || crosses;
    }
  }
  EXPECT_TRUE(crossed);
}

TEST(FabricSchedule, PatternOfFewRoundsBeginsAgainUntilThereAreEnough) {
  const Schedule schedule(Pattern::kTournament, {.hosts = 4, .least_rounds = 8}, 1);
  ASSERT_EQ(schedule.rounds(), 9U);
  for (const auto& [pair, times] : directions(schedule)) EXPECT_EQ(times, 3);
  EXPECT_FALSE(schedule.is_sampled());
  EXPECT_EQ(Schedule(Pattern::kTournament, {.hosts = 1, .least_rounds = 8}, 1).rounds(), 0U);
}

TEST(FabricSchedule, SampleHasEveryHostInEachRoundAndDifferentPartners) {
  for (const Pattern pattern : {Pattern::kTournament, Pattern::kShift, Pattern::kBisection}) {
    const Schedule schedule(pattern, {.hosts = 100, .most_rounds = 8}, 3);
    EXPECT_TRUE(schedule.is_sampled());
    ASSERT_EQ(schedule.rounds(), 8U);
    for (std::uint32_t number = 0; number < 8; ++number) {
      EXPECT_EQ(schedule.round(number).edges.size(), 100U) << name_of(pattern);
    }
    EXPECT_EQ(directions(schedule).size(), 800U);
  }
}

TEST(FabricSchedule, SampleByLeafIsHalfWithinLeavesAndHalfBetweenThem) {
  const std::vector<std::uint32_t> leaves = leaves_of(64, 16);
  const Schedule schedule(Pattern::kByLeaf, {.hosts = 64, .leaves = leaves, .most_rounds = 8}, 3);
  ASSERT_EQ(schedule.rounds(), 8U);
  std::uint32_t within = 0;
  for (std::uint32_t number = 0; number < 8; ++number) {
    const Round round = schedule.round(number);
    EXPECT_EQ(round.edges.size(), 64U);
    within += leaves[round.edges[0].from] == leaves[round.edges[0].to] ? 1 : 0;
  }
  EXPECT_EQ(within, 4U);
}

TEST(FabricSchedule, SeedDecidesTheSample) {
  const ScheduleOptions options{.hosts = 100, .most_rounds = 2};
  const Schedule one(Pattern::kTournament, options, 1), same(Pattern::kTournament, options, 1),
      other(Pattern::kTournament, options, 2);
  EXPECT_EQ(one.round(0).edges, same.round(0).edges);
  EXPECT_NE(one.round(0).edges, other.round(0).edges);
}

TEST(FabricSchedule, CrossedRoundsComeLastAndOnlyWithSeveralRails) {
  EXPECT_EQ(Schedule(Pattern::kTournament, {.hosts = 8, .crossed_rounds = 3}, 1).rounds(), 7U);
  const Schedule schedule(Pattern::kTournament, {.hosts = 8, .rails = 3, .crossed_rounds = 3}, 1);
  ASSERT_EQ(schedule.rounds(), 10U);
  EXPECT_EQ(schedule.round(6).rail_shift, 0);
  EXPECT_EQ(schedule.round(7).rail_shift, 1);
  EXPECT_EQ(schedule.round(8).rail_shift, 2);
  EXPECT_EQ(schedule.round(9).rail_shift, 1);
  EXPECT_EQ(schedule.round(9).edges.size(), 8U);
}

TEST(FabricSchedule, IsolateRepeatsEachRoundForEachRail) {
  const Schedule schedule(Pattern::kTournament, {.hosts = 8, .rails = 3, .isolate = true}, 1);
  ASSERT_EQ(schedule.rounds(), 21U);
  for (std::uint32_t number = 0; number < 21; ++number) {
    EXPECT_EQ(schedule.round(number).only_rail, number % 3);
    EXPECT_EQ(schedule.round(number).edges, schedule.round(number / 3 * 3).edges);
  }
}

TEST(FabricRetest, SuspectsMeetDifferentGoodHostsAndNobodyElseIsOnTheFabric) {
  const std::vector<Round> rounds = retest_rounds(
      {.suspects = {3, 4}, .good = {10, 11, 12, 13}, .times = 3, .controls = 0, .first_number = 9},
      1);
  ASSERT_EQ(rounds.size(), 3U);
  std::set<Pair> met;
  for (std::size_t place = 0; place < 3; ++place) {
    EXPECT_TRUE(rounds[place].is_retest);
    EXPECT_EQ(rounds[place].number, 9 + place);
    ASSERT_EQ(rounds[place].edges.size(), 4U);
    std::set<HostIndex> senders;
    for (const Edge& edge : rounds[place].edges) {
      senders.insert(edge.from);
      met.insert({edge.from, edge.to});
      EXPECT_NE(edge.from < 10, edge.to < 10);
    }
    EXPECT_EQ(senders.size(), 4U);
  }
  EXPECT_EQ(met.size(), 12U);
}

TEST(FabricRetest, GoodHostsThatAreLeftMeetEachOtherAsControls) {
  const std::vector<Round> rounds =
      retest_rounds({.suspects = {3}, .good = {10, 11, 12, 13, 14, 15, 16}, .times = 4}, 1);
  ASSERT_EQ(rounds.size(), 4U);
  for (const Round& round : rounds) {
    EXPECT_EQ(round.edges.size(), 6U);
    std::set<HostIndex> senders;
    for (const Edge& edge : round.edges) EXPECT_TRUE(senders.insert(edge.from).second);
  }
  EXPECT_EQ(retest_rounds({.suspects = {3}, .good = {10, 11}, .times = 1}, 1).at(0).edges.size(),
            2U);
}

TEST(FabricRetest, SuspectsTakeTurnsWhereGoodHostsAreFew) {
  const std::vector<Round> rounds =
      retest_rounds({.suspects = {0, 1, 2, 3, 4}, .good = {8, 9}, .times = 2}, 1);
  EXPECT_EQ(rounds.size(), 6U);
  EXPECT_EQ(retest_rounds({.suspects = {0, 1}}, 1).size(), 0U);
}

TEST(FabricRetest, PairsThatShareAHostAreInDifferentRounds) {
  const std::vector<Round> rounds =
      retest_rounds({.pairs = {{0, 1}, {1, 0}, {2, 3}, {1, 2}}, .times = 1}, 1);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0].edges, (std::vector<Edge>{{0, 1}, {1, 0}, {2, 3}, {3, 2}}));
  EXPECT_EQ(rounds[1].edges, (std::vector<Edge>{{1, 2}, {2, 1}}));
}

TEST(FabricRetest, AnyTwoPairsAreInDifferentRoundsAtLeastOnce) {
  RetestPlan plan;
  for (HostIndex host = 0; host < 64; host += 2) plan.pairs.push_back({host, host + 1});
  std::set<Pair> always;  // pairs, by their first hosts
  for (HostIndex one = 0; one < 64; one += 2) {
    for (HostIndex other = one + 2; other < 64; other += 2) always.insert({one, other});
  }
  std::map<HostIndex, unsigned> times;
  const std::vector<Round> rounds = retest_rounds(plan, 1);
  EXPECT_LE(rounds.size(), 12U);
  for (const Round& round : rounds) {
    std::set<HostIndex> here;
    for (const Edge& edge : round.edges) here.insert(std::min(edge.from, edge.to));
    for (const HostIndex host : here) ++times[host];
    std::erase_if(always, [&](const Pair& pair) {
      return here.contains(pair.first) != here.contains(pair.second);
    });
  }
  EXPECT_TRUE(always.empty());
  for (const auto& [host, count] : times) EXPECT_EQ(count, 3U) << host;
}

}  // namespace
}  // namespace gdr::fabric
