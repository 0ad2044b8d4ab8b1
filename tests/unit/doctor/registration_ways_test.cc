#include <gtest/gtest.h>

#include "patient.h"

namespace gdr::doctor::test {
namespace {

constexpr const char* kModulesDep = "lib/modules/6.8.0-45-generic/modules.dep";

TEST(RegistrationPath, ByDmaBufAloneIsWell) {
  Patient patient;
  const Findings found = patient.find(kRegistrationPath);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found,
                   "dma-buf: kernel 6.8.0-45-generic, open module 580.95.05; this kernel has no "
                   "peer-memory interface"));
}

TEST(RegistrationPath, ByPeerMemoryAloneIsWell) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.load_peer_memory();
  const Findings found = patient.find(kRegistrationPath);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "no dma-buf: driver 580.95.05 is the proprietary kernel module"));
}

TEST(RegistrationPath, ByNeitherWayFails) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.give_peer_interface();
  EXPECT_TRUE(says(patient.find(kRegistrationPath), "sudo gdr fix peer-memory --apply"));
  patient.machine.write("proc/kallsyms", "0 T printk\n");
  const Findings found = patient.find(kRegistrationPath);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "install DOCA-OFED")) << "the module could not load";
}

TEST(RegistrationPath, OnAnOldKernelIsByDmaBufOnlyWhereItWasCarriedBack) {
  Patient patient;
  patient.machine.write("proc/sys/kernel/osrelease", "4.18.0-553.el8.x86_64\n");
  EXPECT_EQ(outcomes(patient.find(kRegistrationPath)), "fail");
  patient.machine.write("proc/kallsyms", "0 T ib_umem_dmabuf_get\t[ib_uverbs]\n");
  EXPECT_EQ(outcomes(patient.find(kRegistrationPath)), "ok");
}

TEST(RegistrationPath, IsUnknownForACaptureWithoutTheKernelsRelease) {
  Patient patient;
  std::filesystem::remove(patient.machine.root() + "/proc/sys/kernel/osrelease");
  EXPECT_EQ(outcomes(patient.find(kRegistrationPath)), "unknown");
}

TEST(RegistrationPath, DoesNotApplyWithoutGpu) {
  EXPECT_TRUE(find_on_bare_host(kRegistrationPath).empty());
}

TEST(PeerMemory, ThatIsAbsentIsWellWhereDmaBufsWork) {
  Patient patient;
  const Findings found = patient.find(kPeerMemory);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "this kernel has no peer-memory interface, and none is needed: dma-buf"));
}

TEST(PeerMemory, ThatIsAbsentIsLeftToTheCheckOfBothWays) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.give_peer_interface();
  EXPECT_TRUE(patient.find(kPeerMemory).empty());
  EXPECT_EQ(outcomes(patient.find(kRegistrationPath)), "fail");
  EXPECT_LT(kPeerMemoryLoading.rank, kRegistrationPath.rank) << "why comes before what";
}

TEST(PeerMemory, LoadedIsWellUnlessItIsOfAnotherReleaseOrHoldsNothing) {
  Patient patient;
  patient.load_peer_memory();
  EXPECT_TRUE(says(patient.find(kPeerMemory), "nvidia_peermem 580.95.05 is loaded"));
  patient.load_peer_memory("550.54.14");
  EXPECT_EQ(outcomes(patient.find(kPeerMemory)), "fail");
  patient.load_peer_memory();
  std::filesystem::remove_all(patient.machine.root() +
                              "/sys/module/ib_core/holders/nvidia_peermem");
  EXPECT_TRUE(says(patient.find(kPeerMemory), "does not use ib_core"));
}

TEST(PeerMemory, OfGdrkitServesEveryReleaseOfTheDriver) {
  Patient patient;
  patient.load_peer_memory("gdrkit-0.1.0");
  const Findings found = patient.find(kPeerMemory);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "nvidia_peermem gdrkit-0.1.0 is loaded"));
}

TEST(PeerMemory, InBothModulesIsAWarning) {
  Patient patient;
  patient.load_peer_memory();
  patient.machine.write("sys/module/nv_peer_mem/version", "1.2-0\n");
  EXPECT_EQ(outcomes(patient.find(kPeerMemory)), "warn");
}

TEST(PeerMemory, OfACaptureWithoutModulesIsUnknown) {
  Patient patient;
  patient.find(kGpus);
  std::filesystem::remove_all(patient.machine.root() + "/sys/module");
  EXPECT_EQ(outcomes(patient.find(kPeerMemory)), "unknown");
}

TEST(PeerMemoryLoading, DoesNotMatterWhereDmaBufsWork) {
  Patient patient;
  EXPECT_TRUE(patient.find(kPeerMemoryLoading).empty());
}

