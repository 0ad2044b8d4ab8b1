#include "cli/nccl_run_plan.h"

#include <gtest/gtest.h>

#include <map>

namespace gdr::cli {
namespace {

NcclPlan plan_with(const std::map<std::string, std::string>& environment, bool tee = false,
                   const std::string& folder = "/tmp/x") {
  NcclPlanInputs inputs;
  inputs.tee = tee;
  inputs.folder = folder;
  inputs.environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
  return make_nccl_plan(inputs);
}

TEST(NcclRunPlan, SetsLevelSubsystemsAndAFileForEachProcess) {
  const NcclPlan plan = plan_with({});
  EXPECT_EQ(plan.capture, NcclCapture::kFolder);
  EXPECT_EQ(plan.variables, (Variables{{"NCCL_DEBUG", "INFO"},
                                       {"NCCL_DEBUG_SUBSYS", "INIT,NET,ENV,GRAPH"},
                                       {"NCCL_DEBUG_FILE", "/tmp/x/%h.%p"}}));
  EXPECT_EQ(plan.summary,
            "set NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,NET,ENV,GRAPH, "
            "NCCL_DEBUG_FILE=/tmp/x/%h.%p");
}

TEST(NcclRunPlan, KeepsWhatIsSetAndSaysSo) {
  const NcclPlan plan =
      plan_with({{"NCCL_DEBUG", "WARN"}, {"NCCL_DEBUG_SUBSYS", "ALL"}, {"NCCL_DEBUG_FILE", "/a"}});
  EXPECT_TRUE(plan.variables.empty());
  EXPECT_EQ(plan.capture, NcclCapture::kFiles);
  EXPECT_EQ(plan.files, "/a");
  EXPECT_EQ(plan.summary,
            "nothing set; kept your NCCL_DEBUG=WARN, NCCL_DEBUG_SUBSYS=ALL, NCCL_DEBUG_FILE=/a");
}

TEST(NcclRunPlan, ReadsTheOutputWhereTheLogGoesThere) {
  EXPECT_EQ(plan_with({}, true).capture, NcclCapture::kOutput);
  EXPECT_EQ(plan_with({}, true).variables.size(), 2u);
  for (const char* file : {"/dev/stdout", "/dev/stderr", "/dev/fd/2", "/proc/self/fd/1"}) {
    EXPECT_EQ(plan_with({{"NCCL_DEBUG_FILE", file}}).capture, NcclCapture::kOutput) << file;
  }
  // The user's own file holds the log, wherever the output goes.
  EXPECT_EQ(plan_with({{"NCCL_DEBUG_FILE", "/a"}}, true).capture, NcclCapture::kFiles);
}

TEST(NcclRunPlan, KeepsNcclFromReadingThePercentSignsOfTheFolder) {
  EXPECT_EQ(plan_with({}, false, "/tmp/50%p").variables.back().second, "/tmp/50%%p/%h.%p");
}

TEST(NcclRunPlan, FindsTheFilesOfAPatternAndNoOthers) {
  EXPECT_EQ(glob_of("/a/nccl.%h.%p"), "/a/nccl.*.*");
  EXPECT_EQ(glob_of("/a/50%%h"), "/a/50%h");
  EXPECT_EQ(glob_of("/a[1]*?\\%q%"), "/a\\[1]\\*\\?\\\\%q%");
}

}  // namespace
}  // namespace gdr::cli
