#include "perf/statistics/clock.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "soon.h"

namespace gdr::perf {
namespace {

// 3 ticks a nanosecond.
const TickClock::Moment kStart{5'000'000, 70'000'000};
const TickClock::Moment kCalibrated{5'000'000 + 60'000'000, 70'000'000 + 20'000'000};

void sleep_for(Nanoseconds interval) {
  const timespec time{static_cast<time_t>(interval / kSecond),
                      static_cast<long>(interval % kSecond)};
  nanosleep(&time, nullptr);
}

TEST(TickClock, AgreesWithTheSystemsClockWithinOneIn10000) {
  const TickClock clock = TickClock::calibrate();
  const TickClock::Moment start = TickClock::moment();
  sleep_for(100 * kMillisecond);
  const TickClock::Moment end = TickClock::moment();
  const auto expected = static_cast<double>(end.nanoseconds - start.nanoseconds);
  EXPECT_NEAR(clock.nanoseconds(end.ticks - start.ticks), expected, expected / 10'000);
  EXPECT_LT(std::abs(clock.report().drift), 1e-4);
  EXPECT_EQ(clock.report().invariant, kInvariantCounter);
}

TEST(TickClock, NeverGoesBackFromOneProcessorToTheNext) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  Ticks last = ticks();
  for (int round = 0; round < 20; ++round) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      const Ticks now = ticks();
      EXPECT_GE(now, last);
      last = now;
    }
  }
  EXPECT_EQ(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

TEST(TickClock, IsTheCounterWhereTheKernelFindsItInvariant) {
  std::ifstream processors("/proc/cpuinfo");
  std::string line;
  while (std::getline(processors, line) && !line.starts_with("flags")) {
  }
  if (line.empty()) GTEST_SKIP() << "/proc/cpuinfo has no flags";
  EXPECT_EQ(kInvariantCounter, (line + " ").find(" nonstop_tsc ") != std::string::npos);
}

TEST(TickClock, TakesItsRateFromTwoMoments) {
  if (!kInvariantCounter) GTEST_SKIP() << "this processor has no invariant counter";
  const TickClock clock(kStart, kCalibrated);
  EXPECT_DOUBLE_EQ(clock.ticks_per_second(), 3e9);
  EXPECT_DOUBLE_EQ(clock.nanoseconds(3000), 1000);
  EXPECT_EQ(clock.ticks_in(kMicrosecond), 3000u);
}

TEST(TickClock, TellsHowFarTheCounterDriftedDuringTheRun) {
  if (!kInvariantCounter) GTEST_SKIP() << "this processor has no invariant counter";
  const TickClock clock(kStart, kCalibrated);
  const auto drift_after = [&](Ticks passed) {
    return clock.report({kStart.ticks + passed, kStart.nanoseconds + kSecond}).drift;
  };
  EXPECT_NEAR(drift_after(3'000'000'000), 0, 1e-12);
  EXPECT_NEAR(drift_after(3'003'000'000), 0.001, 1e-9);
  EXPECT_NEAR(drift_after(2'997'000'000), -0.001, 1e-9);
  EXPECT_DOUBLE_EQ(clock.report(kCalibrated).ticks_per_second, 3e9);
}

TEST(TickClock, TakesATickForANanosecondWhereNoTimeWentBy) {
  const TickClock clock(kStart, kStart);
  EXPECT_DOUBLE_EQ(clock.nanoseconds(1000), 1000);
  EXPECT_EQ(clock.report(kStart).drift, 0);
}

TEST(TickClock, TakesAnEndlessIntervalForItsLongest) {
  if (!kInvariantCounter) GTEST_SKIP() << "this processor has no invariant counter";
  const TickClock clock(kStart, kCalibrated);
  EXPECT_EQ(clock.ticks_in(std::numeric_limits<Nanoseconds>::max()),
            std::numeric_limits<Ticks>::max());
}

TEST(TickClock, CalibratesForAsLongAsItIsTold) {
  const Nanoseconds start = now();
  TickClock::calibrate(30 * kMillisecond);
  const Nanoseconds passed = now() - start;
  EXPECT_GE(passed, 29 * kMillisecond);
  EXPECT_LT(passed, test::kLastResort);
}

}  // namespace
}  // namespace gdr::perf
