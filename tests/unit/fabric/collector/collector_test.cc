#include "fabric/collector/collector.h"

#include <gtest/gtest.h>

#include <random>

#include "fake_run.h"

namespace gdr::fabric {
namespace {

const std::vector<Edge> kBoth = {{0, 1}, {1, 0}};

TEST(FabricCollector, LeadsAPairThroughAllStepsAndKeepsItsFigures) {
  FakeRun run({"a", "b"}, {pairs(0, kBoth)});
  run.start();
  run.join_all();
  run.exchange();
  EXPECT_TRUE(run.collector->has_finished());
  ASSERT_EQ(run.report.measurements.size(), 2u);
  for (const Measurement& one : run.report.measurements) {
    EXPECT_EQ(one.outcome, Outcome::kProved);
    EXPECT_FLOAT_EQ(one.latency, 2000);
    EXPECT_FLOAT_EQ(one.bytes_per_second, 1e9);
  }
  EXPECT_EQ(run.report.rounds_done, 1u);
  EXPECT_EQ(run.campaign.judged, 1);
  EXPECT_EQ(run.count_sent(0, Talk::number_of<Go>()), 3u);
  EXPECT_EQ(run.count_sent(1, Talk::number_of<Finish>()), 1u);
  EXPECT_TRUE(run.report.incidents.empty());
}

TEST(FabricCollector, NoStepBeginsBeforeAllHaveAnsweredTheOneBefore) {
  FakeRun waiting({"a", "b"}, {pairs(0, kBoth)});
  waiting.start();
  waiting.join_all();
  waiting.say(0, waiting.ready_of(0));
  waiting.say(1, waiting.ready_of(1));
  waiting.silent = {0, 1};
  waiting.exchange();
  waiting.answer(0, 0, Phase::kConnect);
  waiting.exchange();
  EXPECT_EQ(waiting.count_sent(0, Talk::number_of<Go>()), 0u);
  waiting.answer(1, 0, Phase::kConnect);
  waiting.exchange();
  EXPECT_EQ(waiting.count_sent(0, Talk::number_of<Go>()), 1u);
}

TEST(FabricCollector, EachSideIsToldTheOthersAddressesOfTheRailsThatMeet) {
  Round crossed = pairs(0, kBoth);
  crossed.rail_shift = 1;
  FakeRun run({"a", "b"}, {crossed});
  run.rails = 2;
  run.start();
  run.join_all();
  run.exchange();
  const Connect& connect = run.connects[0];
  ASSERT_EQ(connect.parts.size(), 2u);
  EXPECT_EQ(connect.parts[0].far_rail, 1);
  EXPECT_EQ(connect.parts[0].to_address.rkey, 101u);
  EXPECT_EQ(connect.parts[0].near_rail, 1);
  EXPECT_EQ(connect.parts[0].from_address.rkey, 101u);
  EXPECT_EQ(connect.parts[1].to_address.rkey, 100u);
  EXPECT_EQ(run.report.measurements.size(), 4u);
}

TEST(FabricCollector, DeadMemberCostsItsOwnHostAndTheOthersGoOn) {
  FakeRun run({"a", "b", "c"},
              {pairs(0, kBoth), pairs(1, {{0, 2}, {2, 0}}), pairs(2, {{1, 2}, {2, 1}})});
  run.on_answer = [&](MemberId member, Phase phase, RailResult&) {
    if (member == 0 && phase == Phase::kLatency) run.silent.insert(1);
  };
  run.start();
  run.join_all();
  run.exchange();
  ASSERT_FALSE(run.collector->has_finished());
  run.collector->handle_loss(1, "killed by signal 9 (Killed)", run.time);
  EXPECT_EQ(run.report.hosts[1].state, HostState::kDied);
  EXPECT_EQ(run.report.hosts[1].problem, "killed by signal 9 (Killed)");
  run.exchange();
  EXPECT_EQ(run.count_sent(0, Talk::number_of<Abandon>()), 1u);
  EXPECT_TRUE(run.collector->has_finished());
  ASSERT_EQ(run.report.measurements.size(), 4u);
  EXPECT_EQ(run.report.measurements[0].outcome, Outcome::kAbandoned);
  EXPECT_EQ(run.report.measurements[2].outcome, Outcome::kProved);
  EXPECT_EQ(run.report.rounds_done, 3u);  // the last one had nobody left to meet
}

TEST(FabricCollector, HungMemberIsNamedAfterTheTimeOfAStep) {
  FakeRun run({"a", "b", "c"}, {pairs(0, kBoth), pairs(1, {{0, 2}, {2, 0}})});
  run.on_answer = [&](MemberId member, Phase phase, RailResult&) {
    if (member == 0 && phase == Phase::kProve) run.silent.insert(1);
  };
  run.start();
  run.join_all();
  run.exchange();
  const Nanoseconds limit = run.collector->next_timeout();
  run.time = limit - 1;
  run.collector->handle_time(run.time);
  EXPECT_EQ(run.report.hosts[1].state, HostState::kThere);
  run.time = limit;
  run.collector->handle_time(run.time);
  EXPECT_EQ(run.report.hosts[1].state, HostState::kHung);
  EXPECT_EQ(run.report.hosts[1].problem, "no answer within 15 s in round 1");
  run.exchange();
  EXPECT_TRUE(run.collector->has_finished());
  EXPECT_EQ(run.report.measurements.back().outcome, Outcome::kProved);
}

TEST(FabricCollector, WhoNeverComesIsNamedAndTheOthersBegin) {
  FakeRun run({"a", "b", "c"}, {pairs(0, {{0, 2}, {2, 0}})});
  run.start();
  run.join(0);
  run.join(2);
  run.exchange();
  EXPECT_FALSE(run.collector->has_finished());
  run.time = run.collector->next_timeout();
  run.collector->handle_time(run.time);
  EXPECT_EQ(run.report.hosts[1].state, HostState::kNeverCame);
  EXPECT_EQ(run.report.hosts[1].problem, "rank 1 did not join within 60 s");
  run.exchange();
  EXPECT_TRUE(run.collector->has_finished());
  EXPECT_EQ(run.report.measurements.size(), 2u);
  // Too late: it is not let in any more.
  run.join(1);
  EXPECT_FALSE(run.collector->poll_transmit());
}

TEST(FabricCollector, HostThatCannotTakePartIsLeftOutWithItsReason) {
  FakeRun run({"a", "b", "c"}, {pairs(0, {{0, 2}, {2, 0}})});
  run.silent = {1};
  run.start();
  run.join_all();
  run.exchange();
  run.say(1, Unable{"no RDMA NIC"});
  run.exchange();
  EXPECT_EQ(run.report.hosts[1].state, HostState::kLeftOut);
  EXPECT_EQ(run.report.hosts[1].problem, "no RDMA NIC");
  EXPECT_TRUE(run.collector->has_finished());
}

// Whoever lies may come first, and may be gone before the other comes.
TEST(FabricCollector, OfTwoThatSayTheyAreOneMachineNoneTakesPart) {
  for (const bool leaves : {false, true}) {
    FakeRun run({"a", "b", "c", "d"}, {pairs(0, {{2, 3}, {3, 2}})});
    run.start();
    run.join(0);
    if (leaves) run.collector->handle_loss(0, "it went", run.time);
    Join again = run.join_of(1);
    again.machine = run.join_of(0).machine;
    run.collector->handle_join(1, again, run.time);
    run.join(2);
    run.join(3);
    run.exchange();
    const std::string why =
        "a and b say that they are the same machine, and either may be wrong; name it once, or "
        "let its processes count as hosts: --processes-as-hosts";
    EXPECT_EQ(run.report.hosts[0].problem, leaves ? "it went" : why);
    EXPECT_EQ(run.report.hosts[1].problem, why);
    EXPECT_EQ(run.report.hosts[1].state, HostState::kLeftOut);
    EXPECT_EQ(run.count_sent(1, Talk::number_of<Finish>()), 1u);
    EXPECT_TRUE(run.collector->has_finished());
    EXPECT_EQ(run.report.measurements.size(), 2u);
  }
}

TEST(FabricCollector, OfTwoMachinesWithOneNameNoneTakesPart) {
  FakeRun run({"", ""}, {pairs(0, kBoth)});
  run.start();
  for (MemberId member = 0; member < 2; ++member) {
    Join join = run.join_of(member);
    join.host = "localhost";
    run.collector->handle_join(member, join, run.time);
  }
  run.exchange();
  for (const Host& host : run.report.hosts) {
    EXPECT_EQ(host.state, HostState::kLeftOut);
    EXPECT_EQ(host.problem,
              "two machines call themselves localhost, and either may be wrong; give each a name "
              "of its own: hostnamectl hostname NAME");
  }
}

TEST(FabricCollector, RailsOfWhomIsGoneBeforeTheRunCountNowhere) {
  FakeRun run({"a", "b", "c"}, {pairs(0, kBoth)});
  run.silent = {2};
  run.start();
  run.join_all();
  run.exchange();
  Ready many;
  for (std::uint16_t rail = 0; rail < 64; ++rail) {
    many.rails.emplace_back().rail = rail;
    many.rails.back().nic = "soft0";
    many.rails.back().software_nic = true;
  }
  run.say(2, many);
  EXPECT_EQ(run.report.hosts[2].state, HostState::kLeftOut) << "others have one";
  EXPECT_EQ(rail_count(run.report), 1u);
  EXPECT_FALSE(is_simulation(run.report));
}

TEST(FabricCollector, HostWithOtherRailsThanMostIsLeftOut) {
  FakeRun run({"a", "b", "c"}, {pairs(0, {{0, 2}, {2, 0}})});
  run.silent = {1};
  run.rails = 2;
  run.start();
  run.join_all();
  run.exchange();
  Ready fewer = run.ready_of(1);
  fewer.rails.pop_back();
  run.say(1, fewer);
  run.exchange();
  EXPECT_EQ(run.report.hosts[1].problem,
            "it has 1 rail with host memory, where 2 of 3 hosts have 2 rails with host memory; "
            "name the rails that all have with --nics");
  EXPECT_EQ(run.report.measurements.size(), 4u);
}

TEST(FabricCollector, WrongBytesOutweighAnErrorOfTheSender) {
  FakeRun run({"a", "b"}, {pairs(0, kBoth)});
  run.on_answer = [](MemberId member, Phase phase, RailResult& result) {
    if (phase == Phase::kProve && member == 1) {
      result.damage.kind = participants::Damage::Kind::kBitFlipped;
      result.damage.offset = 17;
    }
    if (phase == Phase::kProve && member == 0) {
      result.code = ETIMEDOUT;
      result.problem = "no completion";
    }
  };
  run.start();
  run.join_all();
  run.exchange();
  EXPECT_EQ(run.report.measurements[0].outcome, Outcome::kWrongBytes);
  ASSERT_EQ(run.report.incidents.size(), 1u);
  EXPECT_NE(run.report.incidents[0].text.find("byte 17"), std::string::npos);
  EXPECT_EQ(run.report.measurements[0].bytes_per_second, 0);
}

TEST(FabricCollector, ReceiverOfWhatWasNotSentIsNotLeftWaiting) {
  FakeRun run({"a", "b"}, {pairs(0, kBoth)});
  run.rails = 2;
  run.on_answer = [&](MemberId member, Phase phase, RailResult& result) {
    if (phase == Phase::kProve && member == 0 && result.rail == 1) result.code = ETIMEDOUT;
  };
  run.silent = {1};
  run.start();
  run.join_all();
  run.exchange();
  run.say(1, run.ready_of(1));
  run.exchange();
  run.connects[1] = run.connects[0];  // the same rails
  run.answer(1, 0, Phase::kConnect);
  run.exchange();
  ASSERT_EQ(run.sent.back().kind, Talk::number_of<Abandon>());
  const Abandon abandon = *process::decode<Abandon>(run.sent.back().bytes);
  EXPECT_EQ(run.sent.back().member, 1u);
  EXPECT_EQ(abandon.host, 0u);
  EXPECT_EQ(abandon.silent_rail, 1);  // the other one goes on
}

TEST(FabricCollector, DirectionThatNobodyComparedIsNotProved) {
  FakeRun run({"a", "b"}, {pairs(0, kBoth)});
  run.silent = {1};
  run.start();
  run.join_all();
  run.exchange();
  run.say(1, run.ready_of(1));
  run.exchange();
  for (const Phase phase : {Phase::kConnect, Phase::kProve, Phase::kLatency, Phase::kBandwidth}) {
    StepDone empty;
    empty.phase = phase;
    run.say(1, empty);
    run.exchange();
  }
  EXPECT_TRUE(run.collector->has_finished());
  EXPECT_EQ(run.report.measurements[0].outcome, Outcome::kFailed);
}

TEST(FabricCollector, InterruptionKeepsRoundsThatAreDoneAndEndsTheMembers) {
  FakeRun run({"a", "b"}, {pairs(0, kBoth), pairs(1, kBoth)});
  run.on_answer = [&](MemberId, Phase phase, RailResult&) {
    if (run.report.rounds_done == 1 && phase == Phase::kProve) run.silent = {0, 1};
  };
  run.start();
  run.join_all();
  run.exchange();
  run.collector->interrupt(run.time);
  // The step under way is the last one.
  run.collector->handle_time(run.collector->next_timeout());
  run.exchange();
  EXPECT_TRUE(run.collector->has_finished());
  EXPECT_TRUE(run.report.is_interrupted);
  EXPECT_EQ(run.report.measurements.size(), 2u);
  EXPECT_EQ(exit_status(run.report), 3);
}

TEST(FabricCollector, WhatComesAfterTheEndChangesNothing) {
  FakeRun run({"a", "b"}, {pairs(0, kBoth)});
  run.silent = {0, 1};
  run.start();
  run.join(0);
  run.collector->interrupt(run.time);
  ASSERT_TRUE(run.collector->has_finished());
  run.exchange();
  run.collector->handle_refusal(1, HostState::kNeverCame, "ssh: no route", run.time);
  run.collector->handle_loss(0, "killed", run.time);
  run.join(1);
  EXPECT_EQ(run.report.hosts[0].state, HostState::kThere);
  EXPECT_EQ(run.report.hosts[1].state, HostState::kThere);
  EXPECT_FALSE(run.collector->poll_transmit());
}

TEST(FabricCollector, SuspectIsAskedForItsDoctorsFinding) {
  FakeRun run({"a", "b"}, {pairs(0, kBoth)});
  Finding finding;
  finding.hosts = {1};
  run.campaign.findings = {finding};
  run.examined.doctor = "pcie: x8 of x16";
  run.examined.counters = {{0, "symbol_error", 12}};
  run.start();
  run.join_all();
  run.exchange();
  EXPECT_EQ(run.count_sent(1, Talk::number_of<Examine>()), 1u);
  EXPECT_EQ(run.count_sent(0, Talk::number_of<Examine>()), 0u);
  ASSERT_EQ(run.report.findings.size(), 1u);
  EXPECT_EQ(run.report.findings[0].doctor, "pcie: x8 of x16");
  EXPECT_EQ(run.report.findings[0].evidence.back(),
            "mlx5_0: symbol_error rose by 12 during the run.");
}

TEST(FabricCollector, WhatAMemberSaysIsKeptNoLongerThanItIsWorth) {
  FakeRun run({"", "b"}, {pairs(0, kBoth)});
  Finding finding;
  finding.hosts = {1};
  run.campaign.findings = {finding};
  run.examined.doctor = std::string(100'000, 'd');
  run.examined.counters.assign(5'000, {0, std::string(20, 'c'), 1});
  run.examined.counters.push_back({999, "of a rail that it has not", 1});
  run.on_answer = [](MemberId member, Phase phase, RailResult& result) {
    if (phase == Phase::kLatency && member == 1) result.value = 1e300;
    if (phase != Phase::kProve || member != 0) return;
    result.code = EIO;
    result.problem = std::string(499, 'x') + "\xc3\xa9 and so on";  // cut before an e with accent
  };
  run.start();
  Join join = run.join_of(0);
  join.host = "a\x1b[2J" + std::string(1'000, 'a');
  run.collector->handle_join(0, join, run.time);
  run.join(1);
  run.exchange();
  EXPECT_TRUE(run.report.hosts[0].name.starts_with("a [2Ja"));
  EXPECT_LT(run.report.hosts[0].name.size(), 110u);
  ASSERT_EQ(run.report.incidents.size(), 1u);
  EXPECT_EQ(run.report.incidents[0].text, "proof: " + std::string(499, 'x') + "…");
  EXPECT_LT(run.report.findings[0].doctor.size(), 510u);
  EXPECT_EQ(run.report.findings[0].evidence.size(), 1'000u);
  for (const Measurement& one : run.report.measurements) EXPECT_LT(one.latency, 1e18f);
}

TEST(FabricCollector, HostileMemberCostsItsOwnHostOnly) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    FakeRun run({"a", "b", "c"}, {pairs(0, kBoth), pairs(1, {{0, 2}, {2, 0}})});
    run.silent = {1};
    run.start();
    run.join_all();
    run.exchange();
    if (seed % 2 == 0) run.say(1, run.ready_of(1));
    run.exchange();
    std::minstd_rand random(seed);
    for (int i = 0; i < 50; ++i) {
      process::Received received;
      received.kind = static_cast<std::uint8_t>(random() % 16);
      received.bytes.resize(random() % 64);
      for (std::byte& byte : received.bytes) byte = static_cast<std::byte>(random() % 4);
      run.collector->handle_message(1, received, run.time);
      run.exchange();
    }
    run.collector->handle_loss(1, "gone", run.time);
    run.exchange();
    EXPECT_TRUE(run.collector->has_finished());
    EXPECT_NE(run.report.hosts[1].state, HostState::kThere);
    EXPECT_EQ(run.report.measurements.back().outcome, Outcome::kProved);
  }
}

}  // namespace
}  // namespace gdr::fabric
