// vm.max_map_count, and IPC_LOCK of a pod.
#include "patient.h"

namespace gdr::doctor::test {
namespace {

constexpr const char* kMapCount = "proc/sys/vm/max_map_count";

TEST(MaxMapCount, BelowTheDefaultIsAWarning) {
  Patient patient;
  patient.machine.write(kMapCount, "32768\n");
  const Findings found = patient.find(kMaxMapCount);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_TRUE(says(found, "sudo sysctl -w vm.max_map_count=1048576"));
}

TEST(MaxMapCount, AtTheDefaultIsAWarningBesideMooncakeAlone) {
  Patient patient;
  patient.machine.write(kMapCount, "65530\n");
  EXPECT_EQ(outcomes(patient.find(kMaxMapCount)), "ok");
  patient.environment = {{"MC_GID_INDEX", "1"}};
  EXPECT_EQ(outcomes(patient.find(kMaxMapCount)), "warn");
  patient.machine.write(kMapCount, "1048576\n");
  EXPECT_EQ(outcomes(patient.find(kMaxMapCount)), "ok");
}

TEST(MaxMapCount, IsUnknownIfUnreadableAndSkippedWithoutDevices) {
  Patient patient;
  EXPECT_EQ(outcomes(patient.find(kMaxMapCount)), "unknown");
  EXPECT_TRUE(find_on_bare_host(kMaxMapCount).empty());
}

// The patient, seen from a pod whose containerd has its distribution's limit.
struct Pod : Patient {
  Pod() {
    machine.write("proc/self/cgroup", "0::/kubepods/burstable/pod1\n");
    limit("8388608");
    capabilities("0000000000000000", "00000000a80425fb");
  }
  void limit(const std::string& soft) {
    machine.write("proc/self/limits", "Max locked memory         " + soft +
                                          "              unlimited            bytes\n");
  }
  void capabilities(const std::string& effective, const std::string& bounding) {
    machine.write("proc/self/status", "CapEff:\t" + effective + "\n" +
                                          (bounding.empty() ? "" : "CapBnd:\t" + bounding) + "\n");
  }
};

TEST(IpcLock, ThatIsNotInTheYamlIsAWarningWithTheLine) {
  Pod pod;
  const Findings found = pod.find(kIpcLock);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_TRUE(says(found, "the container's YAML lacks IPC_LOCK"));
  EXPECT_TRUE(says(found, "securityContext: {capabilities: {add: [\"IPC_LOCK\"]}}"));
}

TEST(IpcLock, WarnsIfItWorksForRootOnly) {
  Pod pod;
  pod.capabilities("0000000000000000", "00000000a80465fb");
  const Findings found = pod.find(kIpcLock);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_TRUE(says(found, "works for root only"));
  EXPECT_FALSE(says(found, "securityContext"));
}

TEST(IpcLock, ThatIsEffectiveOrNotNeededIsWell) {
  Pod pod;
  pod.capabilities("00000000a80465fb", "00000000a80465fb");
  EXPECT_TRUE(says(pod.find(kIpcLock), "IPC_LOCK is effective"));
  pod.capabilities("0000000000000000", "0000000000000000");
  pod.limit("unlimited");
  EXPECT_TRUE(says(pod.find(kIpcLock), "not needed"));
}

TEST(IpcLock, IsUnknownWithoutCapabilitiesAndWarnsWithoutTheBoundingSet) {
  Pod pod;
  pod.machine.write("proc/self/status", "");
  EXPECT_EQ(outcomes(pod.find(kIpcLock)), "unknown");
  pod.capabilities("0000000000000000", "");
  EXPECT_TRUE(says(pod.find(kIpcLock), "not effective in this pod"));
}

TEST(IpcLock, DoesNotApplyOutsideOfAPod) {
  Patient patient;
  EXPECT_TRUE(patient.find(kIpcLock).empty());
}

}  // namespace
}  // namespace gdr::doctor::test
