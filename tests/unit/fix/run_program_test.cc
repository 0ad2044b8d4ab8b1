#include "fix/run_program.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scratch_folder.h"
#include "soon.h"

namespace gdr::fix {
namespace {

TEST(RunProgram, KeepsStandardOutputAndError) {
  const Result<Ran> ran = run_program({"sh", "-c", "echo out; echo err >&2"});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->status, 0);
  EXPECT_EQ(ran->output, "out\nerr\n");
}

TEST(RunProgram, TellsHowItEnded) {
  EXPECT_EQ(run_program({"sh", "-c", "exit 7"})->status, 7);
  EXPECT_EQ(run_program({"false"})->status, 1);
  EXPECT_EQ(run_program({"sh", "-c", "kill -TERM $$"})->status, 128 + SIGTERM);
}

TEST(RunProgram, KeepsTheFirstOfWhatIsWrittenWithoutEnd) {
  const Result<Ran> ran = run_program({"sh", "-c", "echo begin; head -c 3000000 /dev/zero"});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->output.size(), 64u * 1024);
  EXPECT_TRUE(ran->output.starts_with("begin\n"));
}

TEST(RunProgram, ThatIsNotInstalledIsSaidByItsName) {
  for (const char* name : {"no-such-program-of-gdrkit", ""}) {
    const Result<Ran> ran = run_program({name});
    ASSERT_FALSE(ran) << name;
    EXPECT_EQ(ran.error().code, ENOENT);
  }
  EXPECT_EQ(run_program({"no-such-program"}).error().message, "no-such-program is not installed");
  EXPECT_EQ(run_program({}).error().code, EINVAL);
}

// Not there any more, or waiting to be reaped by whoever adopted it.
bool has_ended(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  return text.empty() || text.find(") Z ") != std::string::npos;
}

TEST(RunProgram, ThatHangsIsEndedAtItsLimitWithWhatItStarted) {
  const std::string mark =
      (std::filesystem::temp_directory_path() / ("gdr-hangs-" + std::to_string(getpid()))).string();
  std::string child;
  for (Nanoseconds limit = kSecond / 2; child.empty() && limit < test::kLastResort; limit *= 2) {
    const Result<Ran> ran =
        run_program({"sh", "-c", "sleep 600 & echo $! >" + mark + "; wait"}, limit);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, ETIMEDOUT);
    EXPECT_NE(ran.error().message.find("sh did not end within"), std::string::npos);
    std::ifstream(mark) >> child;
  }
  std::filesystem::remove(mark);
  ASSERT_FALSE(child.empty());
  EXPECT_TRUE(test::soon([&] { return has_ended(child); }));
}

TEST(RunProgram, ThatWritesWithoutEndIsEndedAtItsLimit) {
  const Result<Ran> ran = run_program({"yes"}, kSecond / 4);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ETIMEDOUT);
}

// nvidia-persistenced and its like: the program ends, what it started stays and holds the pipe.
TEST(RunProgram, IsNotWaitedForBecauseOfADaemonThatItLeavesBehind) {
  const Result<Ran> ran = run_program({"sh", "-c", "sleep 600 & echo $!"});
  ASSERT_TRUE(ran);
  ASSERT_FALSE(ran->output.empty());
  EXPECT_FALSE(has_ended(ran->output.substr(0, ran->output.find('\n'))));
  EXPECT_EQ(kill(std::stoi(ran->output), SIGKILL), 0);
}

TEST(RunProgram, HandsItsWordsOverAsTheyAreWithoutAShell) {
  const std::string hostile = "$(touch /tmp/gdr-owned); `id` | cat > x && *";
  const Result<Ran> ran = run_program({"printf", "%s|%s", hostile, ""});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->output, hostile + "|");
  EXPECT_FALSE(std::filesystem::exists("/tmp/gdr-owned"));
}

TEST(RunProgram, GetsNothingOfTheCallersEnvironment) {
  setenv("LD_PRELOAD", "/no/such/library.so", 1);
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  setenv("GDR_TEST_SECRET", "1", 1);
  const Result<Ran> ran = run_program({"env"});
  unsetenv("LD_PRELOAD");
  unsetenv("LC_ALL");
  unsetenv("GDR_TEST_SECRET");
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->output, "PATH=/usr/sbin:/usr/bin:/sbin:/bin\nLC_ALL=C\n");
}

TEST(RunProgram, IsFoundNowhereButInTheSystemsFolders) {
  const test::ScratchFolder scratch;
  const std::string folder = scratch.root();
  for (const char* name : {"/modprobe-of-gdrkit", "/true"}) {
    std::ofstream(folder + name) << "#!/bin/sh\necho taken\n";
    std::filesystem::permissions(folder + name, std::filesystem::perms::owner_all);
  }
  const std::string path = getenv("PATH");
  setenv("PATH", (folder + ":" + path).c_str(), 1);
  const Result<Ran> unknown = run_program({"modprobe-of-gdrkit"});
  const Result<Ran> known = run_program({"true"});
  const Result<Ran> by_path = run_program({folder + "/true"});
  const Result<Ran> by_relative_path = run_program({"../.." + folder + "/true"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(unknown);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->output, "") << "the system's, and not the one that comes first in PATH";
  EXPECT_FALSE(by_path);
  EXPECT_FALSE(by_relative_path);
}

TEST(RunProgram, ReadsNothingFromTheTerminal) {
  const Result<Ran> ran = run_program({"cat"}, test::kLastResort);
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(ran->output, "");
}

}  // namespace
}  // namespace gdr::fix
