// `gdr prove` on machines that show some hardware and lack a part (a made-up tree says so): a
// simulation in the place of what is missing is no success.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "proof/prove.h"
#include "proof/verdict.h"

namespace gdr::proof {
namespace {

namespace fs = std::filesystem;

class LostHardware : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gdr-lost-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void function(const std::string& address, const std::string& vendor, const std::string& kind,
                const std::string& device = "0x1021") {
    const fs::path folder = root_ / "sys/bus/pci/devices" / address;
    fs::create_directories(folder);
    std::ofstream(folder / "vendor") << vendor << '\n';
    std::ofstream(folder / "device") << device << '\n';
    std::ofstream(folder / "class") << kind << '\n';
  }

  // Both libraries are the stand-ins, as where the machine has neither part.
  Verdict verdict(bool soft = false) const {
    const fs::path stand_ins = fs::path(GDR_PROGRAM).parent_path().parent_path() / "lib/gdrkit";
    Options options;
    options.program = GDR_PROGRAM;
    options.root = root_;
    options.soft_verbs = stand_ins / "soft-nic/libibverbs.so.1";
    options.soft_cuda = stand_ins / "soft-gpu/libcuda.so.1";
    options.soft = soft;
    options.sizes = {1};
    options.measure = false;
    Listener silent;
    const Result<Report> report = prove(options, silent);
    EXPECT_TRUE(report);
    return report ? report->verdict : Verdict{};
  }

  fs::path root_;
};

TEST_F(LostHardware, MachineWithNothingIsASimulationAndSucceeds) {
  const Verdict found = verdict();
  EXPECT_EQ(headline(found), "SIMULATION PASSED: no real GPU or NIC was tested");
  EXPECT_EQ(found.exit_status(), 0);
}

TEST_F(LostHardware, NicOnTheBusWithoutItsRdmaDriverIsIncomplete) {
  function("0000:17:00.0", "0x15b3", "0x020000");
  const Verdict found = verdict();
  EXPECT_EQ(headline(found),
            "INCOMPLETE: the RDMA NIC and the GPU were simulated, on a machine that has hardware");
  EXPECT_EQ(found.exit_status(), 3);
  ASSERT_FALSE(found.seen.empty());
  EXPECT_NE(found.seen[0].find("the kernel has no RDMA device"), std::string::npos);
  EXPECT_EQ(verdict(/*soft=*/true).exit_status(), 0) << "asked for with --soft";
}

TEST_F(LostHardware, NicOfOtherVendorsCountsWhereItIsSurelyMadeForRdma) {
  function("0000:00:1e.0", "0x1d0f", "0x020000", "0xefa2");
  EXPECT_EQ(verdict().exit_status(), 3) << "EFA";
  fs::remove_all(root_ / "sys");
  function("0000:00:1e.0", "0x1077", "0x020700");
  EXPECT_EQ(verdict().exit_status(), 3) << "InfiniBand";
  fs::remove_all(root_ / "sys");
  function("0000:00:1e.0", "0x8086", "0x020000", "0x1533");
  function("0000:00:1f.0", "0x1d0f", "0x020000", "0xec20");
  EXPECT_EQ(verdict().exit_status(), 0) << "Ethernet alone";
}

TEST_F(LostHardware, NicThatIsSetAsideForAVirtualMachineIsNotMissed) {
  function("0000:17:00.0", "0x15b3", "0x020000");
  fs::create_directories(root_ / "sys/bus/pci/drivers/vfio-pci");
  fs::create_directory_symlink("../../drivers/vfio-pci",
                               root_ / "sys/bus/pci/devices/0000:17:00.0/driver");
  EXPECT_EQ(verdict().exit_status(), 0);
}

TEST_F(LostHardware, DriverWhoseGpuHasLeftTheBusIsIncomplete) {
  fs::create_directories(root_ / "sys/module/nvidia");
  const Verdict found = verdict();
  EXPECT_EQ(found.exit_status(), 3);
  ASSERT_EQ(found.seen.size(), 2u);
  EXPECT_NE(found.seen[1].find("no GPU is on the PCI bus"), std::string::npos);
}

}  // namespace
}  // namespace gdr::proof
