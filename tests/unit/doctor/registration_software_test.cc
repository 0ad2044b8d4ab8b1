// GDRCopy's module, the kernel's configuration, OFED's release, and what nv_peer_mem left behind.
#include "patient.h"
#include "tar_maker.h"

namespace gdr::doctor::test {
namespace {

TEST(Gdrdrv, ThatIsAskedForAndNotLoadedIsAWarning) {
  for (const auto& [name, value] :
       {std::pair("NCCL_GDRCOPY_ENABLE", "1"), std::pair("UCX_TLS", "rc,cuda_copy,gdr_copy")}) {
    Patient patient;
    patient.environment[name] = value;
    const Findings found = patient.find(kGdrdrv);
    EXPECT_EQ(outcomes(found), "warn") << name;
    EXPECT_TRUE(says(found, "sudo modprobe gdrdrv"));
  }
  Patient patient;
  patient.machine.write("usr/lib/x86_64-linux-gnu/libgdrapi.so.2", "");
  EXPECT_EQ(outcomes(patient.find(kGdrdrv)), "warn");
}

TEST(Gdrdrv, PassesIfLoadedAndWarnsWithoutItsDevice) {
  Patient patient;
  patient.machine.write("sys/module/gdrdrv/version", "2.4\n");
  patient.machine.write("dev/gdrdrv", "");
  EXPECT_EQ(outcomes(patient.find(kGdrdrv)), "ok");
  std::filesystem::remove(patient.machine.root() + "/dev/gdrdrv");
  EXPECT_TRUE(says(patient.find(kGdrdrv), "/dev/gdrdrv is missing"));
}

TEST(Gdrdrv, IsUnknownWithoutModulesAndSkippedIfNobodyNeedsIt) {
  Patient patient;
  EXPECT_TRUE(patient.find(kGdrdrv).empty());
  patient.environment = {{"NCCL_GDRCOPY_ENABLE", "0"}, {"UCX_TLS", "^gdr_copy"}};
  EXPECT_TRUE(patient.find(kGdrdrv).empty());
  patient.environment = {{"NCCL_GDRCOPY_ENABLE", "1"}};
  std::filesystem::remove_all(patient.machine.root() + "/sys/module");
  EXPECT_EQ(outcomes(patient.find(kGdrdrv)), "unknown");
  EXPECT_TRUE(find_on_bare_host(kGdrdrv).empty());
}

constexpr const char* kConfig = "boot/config-6.8.0-45-generic";

TEST(KernelConfig, WithPeerToPeerDmaIsWell) {
  Patient patient;
  patient.machine.write(kConfig, "CONFIG_PCI_P2PDMA=y\n# CONFIG_DMABUF_MOVE_NOTIFY is not set\n");
  const Findings found = patient.find(kKernelConfig);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, "CONFIG_DMABUF_MOVE_NOTIFY=not set"));
}

TEST(KernelConfig, WithoutItIsUnknownSinceSourcesDiffer) {
  for (const char* text : {"# CONFIG_PCI_P2PDMA is not set\n", "CONFIG_PCI_P2PDMA_EXTRA=y\n"}) {
    Patient patient;
    patient.machine.write("lib/modules/6.8.0-45-generic/config", text);
    const Findings found = patient.find(kKernelConfig);
    EXPECT_EQ(outcomes(found), "unknown") << text;
    EXPECT_TRUE(says(found, "gdr prove --registration dma-buf"));
  }
}

TEST(KernelConfig, IsThatOfTheRunningKernelIfItIsPackedInProc) {
  for (const auto& [text, outcome] :
       {std::pair("CONFIG_PCI=y\nCONFIG_PCI_P2PDMA=y\n", "ok"),
        std::pair("# CONFIG_PCI_P2PDMA is not set\nCONFIG_DMABUF_MOVE_NOTIFY=y\n", "unknown")}) {
    Patient patient;
    patient.machine.write("proc/config.gz", gdr::test::compressed(text, "gzip"));
    const Findings found = patient.find(kKernelConfig);
    EXPECT_EQ(outcomes(found), outcome) << text;
    EXPECT_TRUE(says(found, "/proc/config.gz, CONFIG_PCI_P2PDMA")) << text;
  }
}

TEST(KernelConfig, IsNotJudgedByAPackedFileThatCannotBeRead) {
  Patient patient;
  patient.machine.write("proc/config.gz", "\x1f\x8b");
  const Findings found = patient.find(kKernelConfig);
  EXPECT_EQ(outcomes(found), "unknown");
  EXPECT_TRUE(says(found, "cannot see the configuration of this kernel"));
}

TEST(KernelConfig, OfAnotherKernelIsNotRead) {
  Patient patient;
  patient.machine.write("boot/config-5.15.0-1-generic", "CONFIG_PCI_P2PDMA=y\n");
  const Findings found = patient.find(kKernelConfig);
  EXPECT_EQ(outcomes(found), "unknown");
  EXPECT_TRUE(says(found, "zgrep"));
}

