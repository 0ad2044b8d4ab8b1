#include "mpi/run/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soon.h"

namespace gdr::mpi_run {
namespace {

using ::testing::ElementsAre;
using How = JobEnd::How;

struct Ran {
  JobEnd end;
  std::vector<std::string> lines, words;
};

Ran run_shell(
    const std::string& script, Nanoseconds limit = test::kLastResort,
    const std::function<bool()>& stop = [] { return false; }) {
  Ran ran;
  const Result<JobEnd> end = run_job(
      {"sh", "-c", script}, limit, stop,
      [&](std::string_view line) { ran.lines.emplace_back(line); },
      [&](std::string_view line) { ran.words.emplace_back(line); });
  EXPECT_TRUE(end) << end.error().message;
  if (end) ran.end = *end;
  return ran;
}

bool lives(const std::string& pid) { return kill(std::stoi(pid), 0) == 0; }

TEST(MpiRunJob, LinesOfBothOutputsComeWhole) {
  const Ran ran = run_shell("printf 'one\\ntwo'; echo words >&2");
  EXPECT_THAT(ran.lines, ElementsAre("one", "two"));
  EXPECT_THAT(ran.words, ElementsAre("words"));
  EXPECT_EQ(ran.end.how, How::kItself);
  EXPECT_EQ(ran.end.killed, 0u);
}

TEST(MpiRunJob, ItsStatusIsTheLaunchers) {
  EXPECT_EQ(WEXITSTATUS(run_shell("exit 7").end.status), 7);
  EXPECT_EQ(WTERMSIG(run_shell("kill -9 $$").end.status), SIGKILL);
}

TEST(MpiRunJob, WhatTheLauncherLeavesBehindEndsWithIt) {
  const Ran ran = run_shell("setsid sleep 600 & echo $!");
  EXPECT_EQ(ran.end.how, How::kItself);
  ASSERT_EQ(ran.lines.size(), 1u);
  EXPECT_FALSE(lives(ran.lines[0]));
  EXPECT_GE(ran.end.killed, 1u);
}

TEST(MpiRunJob, AHangingLauncherIsEndedWithAllThatLeftItsGroup) {
  Ran ran;
  for (Nanoseconds limit = kSecond / 2; ran.lines.size() < 2 && limit < test::kLastResort;
       limit *= 2) {
    ran = run_shell(
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$; sleep 601; sleep 602' & echo $$; "
        "sleep 603; sleep 604",
        limit);
    EXPECT_EQ(ran.end.how, How::kTimedOut);
  }
  ASSERT_EQ(ran.lines.size(), 2u);
  for (const std::string& pid : ran.lines) EXPECT_FALSE(lives(pid));
}

TEST(MpiRunJob, ALauncherThatEndsWhenAskedIsNotKilled) {
  Ran ran;
  for (Nanoseconds limit = kSecond / 2; ran.lines.empty() && limit < test::kLastResort;
       limit *= 2) {
    ran = run_shell("trap 'echo asked; exit 3' TERM; while :; do sleep 0.05; done", limit);
    EXPECT_EQ(ran.end.how, How::kTimedOut);
  }
  EXPECT_THAT(ran.lines, ElementsAre("asked"));
}

TEST(MpiRunJob, WhoeverStopsItEndsIt) {
  EXPECT_EQ(run_shell("sleep 605", test::kLastResort, [] { return true; }).end.how, How::kStopped);
}

TEST(MpiRunJob, AMissingLauncherIsAnError) {
  const auto ignore = [](std::string_view) {};
  EXPECT_FALSE(run_job(
      {"/nowhere/mpirun"}, kSecond, [] { return false; }, ignore, ignore));
}

TEST(MpiRunJob, ProcessesOfTheCallerAreLeftAlone) {
  const pid_t own = fork();
  if (own == 0) {
    pause();
    _exit(0);
  }
  run_shell("true");
  EXPECT_EQ(waitpid(own, nullptr, WNOHANG), 0);
  kill(own, SIGKILL);
  waitpid(own, nullptr, 0);
}

TEST(MpiRunJob, TheLineThatTellsMostIsShown) {
  EXPECT_EQ(telling_line({"-----", "Primary job terminated normally",
                          "mpirun noticed that process rank 1 with PID 7 on node a exited on "
                          "signal 9 (Killed).",
                          "-----"}),
            "mpirun noticed that process rank 1 with PID 7 on node a exited on signal 9 (Killed).");
  EXPECT_EQ(telling_line({"hello", "-----", ""}), "hello");
  EXPECT_EQ(telling_line({"srun: \x1b[1merror: no"}), "srun:  [1merror: no");
  EXPECT_EQ(telling_line({}), "");
}

}  // namespace
}  // namespace gdr::mpi_run