TEST(PeerMemoryLoading, IsHopelessWithoutTheKernelsInterface) {
  Patient patient;
  patient.take_proprietary_driver();
  EXPECT_TRUE(says(patient.find(kPeerMemoryLoading), "no ib_register_peer_memory_client"));
  EXPECT_EQ(outcomes(patient.find(kPeerMemoryLoading)), "fail");
}

TEST(PeerMemoryLoading, FindsTheInterfaceInAModuleThatIsNotLoaded) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.machine.write("lib/modules/6.8.0-45-generic/modules.symbols",
                        "alias symbol:ib_register_peer_memory_client ib_core\n");
  patient.machine.write(kModulesDep, "updates/nvidia-peermem.ko: kernel/ib_core.ko nvidia.ko\n");
  EXPECT_EQ(outcomes(patient.find(kPeerMemoryLoading)), "ok");
}

TEST(PeerMemoryLoading, FailsOfAModuleBuiltWithoutTheRdmaStack) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.give_peer_interface();
  patient.machine.write(kModulesDep, "updates/dkms/nvidia-peermem.ko.zst: updates/nvidia.ko.zst\n");
  const Findings found = patient.find(kPeerMemoryLoading);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "sudo dkms install --force nvidia/580.95.05"));
}

TEST(PeerMemoryLoading, OfADriverThatNoPackageRebuildsSaysHowToBuildAModuleThatFits) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.give_peer_interface();
  patient.machine.write(kModulesDep, "extra/nvidia-peermem.ko: extra/nvidia.ko\n");
  EXPECT_TRUE(
      says(patient.find(kPeerMemoryLoading), "gdr peermem build && sudo gdr peermem install"));
  patient.machine.write(kModulesDep, "extra/nvidia.ko:\n");
  EXPECT_TRUE(
      says(patient.find(kPeerMemoryLoading), "gdr peermem build && sudo gdr peermem install"));
}

TEST(PeerMemoryLoading, FindsTheDriverOfAContainer) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.give_peer_interface();
  patient.machine.write(kModulesDep, "kernel/ib_core.ko:\n");
  EXPECT_TRUE(says(patient.find(kPeerMemoryLoading), "no module nvidia-peermem for kernel 6.8"));
  const std::string driver = "run/nvidia/driver/";
  patient.machine.write(driver + "usr/sbin/modprobe", "");
  EXPECT_TRUE(says(patient.find(kPeerMemoryLoading), "recreate the pod of the driver"));
  patient.machine.write(driver + kModulesDep, "kernel/nvidia-peermem.ko: kernel/ib_core.ko\n");
  EXPECT_EQ(outcomes(patient.find(kPeerMemoryLoading)), "ok");
  EXPECT_TRUE(says(patient.find(kRegistrationPath),
                   "sudo chroot /run/nvidia/driver modprobe nvidia-peermem"));
}

TEST(PeerMemoryLoading, FindsADriverAtTheGivenPlaceAndSaysItToFix) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.give_peer_interface();
  patient.machine.write(kModulesDep, "kernel/ib_core.ko:\n");
  patient.machine.write(std::string("srv/gpu/") + kModulesDep,
                        "kernel/nvidia-peermem.ko: kernel/ib_core.ko\n");
  EXPECT_EQ(outcomes(patient.find(kPeerMemoryLoading)), "fail");
  patient.environment = {{"NVIDIA_DRIVER_ROOT", "/srv/gpu"}};
  EXPECT_EQ(outcomes(patient.find(kPeerMemoryLoading)), "ok");
  const Findings found = patient.find(kRegistrationPath);
  EXPECT_EQ(found.at(0).fix.now.command.text(),
            "sudo gdr fix peer-memory --driver-root /srv/gpu --apply");
  EXPECT_EQ(found.at(0).fix.now.by_hand.text(), "sudo modprobe -d /srv/gpu nvidia-peermem");
}

