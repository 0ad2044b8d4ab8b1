#include <gtest/gtest.h>

#include <cerrno>

#include "watching/reasons.h"
#include "watching/report.h"

namespace gdr::watching {
namespace {

using ledger::Memory;

QueuePair connected_pair() {
  QueuePair pair;
  pair.device = "mlx5_0";
  pair.type = 2;
  pair.state = 3;
  pair.peer_number = 17;
  return pair;
}

// A program with a connected queue pair that wrote this much from host and GPU memory.
Observations program_that_wrote(std::uint64_t host, std::uint64_t gpu) {
  Observations seen;
  seen.program.name = "train";
  seen.seconds = 2;
  seen.has_nic = true;
  Process process;
  process.pid = 10;
  process.libraries = ledger::kVerbs | ledger::kCuda;
  seen.calls.processes.push_back(process);
  QueuePair pair = connected_pair();
  pair.counts.bytes[ledger::kBytesOut][0] = host;
  pair.counts.bytes[ledger::kBytesOut][1] = gpu;
  if (host + gpu > 0) pair.counts.operations[ledger::kWrites] = 1;
  seen.calls.devices.push_back({"mlx5_0", 1, pair.counts});
  seen.calls.queue_pairs.push_back(pair);
  return seen;
}

Region region(Memory memory, int error = 0) {
  Region one;
  one.device = "mlx5_0";
  one.memory = memory;
  one.bytes = 4096;
  one.error = error;
  one.gpu = memory == Memory::kGpu ? "0000:17:00.0" : "";
  return one;
}

std::string all_reasons(const Report& report) {
  std::string all;
  for (const std::string& one : report.reasons) all += one + "\n";
  return all;
}

TEST(WatchVerdict, IsDirectWhereMostBytesAreGpuMemory) {
  const Report report = judge(program_that_wrote(1000, 9000));
  EXPECT_EQ(report.verdict, Verdict::kDirect);
  EXPECT_EQ(report.headline, "direct: 8.8 KiB of 9.8 KiB over RDMA went from or into GPU memory");
}

TEST(WatchVerdict, IsDirectInPartWhereTheOtherBytesWereNotCopied) {
  const Report report = judge(program_that_wrote(9000, 1000));
  EXPECT_EQ(report.verdict, Verdict::kDirect);
  EXPECT_EQ(report.headline.find("direct in part"), 0U);
}

TEST(WatchVerdict, IsStagedWhereHostBytesWereCopiedBetweenHostAndGpu) {
  Observations seen = program_that_wrote(10000, 0);
  seen.calls.processes[0].to_host = 6000;
  const Report report = judge(seen);
  EXPECT_EQ(report.verdict, Verdict::kStaged);
  EXPECT_NE(all_reasons(report).find("never tried to register GPU memory"), std::string::npos);
}

TEST(WatchVerdict, IsHostWhereFewBytesWereCopied) {
  Observations seen = program_that_wrote(10000, 0);
  seen.calls.processes[0].to_host = 100;
  const Report report = judge(seen);
  EXPECT_EQ(report.verdict, Verdict::kHost);
  EXPECT_NE(all_reasons(report).find("are too few"), std::string::npos);
}

TEST(WatchVerdict, NamesTheRefusedRegistrationBehindStaging) {
  Observations seen = program_that_wrote(10000, 0);
  seen.calls.processes[0].to_gpu = 10000;
  seen.calls.regions = {region(Memory::kHost), region(Memory::kGpu, EFAULT)};
  const Report report = judge(seen);
  EXPECT_EQ(report.verdict, Verdict::kStaged);
  EXPECT_NE(
      all_reasons(report).find("mlx5_0 refused to register GPU memory by its address: Bad address"),
      std::string::npos)
      << all_reasons(report);
}

TEST(WatchVerdict, IsDirectForASideThatOnlyOffersGpuMemory) {
  Observations seen = program_that_wrote(0, 0);
  seen.calls.regions = {region(Memory::kGpu)};
  EXPECT_EQ(judge(seen).verdict, Verdict::kNone);  // nobody may reach it
  seen.calls.regions[0].remote = true;
  EXPECT_EQ(judge(seen).verdict, Verdict::kDirect);
  seen.calls.regions[0].error = EFAULT;
  EXPECT_EQ(judge(seen).verdict, Verdict::kNone);
}

TEST(WatchVerdict, TellsOfRequestsThatReachTheNicPastTheLibrary) {
  Observations seen = program_that_wrote(0, 0);
  seen.calls.regions = {region(Memory::kGpu)};
  seen.ports["mlx5_0"] = {1 << 20, 0};
  EXPECT_EQ(judge(seen).verdict, Verdict::kNone);  // somebody else's packets
  seen.calls.processes[0].libraries |= ledger::kMlx5;
  const Report report = judge(seen);
  EXPECT_EQ(report.verdict, Verdict::kDirect);
  EXPECT_NE(all_reasons(report).find("only the port counters"), std::string::npos);
}

TEST(WatchVerdict, SaysHowFarAProgramCameThatMovedNothing) {
  Observations seen = program_that_wrote(0, 0);
  EXPECT_NE(all_reasons(judge(seen)).find("made 1 queue pair on mlx5_0 and moved no bytes"),
            std::string::npos);
  seen.calls.queue_pairs.clear();
  EXPECT_NE(all_reasons(judge(seen)).find("opened mlx5_0 and made no queue pair"),
            std::string::npos);
  seen.calls.devices.clear();
  EXPECT_NE(all_reasons(judge(seen)).find("opened no device"), std::string::npos);
  seen.has_nic = false;
  EXPECT_NE(all_reasons(judge(seen)).find("gdr watch -- gdr run -- train"), std::string::npos);
  seen.calls.processes[0].libraries = ledger::kUcx;
  EXPECT_NE(all_reasons(judge(seen)).find("without its InfiniBand part"), std::string::npos);
}

TEST(WatchVerdict, SaysWhyNothingCouldBeSeen) {
  Observations seen;
  seen.program.name = "train";
  seen.program.is_static = true;
  EXPECT_NE(all_reasons(judge(seen)).find("train is statically linked"), std::string::npos);
  seen.program.is_static = false;
  seen.program.is_privileged = true;
  EXPECT_NE(all_reasons(judge(seen)).find("set-user-ID"), std::string::npos);
}

TEST(WatchVerdict, NamesAProcessWithRdmaThatWasNotWatched) {
  Observations seen = program_that_wrote(10, 0);
  seen.processes[11] = {"helper", ledger::kVerbs, false, true, 0};
  EXPECT_NE(all_reasons(judge(seen)).find("not seen: the calls of helper (process 11)"),
            std::string::npos);
}

TEST(WatchReport, GroupsEqualRegistrations) {
  Observations seen = program_that_wrote(10, 10);
  seen.grades[{"0000:17:00.0", "mlx5_0"}] = "PIX";
  seen.calls.regions = {region(Memory::kGpu), region(Memory::kGpu), region(Memory::kHost)};
  const Report report = judge(seen);
  ASSERT_EQ(report.regions.size(), 2U);
  EXPECT_EQ(report.regions[0].count, 2U);
  EXPECT_EQ(report.regions[0].grade, "PIX");
  EXPECT_NE(to_text(report).find("GPU 0000:17:00.0, peer memory  PIX"), std::string::npos)
      << to_text(report);
}

}  // namespace
}  // namespace gdr::watching
