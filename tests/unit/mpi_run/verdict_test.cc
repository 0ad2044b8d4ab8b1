#include "mpi/run/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_report.h"

namespace gdr::mpi_run {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = Verdict::Kind;

TEST(MpiRunVerdict, BytesThatLeftTheNicAreUsed) {
  const Verdict verdict = judge(made_report(100 * kMiB, 104 * kMiB));
  EXPECT_EQ(verdict.kind, Kind::kUsed);
  EXPECT_EQ(verdict.exit_status(), 0);
  EXPECT_THAT(verdict.headline, HasSubstr("Open MPI 4.1.4 moves host memory"));
  EXPECT_THAT(verdict.headline, HasSubstr("it used the software NIC (STAND-IN)"));
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("the program sent 100 MiB; 104 MiB left soft0")));
}

TEST(MpiRunVerdict, NoByteThroughTheNicIsNotUsedWithWhatToType) {
  const Verdict verdict = judge(made_report(100 * kMiB, 0));
  EXPECT_EQ(verdict.kind, Kind::kNotUsed);
  EXPECT_EQ(verdict.exit_status(), 3);
  EXPECT_EQ(verdict.headline, "Open MPI 4.1.4 did not use the software NIC (STAND-IN)");
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("0 B left the NICs")));
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("type: gdr mpi run -- --mca pml ucx")));
}

TEST(MpiRunVerdict, HalfTheBytesAreInPart) {
  const Verdict verdict = judge(made_report(100 * kMiB, 50 * kMiB));
  EXPECT_EQ(verdict.kind, Kind::kInPart);
  EXPECT_EQ(verdict.exit_status(), 3);
  EXPECT_THAT(verdict.headline, HasSubstr("used the software NIC (STAND-IN) in part"));
}

TEST(MpiRunVerdict, WhatLeavesTheNicWithoutMessagesIsNotTheMpis) {
  Report report = made_report(100 * kMiB, 100 * kMiB);
  report.program.rows[0].moved->posted = 0;
  report.program.idle->nics["soft0"].out = 10 * kMiB;  // in a tenth of a second; the row took one
  EXPECT_EQ(judge(report).kind, Kind::kNotUsed);
}

TEST(MpiRunVerdict, ARealNicIsNotCalledAStandIn) {
  Report report = made_report(100 * kMiB, 100 * kMiB);
  report.soft_nic = false;
  EXPECT_THAT(judge(report).headline, HasSubstr("it used the NIC"));
  EXPECT_THAT(judge(report).headline, Not(HasSubstr("STAND-IN")));
}

TEST(MpiRunVerdict, WithoutCountersNothingIsClaimed) {
  Report report = made_report(100 * kMiB, 100 * kMiB);
  report.program.rows[0].moved.reset();
  const Verdict verdict = judge(report);
  EXPECT_EQ(verdict.host, Way::kUnknown);
  EXPECT_EQ(verdict.kind, Kind::kUnknown);
  EXPECT_EQ(verdict.exit_status(), 3);
  EXPECT_THAT(verdict.headline, HasSubstr("no counters"));
}

TEST(MpiRunVerdict, CollectivesDoNotCountBecauseTheirTrafficIsNotKnown) {
  Report report = made_report(100 * kMiB, 100 * kMiB);
  report.program.rows.push_back(
      made_row(Measure::kAllToAll, Memory::kHost, Memory::kHost, 1000 * kMiB, 0));
  EXPECT_EQ(judge(report).kind, Kind::kUsed);
}

TEST(MpiRunVerdict, RequestsInGpuMemoryAreGpudirectRdma) {
  Report report = made_gpu_report(100 * kMiB, 100 * kMiB);
  report.program.rows[1].moved->posted_gpu = 100 * kMiB;
  report.baseline.rows.push_back({Measure::kBandwidth, Memory::kGpu, kMiB, 2.15e9});
  const Verdict verdict = judge(report);
  EXPECT_EQ(verdict.gpu, GpuWay::kDirect);
  EXPECT_EQ(verdict.kind, Kind::kUsed);
  EXPECT_EQ(verdict.headline,
            "Open MPI 4.1.4 moves GPU memory at 0.93 of what the software NIC (STAND-IN) can, 4 x "
            "staging: GPUDirect RDMA is used (STAND-INS)");
}

TEST(MpiRunVerdict, CopiesOfTheMpiAreNotGpudirectRdma) {
  Report report = made_gpu_report(100 * kMiB, 100 * kMiB);
  Row& row = report.program.rows[1];
  row.copied_to_host = 100 * kMiB;  // to compare
  row.moved->copied_to_host = 200 * kMiB;
  const Verdict verdict = judge(report);
  EXPECT_EQ(verdict.gpu, GpuWay::kStaged);
  EXPECT_EQ(verdict.kind, Kind::kInPart);
  EXPECT_THAT(verdict.headline, HasSubstr("GPUDirect RDMA is not used, it copies"));
}

