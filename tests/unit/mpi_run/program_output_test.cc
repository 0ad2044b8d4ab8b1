#include "mpi/run/program_output.h"

#include <gtest/gtest.h>

namespace gdr::mpi_run {
namespace {

const char kCounters[] =
    R"({"host":"n","nics":{"soft0":[OUT,0]},"posted":0,"posted_gpu":0,"copied_to_host":0,)"
    R"("copied_to_gpu":0,"gpu_regions":0,"gpu_refused":""})";

std::string counters_with(int out) {
  std::string text = kCounters;
  return text.replace(text.find("OUT"), 3, std::to_string(out));
}

std::string row_with(const std::string& before, const std::string& after,
                     const std::string& wrong = "null") {
  return R"({"measure":"bandwidth","size":64,"from":"host","to":"staged","pairs":1,"iterations":3,)"
         R"("repetitions":[3,1,2],"seconds":0.5,"compared":10,"wrong":0,"sent":20,)"
         R"("copied_to_host":1,"copied_to_gpu":2,"wrong_of":[)" +
         wrong + R"(],"before":[)" + before + R"(],"after":[)" + after + "]}";
}

const char kHead[] =
    R"({"gdr_mpi":1,"library":"MPICH Version:4.0.2","standard":"4.0","ranks":2,"partner":1,)"
    R"("gpus":false,"gpu_name":"","why_no_gpu":"no driver","cuda_support":-1,)"
    R"("places":[{"host":"n","gpu":-1},{"host":"n","gpu":-1}],"seconds":0.1,"compared":0,)"
    R"("wrong":0,"sent":0,"copied_to_host":0,"copied_to_gpu":0,"wrong_of":[null,null],)"
    R"("before":[null,null],"after":[null,null]})";

TEST(MpiRunOutput, IsReadRowByRow) {
  ProgramOutput output;
  EXPECT_TRUE(output.take(kHead));
  EXPECT_TRUE(output.take(row_with(counters_with(10), counters_with(110))));
  EXPECT_TRUE(output.take(R"({"done":true})"));
  const Program program = output.finish();
  EXPECT_EQ(program.short_name(), "MPICH 4.0.2");
  EXPECT_EQ(program.hosts, std::vector<std::string>{"n"});
  EXPECT_FALSE(program.cuda_support.has_value());
  EXPECT_TRUE(program.done);
  ASSERT_EQ(program.rows.size(), 1u);
  const Row& row = program.rows[0];
  EXPECT_EQ(row.measure, Measure::kBandwidth);
  EXPECT_EQ(row.to, Memory::kStaged);
  EXPECT_EQ(row.median(), 2);
  ASSERT_TRUE(row.moved.has_value());
  EXPECT_EQ(row.moved->out(), 100u);
  EXPECT_FALSE(row.first_wrong.has_value());
}

TEST(MpiRunOutput, KeepsTheFirstWrongValue) {
  ProgramOutput output;
  output.take(row_with("null", "null",
                       R"(null,{"rank":1,"place":7,"of":64,"found":0,"expected":202,"wrong":1})"));
  const Program program = output.finish();
  ASSERT_TRUE(program.rows[0].first_wrong.has_value());
  EXPECT_EQ(program.rows[0].first_wrong->rank, 1);
  EXPECT_EQ(program.rows[0].first_wrong->place, 7u);
}

TEST(MpiRunOutput, CountersOfOnlySomeRanksAreNone) {
  ProgramOutput output;
  output.take(row_with("null," + counters_with(0), "null," + counters_with(5)));
  EXPECT_FALSE(output.finish().rows[0].moved.has_value());
}

TEST(MpiRunOutput, LinesOfOthersAreLeftAlone) {
  ProgramOutput output;
  for (const char* line : {"", "WARNING: There was an error initializing an OpenFabrics device.",
                           "{\"measure\":\"latency\"", "{\"measure\":\"latency\"}", "{\"a\":1}",
                           "{\"measure\":\"luck\",\"from\":\"host\",\"to\":\"host\"}", "[1]"}) {
    EXPECT_FALSE(output.take(line)) << line;
  }
  EXPECT_TRUE(output.take("[1,0]<stdout>:{\"done\":true}"));  // mpirun --tag-output
  EXPECT_TRUE(output.finish().done);
}

TEST(MpiRunOutput, TheFirstProblemIsTheReason) {
  ProgramOutput output;
  output.take(R"({"problem":"cuMemAlloc: CUDA error 2","rank":1})");
  output.take(R"({"problem":"another","rank":0})");
  EXPECT_EQ(output.finish().problem, "cuMemAlloc: CUDA error 2");
}

}  // namespace
}  // namespace gdr::mpi_run
