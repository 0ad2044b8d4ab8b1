#include "cli/run_detect.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

class DetectHardware : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "gdr-detect-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    root_ = folder;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  fs::path root_;
};

TEST_F(DetectHardware, FindsNothingInAnEmptyRoot) {
  const Hardware found = detect_hardware(root_.string());
  EXPECT_FALSE(found.nic);
  EXPECT_FALSE(found.gpu);
}

TEST_F(DetectHardware, TakesAnRdmaDeviceForANicAndTheBareClassForNone) {
  fs::create_directories(root_ / "sys/class/infiniband");
  EXPECT_FALSE(detect_hardware(root_.string()).nic);
  fs::create_directories(root_ / "sys/class/infiniband/mlx5_0");
  EXPECT_TRUE(detect_hardware(root_.string()).nic);
}

TEST_F(DetectHardware, TakesALoadedDriverForAGpu) {
  write("dev/nvidiactl", "");
  EXPECT_TRUE(detect_hardware(root_.string()).gpu);
}

TEST_F(DetectHardware, TakesDisplayDevicesOfOtherVendorsForNoGpu) {
  write("sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
  write("sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
  write("sys/bus/pci/devices/0000:00:03.0/vendor", "0x10de\n");
  write("sys/bus/pci/devices/0000:00:03.0/class", "0x068000\n");
  EXPECT_FALSE(detect_hardware(root_.string()).gpu);
}

}  // namespace
}  // namespace gdr::cli
