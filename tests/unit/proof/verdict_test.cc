#include "proof/verdict.h"

#include <gtest/gtest.h>

namespace gdr::proof {
namespace {

Check check(const std::string& title, Status status, Direction direction = {}) {
  Check result;
  result.mode = result.title = title;
  result.from_nic = "a";
  result.to_nic = "b";
  result.direction = direction;
  result.status = status;
  result.transfers = 1;
  if (status == Status::kFailed) {
    result.symptom = Symptom::kBitFlipped;
    result.failed = 1;
    result.reason = "one bit flipped";
    result.advice = {{"first cause", "second cause"}, text::Command("next command")};
  } else if (status == Status::kNotProved) {
    result.reason = "raw frames need two NIC ports";
  }
  return result;
}

RegistrationResult registration(bool ok) {
  RegistrationResult result;
  result.ok = ok;
  if (!ok) result.detail = "no peer-memory client";
  return result;
}

struct Situation {
  VerdictInput input;
  Report report;
  Verdict verdict() const { return decide(input, report); }
};

Situation on_hardware() {
  Situation situation;
  situation.input.machine_has_nic = situation.input.machine_has_gpu = true;
  situation.report.registrations = {registration(true)};
  situation.report.checks = {check("RC write", Status::kProved)};
  return situation;
}

Situation on_stand_ins() {
  Situation situation = on_hardware();
  situation.input.machine_has_nic = situation.input.machine_has_gpu = false;
  situation.report.inventory.soft_nic = situation.report.inventory.soft_gpu = true;
  return situation;
}

TEST(Verdict, OfAFailureWithoutAddressSpaceNamesThatFirst) {
  Situation situation = on_hardware();
  situation.input.address_space_shortage = "this process may map only 512 MiB";
  EXPECT_TRUE(situation.verdict().causes.empty()) << "nothing has failed";
  situation.input.obstacle =
      Obstacle{{"no memory"}, {"another cause"}, text::Command("another command")};
  EXPECT_EQ(situation.verdict().causes,
            (std::vector<std::string>{"this process may map only 512 MiB", "another cause"}));
  EXPECT_EQ(situation.verdict().next.text(), "another command") << "the limit is not ours to lift";
  situation.input.may_lift_shortage = true;
  EXPECT_EQ(situation.verdict().next.text(), "ulimit -v unlimited");
  situation.report.inventory.soft_nic = situation.report.inventory.soft_gpu = true;
  EXPECT_EQ(situation.verdict().causes,
            std::vector<std::string>{"this process may map only 512 MiB"})
      << "of stand-ins";
}

TEST(Verdict, OnHardwareIsProved) {
  const Verdict verdict = on_hardware().verdict();
  EXPECT_EQ(headline(verdict), "PROVED");
  EXPECT_EQ(verdict.exit_status(), 0);
  EXPECT_TRUE(verdict.replaced.empty());
}

TEST(Verdict, OnStandInsSaysFirstThatItWasASimulationAndSucceeds) {
  const Situation situation = on_stand_ins();
  EXPECT_EQ(headline(situation.verdict()), "SIMULATION PASSED: no real GPU or NIC was tested");
  EXPECT_EQ(situation.verdict().exit_status(), 0);
  EXPECT_EQ(situation.verdict().replaced, (std::vector<std::string>{"RDMA NIC", "GPU"}));
}

// A GPU host whose NIC has left the bus: the GPU's memory was right, over a software NIC.
Situation with_a_lost_nic() {
  Situation situation = on_stand_ins();
  situation.report.inventory.soft_gpu = false;
  situation.input.machine_has_gpu = true;
  situation.input.replaced =
      Obstacle{{"this machine has no RDMA device"}, {"NIC: its driver"}, text::Command("lspci")};
  return situation;
}

TEST(Verdict, OfOneRealPartIsIncompleteAndNoSuccess) {
  const Verdict verdict = with_a_lost_nic().verdict();
  EXPECT_EQ(headline(verdict), "INCOMPLETE: the RDMA NIC was simulated, the GPU is real");
  EXPECT_EQ(verdict.exit_status(), 3);
  EXPECT_EQ(verdict.replaced, std::vector<std::string>{"RDMA NIC"});
  EXPECT_EQ(verdict.real, std::vector<std::string>{"GPU"});
  EXPECT_EQ(verdict.seen, std::vector<std::string>{"this machine has no RDMA device"});
  EXPECT_EQ(verdict.next.text(), "lspci");
}

TEST(Verdict, OfAFailedTransferIsFailureAlsoWhereAPartWasReplaced) {
  Situation situation = with_a_lost_nic();
  situation.report.checks.push_back(check("RC read", Status::kFailed));
  EXPECT_EQ(situation.verdict().exit_status(), 1);
}

TEST(Verdict, FailsWhenAStandInHidesHardwareThatIsThere) {
  for (bool nic : {true, false}) {
    Situation situation = on_stand_ins();
    (nic ? situation.input.machine_has_nic : situation.input.machine_has_gpu) = true;
    EXPECT_EQ(headline(situation.verdict()), "FAILED");
    EXPECT_EQ(situation.verdict().exit_status(), 1);
    situation.input.soft_requested = true;
    EXPECT_EQ(situation.verdict().exit_status(), 0) << "asked for with --soft";
  }
}

TEST(Verdict, OfAFailedTransferGivesWhatWasSeenTheCausesAndTheNextCommand) {
  Situation situation = on_hardware();
  situation.report.checks.push_back(check("RC read", Status::kFailed));
  const Verdict verdict = situation.verdict();
  EXPECT_EQ(headline(verdict), "FAILED");
  EXPECT_EQ(verdict.exit_status(), 1);
  ASSERT_EQ(verdict.seen.size(), 1u);
  EXPECT_NE(verdict.seen[0].find("RC read"), std::string::npos);
  EXPECT_NE(verdict.seen[0].find("one bit flipped"), std::string::npos);
  EXPECT_EQ(verdict.causes, (std::vector<std::string>{"first cause", "second cause"}));
  EXPECT_EQ(verdict.next.text(), "next command");
}

TEST(Verdict, OneFailureOutweighsEverythingProvedAndStandInsToo) {
  Situation situation = on_stand_ins();
  situation.report.checks.push_back(check("RC read", Status::kFailed));
  EXPECT_EQ(situation.verdict().exit_status(), 1);
}

TEST(Verdict, SaysTheSameSymptomOfAModeOnce) {
  Situation situation = on_hardware();
  const Direction back{MemoryKind::kDevice, MemoryKind::kHost};
  situation.report.checks.push_back(check("RC read", Status::kFailed));
  situation.report.checks.push_back(check("RC read", Status::kFailed, back));
  ASSERT_EQ(situation.verdict().seen.size(), 1u);
  EXPECT_NE(situation.verdict().seen[0].find("host → GPU, GPU → host"), std::string::npos);
  EXPECT_EQ(situation.verdict().causes.size(), 2u);
  situation.report.checks.push_back(
      check("RC read", Status::kFailed, {MemoryKind::kDevice, MemoryKind::kDevice}));
  ASSERT_EQ(situation.verdict().seen.size(), 1u);
  EXPECT_NE(situation.verdict().seen[0].find("host → GPU and 2 more directions"),
            std::string::npos);
}

TEST(Verdict, InPartSaysWhatWasNotProved) {
  Situation situation = on_hardware();
  situation.report.checks.push_back(check("raw frame", Status::kNotProved));
  const Verdict verdict = situation.verdict();
  EXPECT_EQ(headline(verdict), "PROVED IN PART");
  EXPECT_EQ(verdict.exit_status(), 3);
  ASSERT_EQ(verdict.not_proved.size(), 1u);
  EXPECT_NE(verdict.not_proved[0].find("raw frames need two NIC ports"), std::string::npos);
}

TEST(Verdict, OfASimulationInPartIsNoSuccessEither) {
  Situation situation = on_stand_ins();
  situation.report.checks.push_back(check("raw frame", Status::kNotProved));
  EXPECT_EQ(headline(situation.verdict()),
            "SIMULATION PASSED IN PART: no real GPU or NIC was tested");
  EXPECT_EQ(situation.verdict().exit_status(), 3);
}

TEST(Verdict, FailsWhenNothingWasProvedAboutGpuMemory) {
  Situation situation = on_hardware();
  situation.report.checks = {
      check("RC write", Status::kProved, {MemoryKind::kHost, MemoryKind::kHost}),
      check("raw frame", Status::kNotProved)};
  EXPECT_EQ(headline(situation.verdict()), "FAILED");
  situation.report.checks.clear();
  EXPECT_EQ(headline(situation.verdict()), "FAILED") << "no checks at all prove nothing";
}

TEST(Verdict, FailsWithEachReasonWhenNothingCouldBeRegistered) {
  Situation situation = on_hardware();
  situation.report.checks.clear();
  situation.report.registrations = {registration(false), registration(false)};
  situation.report.registrations[1].detail = "no dma-buf";
  const Verdict verdict = situation.verdict();
  EXPECT_EQ(headline(verdict), "FAILED");
  EXPECT_EQ(verdict.seen.size(), 2u);
  EXPECT_NE(verdict.next.text().find("gdr fix peer-memory"), std::string::npos);
}

TEST(Verdict, OfARealNicThatRefusesTheSoftwareGpuIsIncompleteAndPointsToHostMemory) {
  Situation situation = on_hardware();
  situation.report.inventory.soft_gpu = true;
  situation.report.checks.clear();
  situation.report.registrations = {registration(false)};
  const Verdict verdict = situation.verdict();
  EXPECT_EQ(headline(verdict), "INCOMPLETE: the GPU was simulated, the RDMA NIC is real");
  EXPECT_EQ(verdict.exit_status(), 3);
  EXPECT_EQ(verdict.seen.size(), 1u);
  EXPECT_EQ(verdict.next.text(), "gdr prove --memory host");
}

RegistrationResult registration_of(const std::string& gpu, MemoryKind memory, bool ok) {
  RegistrationResult result = registration(ok);
  result.gpu = gpu;
  result.nic = "b";
  result.memory = memory;
  return result;
}

TEST(Verdict, FailsWhenTheMemoryOfOneOfTheGpusCouldNotBeRegistered) {
  Situation situation = on_hardware();
  situation.report.registrations = {registration_of("GPU 0", MemoryKind::kDevice, true),
                                    registration_of("GPU 1", MemoryKind::kDevice, false)};
  const Verdict verdict = situation.verdict();
  EXPECT_EQ(headline(verdict), "FAILED");
  EXPECT_EQ(verdict.seen, std::vector<std::string>{"cannot register memory of GPU 1 with "
                                                   "b: no peer-memory client"});
}

TEST(Verdict, IsInPartWhenOneKindOfMemoryCouldNotBeRegistered) {
  Situation situation = on_hardware();
  situation.report.registrations = {registration_of("GPU 0", MemoryKind::kDevice, true),
                                    registration_of("GPU 0", MemoryKind::kDevice, false),
                                    registration_of("GPU 0", MemoryKind::kDeviceVmm, false)};
  const Verdict verdict = situation.verdict();
  EXPECT_EQ(headline(verdict), "PROVED IN PART");
  EXPECT_EQ(verdict.not_proved,
            std::vector<std::string>{"cuMemCreate memory of GPU 0 with b: no peer-memory client"});
}

TEST(Verdict, TellsTheSameSymptomOfOtherGpusApart) {
  Situation situation = on_hardware();
  for (const char* gpu : {"GPU 0", "GPU 1"}) {
    Check failed = check("RC read", Status::kFailed, {MemoryKind::kDevice, MemoryKind::kDevice});
    failed.gpu = gpu;
    failed.from_gpu = "GPU 0";
    situation.report.checks.push_back(failed);
  }
  const Verdict verdict = situation.verdict();
  ASSERT_EQ(verdict.seen.size(), 2u);
  EXPECT_NE(verdict.seen[0].find("a → b, GPU → GPU"), std::string::npos) << verdict.seen[0];
  EXPECT_NE(verdict.seen[1].find("a → b, GPU 0 → GPU 1"), std::string::npos) << verdict.seen[1];
}

TEST(Verdict, SaysARefusalToRegisterOnce) {
  Situation situation = on_hardware();
  situation.report.checks.clear();
  situation.report.registrations = {registration(false), registration(false)};
  EXPECT_EQ(situation.verdict().seen.size(), 1u);
}

TEST(Verdict, OfHostMemoryAloneIsInPartAndClaimsNothingAboutGpus) {
  Situation situation = on_hardware();
  situation.input.machine_has_gpu = false;
  situation.report.registrations.clear();
  situation.report.inventory.host_memory_only = true;
  situation.report.checks = {
      check("RC write", Status::kProved, {MemoryKind::kHost, MemoryKind::kHost})};
  EXPECT_EQ(headline(situation.verdict()), "PROVED IN PART");
  EXPECT_TRUE(situation.verdict().replaced.empty());
  EXPECT_EQ(situation.verdict().not_proved,
            std::vector<std::string>{"GPU memory: skipped (--memory host)"});
  situation.report.inventory.soft_nic = true;
  situation.input.machine_has_nic = false;
  EXPECT_EQ(situation.verdict().replaced, std::vector<std::string>{"RDMA NIC"});
  situation.report.checks[0].status = Status::kNotProved;
  EXPECT_EQ(headline(situation.verdict()), "FAILED");
}

TEST(Verdict, OneWayOfRegisteringIsEnough) {
  Situation situation = on_hardware();
  situation.report.registrations = {registration(false), registration(true)};
  EXPECT_EQ(headline(situation.verdict()), "PROVED");
}

TEST(Verdict, OfAnObstacleIsWhatStoodInTheWay) {
  Situation situation = on_hardware();
  situation.input.obstacle =
      Obstacle{{"cuInit failed"}, {"no driver"}, text::Command("nvidia-smi")};
  const Verdict verdict = situation.verdict();
  EXPECT_EQ(headline(verdict), "FAILED");
  EXPECT_EQ(verdict.seen, std::vector<std::string>{"cuInit failed"});
  EXPECT_EQ(verdict.next.text(), "nvidia-smi");
}

RegistrationResult used(MemoryKind memory, Registration way,
                        std::vector<host::LoadedModule> modules = {}) {
  RegistrationResult result = registration_of("GPU 0", memory, true);
  result.registration = way;
  result.used = true;
  result.modules = std::move(modules);
  return result;
}

TEST(Verdict, NamesTheWayTakenOnceAndKindsOfMemoryWhereTheyDifferInIt) {
  Situation situation = on_hardware();
  auto& registrations = situation.report.registrations;
  registrations = {used(MemoryKind::kDevice, Registration::kDmaBuf),
                   used(MemoryKind::kDeviceVmm, Registration::kDmaBuf)};
  EXPECT_EQ(situation.verdict().ways, std::vector<std::string>{"dma-buf"});
  registrations[1] = used(MemoryKind::kDeviceVmm, Registration::kPeerMemory,
                          {{"nv_peer_mem", "1.3-0"}, {"nvidia_peermem", ""}});
  EXPECT_EQ(situation.verdict().ways,
            (std::vector<std::string>{
                "cuMemAlloc by dma-buf",
                "cuMemCreate by peer memory (nv_peer_mem 1.3-0 or nvidia_peermem)"}))
      << "two are loaded";
  for (RegistrationResult& result : registrations) result.used = false;
  EXPECT_TRUE(situation.verdict().ways.empty()) << "tried, and not used";
}

}  // namespace
}  // namespace gdr::proof
