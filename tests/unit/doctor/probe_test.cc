#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "doctor/probe/command.h"
#include "doctor/probe/cuda_facts.h"
#include "doctor/probe/nvml_facts.h"
#include "process/apart.h"
#include "soon.h"

namespace gdr::doctor {
namespace {

using process::apart;

TEST(Apart, BringsTheAnswerBack) {
  const Result<NvmlFacts> facts = apart<NvmlFacts>("it", gdr::test::kLastResort, [] {
    NvmlFacts told;
    told.driver_version = "580.95.05";
    told.gpus.resize(3);
    return told;
  });
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->driver_version, "580.95.05");
  EXPECT_EQ(facts->gpus.size(), 3u);
}

TEST(Apart, SurvivesACrash) {
  const Result<NvmlFacts> facts =
      apart<NvmlFacts>("the driver", gdr::test::kLastResort, []() -> NvmlFacts {
        raise(SIGKILL);
        return {};
      });
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, ECONNRESET);
  EXPECT_EQ(facts.error().message, "the driver ended its process: signal 9 (Killed)");
}

TEST(Apart, EndsWhatHangs) {
  const Nanoseconds start = now();
  const Result<NvmlFacts> facts = apart<NvmlFacts>("the driver", kSecond / 5, []() -> NvmlFacts {
    for (;;) pause();
  });
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, ETIMEDOUT);
  EXPECT_LT(now() - start, gdr::test::kLastResort);
}

TEST(Command, SaysWhatItPrintedAndHowItEnded) {
  const CommandAnswer answer =
      run_command({"sh", "-c", "echo out; echo err >&2; exit 3"}, gdr::test::kLastResort);
  EXPECT_TRUE(answer.found);
  EXPECT_EQ(answer.status, 3);
  EXPECT_EQ(answer.output, "out\nerr\n");
}

TEST(Command, ThatIsNotThereIsNotFound) {
  EXPECT_FALSE(run_command({"no-such-program-of-gdrkit"}, kSecond).found);
  EXPECT_FALSE(run_command({}, kSecond).found);
}

// Not there any more, or waiting to be reaped by whoever adopted it.
bool has_ended(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  return text.empty() || text.find(") Z ") != std::string::npos;
}

TEST(Command, IsEndedWithWhatItStarted) {
  std::string child;
  for (Nanoseconds limit = kSecond / 2; child.empty() && limit < gdr::test::kLastResort;
       limit *= 2) {
    const CommandAnswer answer = run_command({"sh", "-c", "sleep 600 & echo $!; wait"}, limit);
    EXPECT_TRUE(answer.timed_out);
    child = answer.output.substr(0, answer.output.find('\n'));
  }
  ASSERT_NE(child, "");
  EXPECT_TRUE(gdr::test::soon([&] { return has_ended(child); })) << child;
}

TEST(Command, ThatPrintsWithoutEndIsCutShort) {
  const CommandAnswer answer =
      run_command({"sh", "-c", "yes | head -c 3000000"}, gdr::test::kLastResort);
  EXPECT_EQ(answer.output.size(), 1u << 20);
  EXPECT_EQ(answer.status, 0);
}

TEST(CudaFacts, OfALibraryThatIsNotThereSayWhy) {
  const CudaFacts facts = ask_cuda("libcuda-that-is-not-there.so.1");
  EXPECT_NE(facts.problem, "");
  EXPECT_TRUE(facts.gpus.empty());
  EXPECT_TRUE(try_exports("libcuda-that-is-not-there.so.1").gpus.empty());
}

TEST(CudaFacts, OfTheStandInNameItAndNothingElse) {
  const std::string stand_in = GDR_SOFT_CUDA;
  const Result<CudaFacts> facts =
      apart<CudaFacts>("it", gdr::test::kLastResort, [&stand_in] { return ask_cuda(stand_in); });
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_TRUE(facts->stand_in);
  EXPECT_TRUE(facts->gpus.empty());
}

}  // namespace
}  // namespace gdr::doctor
