#include "explain/nccl_log.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gdr::explain {
namespace {

struct Read {
  Explanation explanation;
  nccl::Report report;
};

Read read(const std::string& text) {
  Recogniser recogniser;
  recogniser.feed(text);
  nccl::LogReader log;
  log.feed(text);
  return {recogniser.finish(), nccl::judge(log.finish(), nccl::Expectation::kGdrdma)};
}

bool has(const std::vector<nccl::Cause>& causes, const std::string& id) {
  return std::any_of(causes.begin(), causes.end(),
                     [&](const nccl::Cause& cause) { return cause.id == id; });
}

const std::string kPlain =
    "n:5:9 [0] NCCL INFO NCCL version 2.19.4+cuda12.4\n"
    "n:5:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0\n"
    "n:5:9 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0\n";
const std::string kFirmware =
    "n:5:9 [0] NCCL WARN NET/IB : Got async event : local catastrophic error\n";

TEST(NcclLog, TellsTheJudgeWhatTheRecogniserKnows) {
  Read log = read(kPlain + kFirmware);
  ASSERT_FALSE(has(log.report.also, "nic-event"));
  add_symptoms(log.explanation, log.report);
  ASSERT_TRUE(has(log.report.also, "nic-event"));
  const nccl::Cause& cause = log.report.also.back();
  ASSERT_TRUE(cause.evidence);
  EXPECT_EQ(cause.evidence->line, 4u);
  EXPECT_FALSE(cause.next.empty());
}

TEST(NcclLog, DoesNotTellTwiceWhatTheJudgeTellsByTheSameLine) {
  Read log = read(kPlain + "n:5:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'x'\n");
  const std::size_t causes = log.report.causes.size() + log.report.also.size();
  ASSERT_EQ(log.explanation.found.size(), 1u);
  add_symptoms(log.explanation, log.report);
  EXPECT_EQ(log.report.causes.size() + log.report.also.size(), causes);
}

TEST(NcclLog, PutsAnErrorInFrontWhereNothingWasConnected) {
  Read log = read(kFirmware);
  ASSERT_EQ(log.report.verdict, nccl::Verdict::kNoConnections);
  add_symptoms(log.explanation, log.report);
  ASSERT_FALSE(log.report.causes.empty());
  EXPECT_EQ(log.report.causes.front().id, "nic-event");
}

TEST(NcclLog, TellsExplainWhatTheConnectionsSay) {
  const Read log = read(kPlain);
  EXPECT_TRUE(log.explanation.found.empty());
  ASSERT_TRUE(says_more(log.report));
  const std::string text = connections_text(log.report, log.explanation);
  EXPECT_TRUE(text.starts_with("NO GDRDMA: 0 of 2 network connections use GPUDirect RDMA\n"))
      << text;
  EXPECT_NE(text.find("  why  "), std::string::npos) << text;
}

TEST(NcclLog, SaysNothingMoreOfALogInWhichAllIsWell) {
  EXPECT_FALSE(says_more(
      read("n:5:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA\n").report));
}

}  // namespace
}  // namespace gdr::explain
