#include <gtest/gtest.h>

#include "patient.h"

namespace gdr::doctor::test {
namespace {

proof::RegistrationResult result(proof::Registration way, int code,
                                 const std::string& detail = {}) {
  proof::RegistrationResult result;
  result.nic = "mlx5_1";
  result.registration = way;
  result.ok = code == 0;
  result.code = code;
  result.detail = detail;
  return result;
}

proof::Check transfer(proof::Status status, const std::string& reason = {}) {
  proof::Check check;
  check.title = "RC write";
  check.direction = {proof::MemoryKind::kDevice, proof::MemoryKind::kDevice};
  check.status = status;
  check.bytes = status == proof::Status::kProved ? 4096 : 0;
  check.reason = reason;
  return check;
}

TEST(Registration, ByOneWayAndRightBytesIsWell) {
  Patient patient;
  proof::Report& report = *patient.probes.proof_answer;
  report.registrations = {result(proof::Registration::kDmaBuf, 0),
                          result(proof::Registration::kPeerMemory, EFAULT, "Bad address")};
  report.checks = {transfer(proof::Status::kProved)};
  const Findings found = patient.find(kRegistration);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "GPU 0000:19:00.0 - mlx5_1|dma-buf works, peer memory does not"));
  EXPECT_EQ(patient.probes.proved, (std::vector<Pairing>{{0, "mlx5_1", 1}}));
}

TEST(Registration, ByNoWayFailsWithTheFixOfItsError) {
  Patient patient;
  proof::Report& report = *patient.probes.proof_answer;
  report.registrations = {result(proof::Registration::kDmaBuf, EOPNOTSUPP, "not supported"),
                          result(proof::Registration::kPeerMemory, EFAULT, "Bad address")};
  EXPECT_TRUE(says(patient.find(kRegistration), "sudo dmesg | grep -i -e nvrm"))
      << "dma-buf should have worked";
  patient.take_proprietary_driver();
  patient.give_peer_interface();
  EXPECT_TRUE(says(patient.find(kRegistration), "sudo gdr fix peer-memory --apply"));
  report.registrations[0].code = ENOMEM;
  EXPECT_TRUE(says(patient.find(kRegistration), "ulimit -l unlimited"));
  report.registrations[0].code = 524;
  const Findings found = patient.find(kRegistration);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "--explain driver-topology-gate"));
}

TEST(Registration, WithWrongBytesFails) {
  Patient patient;
  proof::Report& report = *patient.probes.proof_answer;
  report.registrations = {result(proof::Registration::kDmaBuf, 0)};
  report.checks = {transfer(proof::Status::kProved),
                   transfer(proof::Status::kFailed, "completion without data")};
  report.checks[1].advice.causes = {"ACS redirection"};
  const Findings found = patient.find(kRegistration);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "a transfer failed: completion without data|Most likely: ACS"));
}

TEST(Registration, WithoutATransferIsUnknown) {
  Patient patient;
  proof::Report& report = *patient.probes.proof_answer;
  report.registrations = {result(proof::Registration::kDmaBuf, 0)};
  report.checks = {transfer(proof::Status::kNotProved, "no RC on this NIC")};
  EXPECT_EQ(outcomes(patient.find(kRegistration)), "unknown");
}

TEST(Registration, ThatCouldNotBeTriedIsUnknown) {
  Patient patient;
  patient.probes.proof_answer->verdict.seen = {
      "this machine has a real RDMA NIC, and the stand-in was loaded instead: /opt/x"};
  EXPECT_TRUE(says(patient.find(kRegistration), "the stand-in was loaded instead"));
  patient.probes.proof_answer = Error{EINVAL, "no such NIC"};
  EXPECT_EQ(outcomes(patient.find(kRegistration)), "unknown");
}

TEST(Registration, WithoutNicSaysWhatWorksAndWhatIsMissing) {
  Patient patient;
  patient.machine.nics.clear();
  const Findings found = patient.find(kRegistration);
  EXPECT_EQ(outcomes(found), "unknown");
  EXPECT_TRUE(says(found,
                   "GPU 0000:19:00.0|dma-buf export works, this kernel has no peer-memory "
                   "interface, no RDMA NIC to register with"));
  ExportTrial& trial = patient.probes.export_answer->gpus[0];
  trial.exported = false;
  trial.problem = "CUDA_ERROR_NOT_SUPPORTED";
  EXPECT_EQ(outcomes(patient.find(kRegistration)), "fail");
  trial.allocated = false;
  EXPECT_EQ(outcomes(patient.find(kRegistration)), "unknown");
}

TEST(Registration, WithoutAnActivePortTriesTheExportAlone) {
  Patient patient;
  patient.machine.nic("mlx5_1").state = "1: DOWN";
  const Findings found = patient.find(kRegistration);
  EXPECT_TRUE(says(found, "no RDMA NIC with an active port to register with"));
  EXPECT_TRUE(patient.probes.proved.empty());
}

TEST(Registration, OfAStandInOrABrokenDriverIsNotTried) {
  Patient patient;
  patient.probes.cuda_answer->stand_in = true;
  EXPECT_TRUE(says(patient.find(kRegistration), "gdrkit's stand-in, not a real driver"));
  patient.probes.cuda_answer = Error{ETIMEDOUT, "the CUDA driver did not answer within 60 s"};
  EXPECT_EQ(outcomes(patient.find(kRegistration)), "unknown");
  EXPECT_TRUE(patient.probes.proved.empty());
}

TEST(Registration, TriesEveryNearNicOrElseOnlyTheNearest) {
  Patient patient;
  patient.machine.add_switch(2);
  patient.machine.add_switch(5);
  gdr::test::MachineFunction second = patient.machine.find("0000:1a:00.0");
  second.address = "0000:1a:00.1";
  patient.machine.functions.push_back(second);
  gdr::test::MachineNic nic = patient.machine.nic("mlx5_1");
  nic.name = "mlx5_9";
  nic.address = second.address;
  patient.machine.nics.push_back(nic);
  patient.find(kRegistration);
  EXPECT_EQ(patient.probes.proved, (std::vector<Pairing>{{0, "mlx5_1", 1}, {0, "mlx5_9", 1}}));
  Patient alone;
  alone.machine.add_switch(2);
  alone.machine.add_switch(5);
  alone.machine.nics.erase(alone.machine.nics.begin());
  alone.find(kRegistration);
  EXPECT_EQ(alone.probes.proved, (std::vector<Pairing>{{0, "mlx5_2", 1}})) << "of its own node";
}

}  // namespace
}  // namespace gdr::doctor::test
