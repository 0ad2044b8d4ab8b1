#include "found.h"

namespace gdr::doctor {
namespace {

using test::find;
using test::Machine;
using test::outcomes;
using test::says;

TEST(MaxPayloadCheck, IsWellWhereAllAreTheSame) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kMaxPayload, machine)), "ok");
}

TEST(MaxPayloadCheck, FailsWhereAHopDiffersAndNamesIt) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:1a:00.0").max_payload = 512;
  const Findings found = find(kMaxPayload, machine);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "0000:1a:00.0 accepts payloads of 512 bytes, 0000:17:02.0 of 256 bytes"));
}

TEST(MaxPayloadCheck, FailsWhereGpuAndNicDifferBelowOneSwitch) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:1a:00.0").max_payload = 512;
  for (const char* port : {"0000:17:01.0", "0000:17:02.0", "0000:16:00.0", "0000:15:01.0"}) {
    machine.find(port).config_size = 64;
  }
  EXPECT_EQ(outcomes(find(kMaxPayload, machine)), "fail");
}

TEST(MaxPayloadCheck, IsUnknownWithoutRootAndSkippedInAVirtualMachine) {
  Machine machine;
  machine.add_switch(1);
  for (auto& function : machine.functions) function.config_size = 64;
  EXPECT_EQ(outcomes(find(kMaxPayload, machine)), "unknown");
  machine.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  EXPECT_EQ(outcomes(find(kMaxPayload, machine)), "");
}

TEST(MaxReadRequestCheck, WarnsBelow4096WithACommandForEachNic) {
  Machine machine;
  machine.add_switch(1);
  machine.add_switch(2);
  machine.add_switch(3);
  EXPECT_EQ(outcomes(find(kMaxReadRequest, machine)), "ok");
  machine.find("0000:1a:00.0").max_read = 512;
  machine.find("0000:5a:00.0").max_read = 512;
  const Findings found = find(kMaxReadRequest, machine);
  EXPECT_EQ(outcomes(found), "warn ok");
  EXPECT_EQ(found[0].subject, "mlx5_1, mlx5_3");
  EXPECT_TRUE(says(found,
                   "for d in 0000:1a:00.0 0000:5a:00.0; do sudo setpci -s $d "
                   "CAP_EXP+8.w=5000:7000; done"));
}

TEST(MaxReadRequestCheck, DoesNotJudgeVirtualFunctions) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:1a:00.0").device = 0x101e;
  machine.find("0000:1a:00.0").max_read = 128;
  EXPECT_EQ(outcomes(find(kMaxReadRequest, machine)), "");
}

TEST(MaxReadRequestCheck, IsUnknownWithoutRoot) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:1a:00.0").config_size = 64;
  EXPECT_EQ(outcomes(find(kMaxReadRequest, machine)), "unknown");
}

TEST(RelaxedOrderingCheck, WarnsWhereItIsOffAndMatters) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kRelaxedOrdering, machine)), "ok");
  machine.find("0000:1a:00.0").relaxed = false;
  EXPECT_EQ(outcomes(find(kRelaxedOrdering, machine)), "ok") << "an Intel processor";
  machine.write("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  const Findings found = find(kRelaxedOrdering, machine);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_EQ(found[0].fix.now.command.text(), "sudo setpci -s 0000:1a:00.0 CAP_EXP+8.w=10:10");
}

TEST(RelaxedOrderingCheck, WarnsOfVariablesThatTurnItOff) {
  Machine machine;
  machine.add_switch(1);
  machine.write("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  EXPECT_EQ(outcomes(find(kRelaxedOrdering, machine, {{"NCCL_IB_PCI_RELAXED_ORDERING", "0"}})),
            "ok warn");
  EXPECT_EQ(outcomes(find(kRelaxedOrdering, machine, {{"NCCL_IB_PCI_RELAXED_ORDERING", "1"}})),
            "ok");
}

TEST(RelaxedOrderingCheck, IsUnknownWithoutRoot) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:1a:00.0").config_size = 64;
  EXPECT_EQ(outcomes(find(kRelaxedOrdering, machine)), "unknown");
}

TEST(AddressTranslationCheck, ExpectsItOffOnBareMetalAndOnInAGuest) {
  Machine machine;
  machine.add_switch(1);
  EXPECT_EQ(outcomes(find(kAddressTranslation, machine)), "ok");
  machine.find("0000:1a:00.0").ats = true;
  EXPECT_EQ(outcomes(find(kAddressTranslation, machine)), "warn");
  EXPECT_TRUE(says(find(kAddressTranslation, machine),
                   "sudo mlxconfig -d 0000:1a:00.0 set ATS_ENABLED=false"));
  machine.write("proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  EXPECT_EQ(outcomes(find(kAddressTranslation, machine)), "ok");
  machine.find("0000:1a:00.0").ats = false;
  EXPECT_EQ(outcomes(find(kAddressTranslation, machine)), "warn");
  machine.find("0000:1a:00.0").ats.reset();
  EXPECT_EQ(outcomes(find(kAddressTranslation, machine)), "unknown");
}

TEST(AddressTranslationCheck, IsUnknownWithoutRoot) {
  Machine machine;
  machine.add_switch(1);
  machine.find("0000:1a:00.0").config_size = 64;
  EXPECT_EQ(outcomes(find(kAddressTranslation, machine)), "unknown");
}

}  // namespace
}  // namespace gdr::doctor