TEST(PeerMemory, OfAnEarlierDriverIsAModuleOfItsOwn) {
  Patient patient;
  patient.machine.write("proc/driver/nvidia/version",
                        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  440.118.02  Wed Oct 21\n");
  patient.machine.write("sys/module/nvidia/version", "440.118.02\n");
  patient.give_peer_interface();
  patient.machine.write(kModulesDep, "extra/nv_peer_mem.ko: updates/nvidia.ko kernel/ib_core.ko\n");
  EXPECT_TRUE(says(patient.find(kPeerMemoryLoading), "prevents loading nv_peer_mem"));
  const Findings found = patient.find(kRegistrationPath);
  EXPECT_EQ(found.at(0).fix.now.by_hand.text(), "sudo modprobe nv_peer_mem");
  EXPECT_FALSE(says(found, "nvidia-peermem"));
  EXPECT_FALSE(says(patient.find(kGpuDriver), "same driver release")) << "440 has no open one";
}

TEST(PeerMemory, HoldsTheRdmaStackWhereTheInterfaceIsInIbUverbs) {
  Patient patient;
  patient.load_peer_memory();
  std::filesystem::remove_all(patient.machine.root() +
                              "/sys/module/ib_core/holders/nvidia_peermem");
  EXPECT_EQ(outcomes(patient.find(kPeerMemory)), "warn");
  patient.machine.write("sys/module/ib_uverbs/holders/nvidia_peermem/x", "");
  EXPECT_EQ(outcomes(patient.find(kPeerMemory)), "ok");
}

TEST(PeerMemoryLoading, ReadsWhatTheKernelSaidWhenItRefused) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.give_peer_interface();
  patient.kernel_log =
      "[ 10.1] nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client\n";
  EXPECT_TRUE(says(patient.find(kPeerMemoryLoading), "built for another RDMA stack"));
  patient.kernel_log = "[ 9.2] Loading of module nvidia_peermem: module verification failed\n";
  EXPECT_TRUE(says(patient.find(kPeerMemoryLoading), "mokutil --import KEY.der"));
}

TEST(PeerMemoryLoading, WarnsOfLockdownAndIsUnknownWithoutIbCore) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.give_peer_interface();
  patient.machine.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_EQ(outcomes(patient.find(kPeerMemoryLoading)), "warn");
  patient.machine.write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  patient.machine.write("proc/kallsyms", "0 T printk\n");
  std::filesystem::remove_all(patient.machine.root() + "/sys/module/ib_core");
  EXPECT_EQ(outcomes(patient.find(kPeerMemoryLoading)), "unknown");
}

void make_altra(Patient& patient) {
  gdr::test::MachineFunction& port = patient.machine.find("0000:15:01.0");
  port.vendor = 0x1def;
  port.device = 0xe100;
}

TEST(DriverTopologyGate, AsksForACommonBridgeOnAltra) {
  Patient near;
  EXPECT_TRUE(near.find(kDriverTopologyGate).empty());
  Patient altra;
  make_altra(altra);
  EXPECT_TRUE(
      says(altra.find(kDriverTopologyGate), "Ampere Altra: the driver accepts mlx5_1 only"));
  Patient far;
  far.machine.add_switch(2);
  make_altra(far);
  far.machine.nics.erase(far.machine.nics.begin());  // of the first GPU
  const Findings found = far.find(kDriverTopologyGate);
  EXPECT_EQ(outcomes(found), "fail ok");
  EXPECT_TRUE(says(found, "ENOTSUPP (524)"));
}

TEST(DriverTopologyGate, WarnsWhereTheDriversCheckIsOff) {
  Patient patient;
  make_altra(patient);
  patient.machine.write("proc/driver/nvidia/params", "GrdmaPciTopoCheckOverride: 1\n");
  EXPECT_EQ(outcomes(patient.find(kDriverTopologyGate)), "warn");
}

TEST(DriverTopologyGate, BelievesTheKernelsLog) {
  Patient patient;
  patient.kernel_log =
      "[1.0] NVRM: dma-buf attach failed: PCI topology not supported for dma-buf\n";
  EXPECT_EQ(outcomes(patient.find(kDriverTopologyGate)), "fail");
}

TEST(NcclVersion, BeforeTheOneThatLooksIsAWarningWherePeerMemoryIsTheWay) {
  Patient patient;
  patient.take_proprietary_driver();
  patient.load_peer_memory();
  EXPECT_TRUE(patient.find(kNcclVersion).empty()) << "no NCCL";
  patient.machine.write("usr/lib/x86_64-linux-gnu/libnccl.so.2", "");
  patient.machine.write("usr/lib/x86_64-linux-gnu/libnccl.so.2.22.3", "");
  EXPECT_TRUE(says(patient.find(kNcclVersion), "NCCL 2.22.3 does not look"));
  patient.machine.write("sys/kernel/mm/memory_peers/nv_mem/version", "580.95.05\n");
  EXPECT_EQ(outcomes(patient.find(kNcclVersion)), "ok");
}

TEST(NcclVersion, DoesNotMatterWithDmaBufsUnlessTheyAreSwitchedOff) {
  Patient patient;
  patient.machine.write("opt/me/libnccl.so.2.21.5", "");
  patient.environment = {{"LD_LIBRARY_PATH", "/opt/me:/../../etc"}};
  EXPECT_TRUE(says(patient.find(kNcclVersion), "NCCL 2.21.5 uses dma-buf here"));
  patient.environment["NCCL_DMABUF_ENABLE"] = "0";
  EXPECT_EQ(outcomes(patient.find(kNcclVersion)), "warn");
  patient.machine.write("opt/me/libnccl.so.2.27.3", "");
  EXPECT_EQ(outcomes(patient.find(kNcclVersion)), "warn ok");
}

}  // namespace
}  // namespace gdr::doctor::test
