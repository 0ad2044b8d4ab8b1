// Processes that own rails, on the software NIC and the software GPU.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <stdexcept>
#include <string_view>

#include "crew.h"
#include "fabric/worker/serve.h"
#include "soon.h"

namespace gdr::fabric::test {
namespace {

using participants::Damage;

constexpr std::uint64_t kProofBytes = 300'001;

Settings settings() {
  Settings settings;
  settings.seed = 77;
  settings.soft = true;
  settings.proof_bytes = kProofBytes;
  settings.message_bytes = 256 << 10;
  settings.latency_milliseconds = 5;
  settings.bandwidth_milliseconds = 20;
  settings.step_milliseconds = 50'000;
  return settings;
}

void expect_proved(const RailResult& result) {
  EXPECT_EQ(result.code, 0) << result.problem;
  EXPECT_EQ(result.received_code, 0) << result.received_problem;
  EXPECT_EQ(result.damage.kind, Damage::Kind::kIntact) << participants::describe(result.damage);
  EXPECT_EQ(result.damage.length, kProofBytes);
}

void prove_pair(Crew& crew, std::uint32_t round, std::uint32_t a, std::uint32_t b) {
  crew.connect(round, {{a, b}, {b, a}});
  for (const RailResult& result : crew.go(round, Phase::kProve, {a, b})) expect_proved(result);
}

TEST(FabricWorker, ProvesGpuMemoryBothWaysAndMeasures) {
  Crew crew(2);
  crew.begin(settings());
  EXPECT_EQ(crew.rails(0).front().nic, "soft0");
  EXPECT_EQ(crew.rails(1).front().nic, "soft1");
  EXPECT_TRUE(crew.rails(0).front().gpu.starts_with("GPU ")) << crew.rails(0).front().gpu;
  EXPECT_TRUE(crew.rails(0).front().software_nic);
  EXPECT_TRUE(crew.rails(0).front().software_gpu);
  prove_pair(crew, 0, 0, 1);
  for (const Phase phase : {Phase::kLatency, Phase::kBandwidth}) {
    for (const RailResult& result : crew.go(0, phase, {0, 1})) {
      EXPECT_EQ(result.code, 0) << result.problem;
      EXPECT_GT(result.value, 0);
    }
  }
}

TEST(FabricWorker, ProvesHostMemory) {
  Crew crew(2);
  Settings host = settings();
  host.host_memory = true;
  crew.begin(host);
  EXPECT_EQ(crew.rails(0).front().gpu, "");
  EXPECT_FALSE(crew.rails(0).front().software_gpu);
  prove_pair(crew, 0, 0, 1);
}

TEST(FabricWorker, ConnectsToAnotherOneInTheNextRound) {
  Crew crew(3);
  crew.begin(settings());
  prove_pair(crew, 0, 0, 1);
  prove_pair(crew, 1, 0, 2);
  prove_pair(crew, 2, 1, 2);
  // A ring: nobody sends to whom it receives from.
  crew.connect(3, {{0, 1}, {1, 2}, {2, 0}});
  for (const RailResult& result : crew.go(3, Phase::kProve, {0, 1, 2})) expect_proved(result);
}

TEST(FabricWorker, OneDirectionAloneIsProved) {
  Crew crew(2);
  crew.begin(settings());
  crew.connect(0, {{0, 1}});
  const std::vector<RailResult> results = crew.go(0, Phase::kProve, {0, 1});
  EXPECT_EQ(results[0].code, 0) << results[0].problem;
  EXPECT_EQ(results[0].damage.length, 0u);
  expect_proved(results[1]);
  const std::vector<RailResult> figures = crew.go(0, Phase::kBandwidth, {0, 1});
  EXPECT_GT(figures[0].value, 0);
  EXPECT_EQ(figures[1].code, 0) << figures[1].problem;
  EXPECT_EQ(figures[1].value, 0);
}

TEST(FabricWorker, WhatIsOnItsWayWhenAStepEndsDoesNoHarmToTheNextRound) {
  Crew crew(3);
  Settings endless = settings();
  endless.bandwidth_milliseconds = 40'000;
  crew.begin(endless);
  for (std::uint32_t round = 0; round < 4; ++round) {
    crew.connect(round, {{0, 1}, {1, 0}});
    crew.start(round, Phase::kBandwidth, {0, 1});
    usleep(20'000);
    // Each is told that the other one is lost, and stops with a full queue.
    ASSERT_TRUE(crew.talk(0).send(Abandon{round, 1}));
    ASSERT_TRUE(crew.talk(1).send(Abandon{round, 0}));
    EXPECT_EQ(crew.result(0, Phase::kBandwidth).code, ECONNRESET);
    EXPECT_EQ(crew.result(1, Phase::kBandwidth).code, ECONNRESET);
    ++round;
    prove_pair(crew, round, 1, 2);
  }
}

TEST(FabricWorker, ALostOtherSideEndsAStepAtOnce) {
  Crew crew(3);
  Settings endless = settings();
  endless.bandwidth_milliseconds = 40'000;
  crew.begin(endless);
  crew.connect(0, {{0, 1}, {1, 0}});
  const Nanoseconds start = now();
  crew.start(0, Phase::kBandwidth, {0, 1});
  usleep(100'000);
  crew.kill(1);
  ASSERT_TRUE(crew.talk(0).send(Abandon{0, 1}));
  const RailResult result = crew.result(0, Phase::kBandwidth);
  EXPECT_LT(now() - start, 20 * kSecond);
  // The NIC may have noticed first.
  EXPECT_TRUE(result.code == ECONNRESET || result.code == ETIMEDOUT)
      << result.code << " " << result.problem;
  prove_pair(crew, 1, 0, 2);
}

TEST(FabricWorker, AProcessThatDiesIsAnErrorOfTheOtherOnesStepAndTheNextRoundIsWell) {
  Crew crew(3);
  Settings endless = settings();
  endless.bandwidth_milliseconds = 40'000;
  crew.begin(endless);
  crew.connect(0, {{0, 1}, {1, 0}});
  crew.start(0, Phase::kBandwidth, {0, 1});
  usleep(100'000);
  crew.kill(1);
  const RailResult result = crew.result(0, Phase::kBandwidth);
  EXPECT_NE(result.code, 0);
  EXPECT_NE(result.problem, "");
  prove_pair(crew, 1, 0, 2);
}

TEST(FabricWorker, AReceiverThatIsNotWrittenToSaysSo) {
  Crew crew(2);
  Settings brief = settings();
  brief.step_milliseconds = 300;
  crew.begin(brief);
  crew.connect(0, {{0, 1}, {1, 0}});
  const RailResult result = crew.go(0, Phase::kProve, {0}).front();
  EXPECT_EQ(result.received_code, ETIMEDOUT);
  EXPECT_NE(result.received_problem, "");
}

TEST(FabricWorker, AReceiverWhoseSenderIsLostStopsWaiting) {
  Crew crew(3);
  crew.begin(settings());
  crew.connect(0, {{0, 1}, {1, 2}, {2, 0}});
  const Nanoseconds start = now();
  crew.start(0, Phase::kProve, {0, 1});
  ASSERT_TRUE(crew.talk(0).send(Abandon{0, 2}));
  const RailResult result = crew.result(0, Phase::kProve);
  EXPECT_LT(now() - start, 20 * kSecond);
  // What it sends is not concerned.
  EXPECT_EQ(result.code, 0) << result.problem;
  EXPECT_EQ(result.received_code, ECONNRESET);
  expect_proved(crew.result(1, Phase::kProve));
}

TEST(FabricWorker, AnAbandonOfAnotherRoundOrHostChangesNothing) {
  Crew crew(2);
  Settings longer = settings();
  longer.bandwidth_milliseconds = 300;
  crew.begin(longer);
  crew.connect(5, {{0, 1}, {1, 0}});
  crew.start(5, Phase::kBandwidth, {0, 1});
  ASSERT_TRUE(crew.talk(0).send(Abandon{4, 1}));
  ASSERT_TRUE(crew.talk(0).send(Abandon{5, 7}));
  EXPECT_EQ(crew.result(0, Phase::kBandwidth).code, 0);
  EXPECT_EQ(crew.result(1, Phase::kBandwidth).code, 0);
}

TEST(FabricWorker, EndsWithTheSocketDuringAStep) {
  pid_t pid = 0;
  {
    Crew crew(2);
    Settings endless = settings();
    endless.bandwidth_milliseconds = 40'000;
    crew.begin(endless);
    crew.connect(0, {{0, 1}, {1, 0}});
    crew.start(0, Phase::kBandwidth, {0, 1});
    usleep(50'000);
    pid = crew.pid(0);
    crew.hang_up(0);
    EXPECT_EQ(process::Worker::post_mortem(pid), "it exited with status 0");
  }
}

TEST(FabricWorker, SixteenHostsAtOnceMakeProgressOnFewProcessors) {
  constexpr std::uint32_t kHosts = 16;
  Crew crew(kHosts);
  crew.begin(settings());
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < kHosts; ++i) all.push_back(i);
  for (std::uint32_t round = 0; round < 3; ++round) {
    std::vector<Edge> ring;
    for (std::uint32_t i = 0; i < kHosts; ++i) ring.push_back({i, (i + round + 1) % kHosts});
    crew.connect(round, ring);
    for (const RailResult& result : crew.go(round, Phase::kProve, all)) expect_proved(result);
    for (const Phase phase : {Phase::kLatency, Phase::kBandwidth}) {
      for (const RailResult& result : crew.go(round, phase, all)) {
        EXPECT_EQ(result.code, 0) << result.problem;
        EXPECT_GT(result.value, 0);
      }
    }
  }
}

TEST(FabricWorker, AllRailsOfAHostAreMeasuredAtOnce) {
  setenv("GDR_SOFT_DEVICES",
         "a0/ip=10.9.0.1,a1/ip=10.9.0.2,a2/ip=10.9.0.3,b0/ip=10.9.0.4,b1/ip=10.9.0.5,"
         "b2/ip=10.9.0.6",
         1);
  Crew crew(2);
  unsetenv("GDR_SOFT_DEVICES");
  Begin begin{settings(), 0, 1, /*is_whole_host=*/true};
  begin.settings.nics = {"a0", "a1", "a2"};
  crew.begin(0, begin);
  begin.settings.nics = {"b0", "b1", "b2"};
  crew.begin(1, begin);
  ASSERT_EQ(crew.rails(0).size(), 3u);
  EXPECT_EQ(crew.rails(0)[2].rail, 2);
  EXPECT_EQ(crew.rails(0)[2].gid, "::ffff:10.9.0.3");
  EXPECT_NE(crew.rails(0)[0].gpu, crew.rails(0)[1].gpu);
  crew.connect(0, {{0, 1}, {1, 0}});
  for (const Phase phase : {Phase::kProve, Phase::kLatency, Phase::kBandwidth}) {
    crew.start(0, phase, {0, 1});
    for (const std::uint32_t member : {0u, 1u}) {
      const std::vector<RailResult> results = crew.results(member, phase);
      ASSERT_EQ(results.size(), 3u);
      for (std::uint16_t rail = 0; rail < 3; ++rail) {
        EXPECT_EQ(results[rail].rail, rail);
        EXPECT_EQ(results[rail].code, 0) << results[rail].problem;
        if (phase == Phase::kProve) {
          expect_proved(results[rail]);
        } else {
          EXPECT_GT(results[rail].value, 0);
        }
      }
    }
  }
}

TEST(FabricWorker, AHostThatNobodyReachesSaysWhatToType) {
  Crew crew(1);
  try {
    crew.begin(0, Begin{settings(), 0, 1, /*is_whole_host=*/true});
    FAIL() << "it is ready";
  } catch (const std::runtime_error& unable) {
    EXPECT_EQ(unable.what(),
              std::string("soft0 has the loopback address 127.10.0.1, which no other host reaches; "
                          "give it one of its host's, on every host, before you start gdr: export "
                          "GDR_SOFT_DEVICES=soft0/ip=ADDRESS"));
  }
}

TEST(FabricWorker, RefusesStepsOfWhatIsNotOpenOrNotConnected) {
  Crew crew(3);
  // The first cannot take part, and has no rails to connect.
  EXPECT_THROW(crew.begin(0, Begin{settings(), 0, 1, /*is_whole_host=*/true}), std::runtime_error);
  ASSERT_TRUE(crew.talk(0).send(Connect{0, {Part{}}}));
  const Result<StepDone> unopened = crew.talk(0).receive<StepDone>(gdr::test::kLastResort);
  ASSERT_FALSE(unopened);
  EXPECT_EQ(unopened.error().message, "this host has no rail 0 here");

  crew.begin(1, Begin{settings(), 1, 3, /*is_whole_host=*/false});
  ASSERT_TRUE(crew.talk(1).send(Go{0, Phase::kProve}));
  const Result<StepDone> unconnected = crew.talk(1).receive<StepDone>(gdr::test::kLastResort);
  ASSERT_FALSE(unconnected);
  EXPECT_EQ(unconnected.error().message, "round 0 is not connected");
}

#ifdef GDR_FAULT_HOOKS
TEST(FaultyFabricWorker, AFlippedBitIsDamageWhereItArrives) {
  Crew crew(2, 0, "flip_bit");
  // The hook reads the byte in whichever thread moves it, so it cannot flip those of a GPU.
  Settings host = settings();
  host.host_memory = true;
  crew.begin(host);
  crew.connect(0, {{0, 1}, {1, 0}});
  const std::vector<RailResult> results = crew.go(0, Phase::kProve, {0, 1});
  expect_proved(results[0]);
  EXPECT_EQ(results[1].code, 0) << results[1].problem;
  EXPECT_EQ(results[1].received_code, 0) << results[1].received_problem;
  EXPECT_EQ(results[1].damage.kind, Damage::Kind::kBitFlipped)
      << participants::describe(results[1].damage);
}

TEST(FaultyFabricWorker, BytesThatNeverCameAndBytesInTheGuardAreDamage) {
  for (const auto& [fault, kind] : {std::pair{"drop_write", Damage::Kind::kUnchanged},
                                    std::pair{"short_last_byte", Damage::Kind::kTailMissing},
                                    std::pair{"overwrite_guard", Damage::Kind::kGuardOverwritten},
                                    std::pair{"shift_64k", Damage::Kind::kDisplaced}}) {
    Crew crew(2, 1, fault);
    crew.begin(settings());
    crew.connect(0, {{0, 1}, {1, 0}});
    const std::vector<RailResult> results = crew.go(0, Phase::kProve, {0, 1});
    EXPECT_EQ(results[0].damage.kind, kind) << fault << participants::describe(results[0].damage);
    expect_proved(results[1]);
  }
}
#endif

}  // namespace
}  // namespace gdr::fabric::test

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "fabric-worker")
    return gdr::fabric::fabric_worker_main();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