TEST(KernelConfig, DoesNotApplyWithoutGpuOrWhereDmaBufIsNoWay) {
  Patient patient;
  patient.take_proprietary_driver();
  EXPECT_TRUE(patient.find(kKernelConfig).empty());
  EXPECT_TRUE(find_on_bare_host(kKernelConfig).empty());
}

// The patient with OFED's modules of this release and a peer-memory client.
struct WithOfed : Patient {
  explicit WithOfed(const std::string& release) {
    machine.write("sys/module/mlx_compat/refcnt", "9\n");
    machine.write("sys/module/mlx5_core/version", release + "\n");
    load_peer_memory();
  }
};

TEST(OfedRelease, BeforeTheFixOfThePeerMemoryDeadlockIsAWarning) {
  for (const char* release : {"5.4-1.0.3", "5.4-2.4.1", "5.4-3.0.2"}) {
    WithOfed host(release);
    EXPECT_TRUE(says(host.find(kOfedRelease), "has bug 2696789")) << release;
  }
  for (const char* release : {"5.1-2.5.8", "5.3-1.0.0", "4.9-4.0.8"}) {
    WithOfed host(release);
    EXPECT_TRUE(says(host.find(kOfedRelease), "is not documented")) << release;
  }
}

TEST(OfedRelease, FromTheFixOnIsWell) {
  for (const char* release :
       {"5.4-3.0.3", "5.4-3.7.5", "5.5-1.0.3", "5.8-6.0.4", "23.10-1.1.9", "24.10-0.7.0.0.105"}) {
    WithOfed host(release);
    EXPECT_EQ(outcomes(host.find(kOfedRelease)), "ok") << release;
  }
}

TEST(OfedRelease, BeforeTheFixIsWellWithoutAPeerMemoryClient) {
  Patient patient;
  patient.machine.write("sys/module/mlx_compat/refcnt", "9\n");
  patient.machine.write("sys/module/mlx5_core/version", "5.4-1.0.3\n");
  EXPECT_EQ(outcomes(patient.find(kOfedRelease)), "ok");
}

TEST(OfedRelease, IsUnknownWithoutANumberAndSkippedOnTheKernelsOwnStack) {
  for (const char* release : {"", "devel", "5"}) {
    WithOfed host(release);
    const Findings found = host.find(kOfedRelease);
    EXPECT_EQ(outcomes(found), "unknown") << release;
    EXPECT_TRUE(says(found, "ofed_info -s"));
  }
  Patient inbox;
  inbox.machine.write("sys/module/mlx5_core/version", "5.0-0\n");  // as kernels before 5.12 say
  EXPECT_TRUE(inbox.find(kOfedRelease).empty());
  EXPECT_TRUE(find_on_bare_host(kOfedRelease).empty());
}

constexpr const char* kOldConfiguration = "etc/infiniband/nv_peer_mem.conf";

TEST(NvPeerMemService, BesideADriverWithItsOwnModuleIsAWarning) {
  for (const auto& [path, text] :
       {std::pair(kOldConfiguration, "# Load nv_peer_mem\nONBOOT=yes\n"),
        std::pair(kOldConfiguration, ""),
        std::pair("etc/modules-load.d/nv_peer_mem.conf", "nv_peer_mem\n")}) {
    Patient patient;
    patient.machine.write(path, text);
    const Findings found = patient.find(kNvPeerMemService);
    EXPECT_EQ(outcomes(found), "warn") << path;
    EXPECT_TRUE(says(found, "sudo modprobe -r nv_peer_mem && sudo modprobe nvidia-peermem"));
  }
}

TEST(NvPeerMemService, IsRightBesideAnOlderDriver) {
  Patient patient;
  patient.machine.write(kOldConfiguration, "ONBOOT=yes\n");
  patient.machine.write("proc/driver/nvidia/version",
                        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  440.33.01  Wed 2019\n");
  patient.machine.write("sys/module/nvidia/version", "440.33.01\n");
  EXPECT_EQ(outcomes(patient.find(kNvPeerMemService)), "ok");
}

TEST(NvPeerMemService, ThatIsSwitchedOffIsWell) {
  Patient patient;
  patient.machine.write(kOldConfiguration, "ONBOOT=no\n");
  EXPECT_EQ(outcomes(patient.find(kNvPeerMemService)), "ok");
}

TEST(NvPeerMemService, IsUnknownWithoutDriverReleaseOrEtc) {
  Patient patient;
  EXPECT_EQ(outcomes(patient.find(kNvPeerMemService)), "unknown");
  patient.machine.write(kOldConfiguration, "ONBOOT=yes\n");
  std::filesystem::remove(patient.machine.root() + "/proc/driver/nvidia/version");
  std::filesystem::remove(patient.machine.root() + "/sys/module/nvidia/version");
  EXPECT_EQ(outcomes(patient.find(kNvPeerMemService)), "unknown");
}

TEST(NvPeerMemService, DoesNotApplyWhereItIsNotInstalled) {
  Patient patient;
  patient.machine.write("etc/hostname", "x\n");
  EXPECT_TRUE(patient.find(kNvPeerMemService).empty());
  EXPECT_TRUE(find_on_bare_host(kNvPeerMemService).empty());
}

}  // namespace
}  // namespace gdr::doctor::test