TEST(MpiRunVerdict, TheProgramsOwnCopiesAreNotTheMpis) {
  Report report = made_gpu_report(100 * kMiB, 100 * kMiB);
  Row& row = report.program.rows[1];
  row.copied_to_host = row.moved->copied_to_host = 200 * kMiB;
  EXPECT_EQ(judge(report).gpu, GpuWay::kUnexplained);
}

TEST(MpiRunVerdict, RequestsWrittenIntoTheNicsQueuesShowAsRegistrations) {
  Report report = made_gpu_report(100 * kMiB, 100 * kMiB);
  report.program.rows[1].moved->posted = 0;
  report.program.rows[1].moved->gpu_regions = 2;
  EXPECT_EQ(judge(report).gpu, GpuWay::kDirect);
}

TEST(MpiRunVerdict, GpuMemoryBesideTheNicIsNotUsed) {
  const Verdict verdict = judge(made_gpu_report(100 * kMiB, 0));
  EXPECT_EQ(verdict.gpu, GpuWay::kNotByNic);
  EXPECT_EQ(verdict.kind, Kind::kInPart);  // host memory went through it
  EXPECT_THAT(verdict.headline,
              HasSubstr("did not use the software NIC (STAND-IN) for GPU memory"));
}

TEST(MpiRunVerdict, GpuMemoryThatCannotBePassedIsInPartWithTheNextCommand) {
  Report report = made_report(100 * kMiB, 100 * kMiB);
  report.wants_gpu = report.program.gpus = true;
  const Verdict verdict = judge(report);
  EXPECT_EQ(verdict.gpu, GpuWay::kRefused);
  EXPECT_EQ(verdict.kind, Kind::kInPart);
  EXPECT_THAT(verdict.headline, HasSubstr("GPU memory cannot be passed to it"));
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("type: gdr mpi check")));
}

TEST(MpiRunVerdict, GpuMemoryAloneThatCannotBePassedIsNotUsed) {
  Report report = made_report();
  report.wants_host = false;
  report.wants_gpu = report.program.gpus = true;
  const Verdict verdict = judge(report);
  EXPECT_EQ(verdict.kind, Kind::kNotUsed);
  EXPECT_EQ(verdict.headline,
            "GPU memory cannot be passed to Open MPI 4.1.4: GPUDirect RDMA is not used");
}

TEST(MpiRunVerdict, AWrongValueOutranksEverything) {
  Report report = made_report(100 * kMiB, 100 * kMiB);
  report.failure = "mpirun ended";
  report.program.rows[0].wrong = 3;
  report.program.rows[0].first_wrong = WrongValue{1, 77, 4096, 0, 0xca};
  const Verdict verdict = judge(report);
  EXPECT_EQ(verdict.kind, Kind::kWrongValues);
  EXPECT_EQ(verdict.exit_status(), 1);
  EXPECT_THAT(verdict.headline, HasSubstr("delivered wrong values: 3 of 104857600 bytes"));
  EXPECT_THAT(verdict.headline, HasSubstr("rank 1: byte 77 of 4096 is 0x00, expected 0xca"));
}

TEST(MpiRunVerdict, AJobThatDidNotEndWellHasFailedWhateverItsRows) {
  Report report = made_report(100 * kMiB, 100 * kMiB);
  report.failure = "mpirun ended after 1 row with exit status 137";
  EXPECT_EQ(judge(report).exit_status(), 1);
  EXPECT_EQ(judge(report).headline, report.failure);
  report.failure.clear();
  report.program.done = false;
  EXPECT_EQ(judge(report).kind, Kind::kFailed);
}

TEST(MpiRunReport, NamesAreShortInEveryMpisOwnForm) {
  Program program;
  for (const auto& [library, name] :
       {std::pair("Open MPI v5.0.3rc1, package: x", "Open MPI 5.0.3rc1"),
        std::pair("MPICH Version:\t4.0.2", "MPICH 4.0.2"),
        std::pair("MPICH Version:      4.3.0", "MPICH 4.3.0"),
        std::pair("Intel(R) MPI Library 2021.9 for Linux* OS", "Intel(R) MPI Library 2021.9"),
        std::pair("", "the MPI")}) {
    program.library = library;
    EXPECT_EQ(program.short_name(), name);
  }
}

}  // namespace
}  // namespace gdr::mpi_run
