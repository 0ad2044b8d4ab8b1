// The threads that carry bytes beside the engine thread.
#include "local/copy_crew.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "processor_time.h"
#include "soon.h"

namespace gdr::local {
namespace {

int threads_named(const std::string& name);

// A thread names itself.
int threads_in_the_end(const std::string& name, int wanted) {
  (void)test::soon([&] { return threads_named(name) == wanted; });
  return threads_named(name);
}

int threads_named(const std::string& name) {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* task = readdir(tasks)) {
    std::ifstream file("/proc/self/task/" + std::string(task->d_name) + "/comm");
    std::string text;
    if (std::getline(file, text) && text == name) ++count;
  }
  closedir(tasks);
  return count;
}

Carry carry(std::vector<std::uint8_t>& staging, std::vector<std::uint8_t>& memory, bool in,
            Carry::By by = Carry::By::kTouching) {
  return {by,
          {getpid(), {}},
          staging.data(),
          reinterpret_cast<std::uint64_t>(memory.data()),
          memory.size(),
          in};
}

void wait_for(const CrewJob& job) {
  EXPECT_TRUE(test::soon([&] { return job.has_ended(); }));
}

TEST(CopyCrew, HasNoThreadsBeforeTheyAreExpectedAndNoMoreThanItMay) {
  CopyCrew crew(3);
  EXPECT_EQ(threads_named("gdr-copy"), 0);
  crew.expect(2);
  EXPECT_EQ(threads_in_the_end("gdr-copy", 2), 2);
  crew.expect(8);
  EXPECT_EQ(threads_in_the_end("gdr-copy", 3), 3);
  usleep(10'000);
  EXPECT_EQ(threads_named("gdr-copy"), 3);
}

TEST(CopyCrew, EndsItsThreadsWithItself) {
  { CopyCrew(4).expect(4); }
  EXPECT_EQ(threads_in_the_end("gdr-copy", 0), 0);
}

TEST(CopyCrew, CarriesBothWaysByWhicheverMeans) {
  CopyCrew crew(2);
  crew.expect(2);
  for (const auto by : {Carry::By::kTouching, Carry::By::kKernelHere, Carry::By::kKernelThere}) {
    for (const bool in : {false, true}) {
      for (const std::size_t bytes : {1, 63, 64, 65, 100'001}) {
        std::vector<std::uint8_t> staging(bytes), memory(bytes);
        for (std::size_t i = 0; i < bytes; ++i) {
          staging[i] = static_cast<std::uint8_t>(i * 7 + 1);
          memory[i] = static_cast<std::uint8_t>(i * 5 + 2);
        }
        const std::vector<std::uint8_t> expected = in ? memory : staging;
        CrewJob job;
        crew.add(job, carry(staging, memory, in, by));
        wait_for(job);
        EXPECT_EQ(job.error(), 0);
        EXPECT_EQ(staging, expected);
        EXPECT_EQ(memory, expected);
      }
    }
  }
}

TEST(CopyCrew, TellsOfMemoryThatIsNotThere) {
  CopyCrew crew(1);
  crew.expect(1);
  std::vector<std::uint8_t> staging(4096);
  CrewJob job;
  crew.add(job, {Carry::By::kKernelThere, {getpid(), {}}, staging.data(), 4096, 4096, false});
  wait_for(job);
  EXPECT_EQ(job.error(), EFAULT);
}

// As an initiator that was stopped and cut off: its threads must touch nothing then.
TEST(CopyCrew, CarriesNothingToAnotherProcessOnceItsRightHasEnded) {
  CopyCrew crew(1);
  crew.expect(1);
  const std::atomic<std::uint64_t> epoch{1};
  std::vector<std::uint8_t> staging(4096, 1), memory(4096, 2);
  Carry late = carry(staging, memory, false, Carry::By::kKernelThere);
  late.process.held = {&epoch, 0};
  CrewJob job;
  crew.add(job, late);
  wait_for(job);
  EXPECT_EQ(job.error(), ECANCELED);
  EXPECT_EQ(memory[0], 2);
}

TEST(CopyCrew, DoesWhatIsAddedWhileItsThreadsSleepAndUsesNoProcessorMeanwhile) {
  CopyCrew crew(3);
  crew.expect(3);
  usleep(20'000);
  const Nanoseconds before = test::processor_time();
  usleep(300'000);
  EXPECT_LT(test::processor_time() - before, 20 * kMillisecond);
  std::vector<std::uint8_t> staging(4096, 1), memory(4096, 2);
  for (int i = 0; i < 20; ++i) {
    CrewJob job;
    crew.add(job, carry(staging, memory, i % 2 == 0));
    wait_for(job);
    if (i % 5 == 0) usleep(2000);
  }
}

TEST(CopyCrew, WhatIsTakenBackIsNotBegunAndWhatIsNotEnds) {
  CopyCrew crew(2);
  crew.expect(2);
  int taken_back = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint8_t> staging(64 << 10, 1);
    std::vector<std::vector<std::uint8_t>> memory(8, std::vector<std::uint8_t>(64 << 10, 2));
    std::array<CrewJob, 8> jobs;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      crew.add(jobs[i], carry(staging, memory[i], false));
    for (CrewJob& job : jobs) {
      if (crew.take_back(job)) {
        ++taken_back;
        EXPECT_FALSE(job.has_ended());
      } else {
        wait_for(job);
      }
    }
  }
  EXPECT_GT(taken_back, 0);
}

#ifdef GDR_FAULT_HOOKS
TEST(CopyCrew, HasAsManyThreadsAsTheVariableSays) {
  ASSERT_EQ(setenv("GDR_TEST_COPY_THREADS", "5", 1), 0);
  EXPECT_EQ(CopyCrew().size(), 5u);
  ASSERT_EQ(setenv("GDR_TEST_COPY_THREADS", "0", 1), 0);
  EXPECT_EQ(CopyCrew().size(), 0u);
  ASSERT_EQ(unsetenv("GDR_TEST_COPY_THREADS"), 0);
}
#endif

}  // namespace
}  // namespace gdr::local
