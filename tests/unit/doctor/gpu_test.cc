#include <gtest/gtest.h>

#include "patient.h"

namespace gdr::doctor::test {
namespace {

TEST(Gpus, BoundToNvidiaAreWell) {
  Patient patient;
  const Findings found = patient.find(kGpus);
  EXPECT_EQ(outcomes(found), "ok");
  EXPECT_TRUE(says(found, std::string("/") + kGpuFolder + "/driver=nvidia"));
}

TEST(Gpus, BoundToVfioOrNouveauOrNothingFail) {
  for (const auto& [driver, fix] :
       {std::pair("vfio-pci", "drivers/vfio-pci/unbind"),
        std::pair("nouveau", "modprobe -r nouveau"), std::pair("", "modprobe nvidia")}) {
    Patient patient;
    patient.machine.find(kGpu).driver = driver;
    const Findings found = patient.find(kGpus);
    EXPECT_EQ(outcomes(found), "fail") << driver;
    EXPECT_TRUE(says(found, fix));
  }
}

TEST(Gpus, ThatAreNotThereFail) {
  EXPECT_TRUE(says(find_on_bare_host(kGpus), "no NVIDIA GPU on the PCI bus"));
}

TEST(Gpus, OfACaptureWithoutPciAreUnknown) {
  Machine machine;
  EXPECT_EQ(outcomes(find(kGpus, machine)), "unknown");
}

TEST(GpuModel, OfGeForceFailsWhereTheDriverCannotBeAsked) {
  for (const auto& [model, outcome] :
       {std::pair("NVIDIA GeForce RTX 4090", "fail"), std::pair("NVIDIA H100 80GB HBM3", "ok")}) {
    Patient patient;
    patient.captured = true;
    patient.machine.write(std::string("proc/driver/nvidia/gpus/") + kGpu + "/information",
                          std::string("Model: \t\t ") + model + "\n");
    const Findings found = patient.find(kGpuModel);
    EXPECT_EQ(outcomes(found), outcome) << model;
  }
}

TEST(GpuModel, IsNotJudgedByNameWhereTheDriverIsAsked) {
  Patient patient;
  patient.machine.write(std::string("proc/driver/nvidia/gpus/") + kGpu + "/information",
                        "Model: \t\t NVIDIA GeForce RTX 4090\n");
  EXPECT_EQ(patient.find(kGpuModel).does_not_apply, "the driver is asked");
}

TEST(GpuDriver, OpenModuleIsWellAndProprietaryIsAWarning) {
  Patient patient;
  EXPECT_TRUE(says(patient.find(kGpuDriver), "driver 580.95.05, open kernel module"));
  patient.take_proprietary_driver();
  const Findings found = patient.find(kGpuDriver);
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_TRUE(says(found, "It exports no dma-buf"));
}

TEST(GpuDriver, OlderThanDmaBufIsAWarning) {
  Patient patient;
  patient.machine.write("sys/module/nvidia/version", "510.47.03\n");
  EXPECT_TRUE(says(patient.find(kGpuDriver), "driver 510.47.03 is older than 515"));
}

TEST(GpuDriver, NotLoadedFails) {
  Patient patient;
  patient.machine.find(kGpu).driver = "";
  std::filesystem::remove(patient.machine.root() + "/proc/driver/nvidia/version");
  std::filesystem::remove_all(patient.machine.root() + "/sys/module/nvidia");
  const Findings found = patient.find(kGpuDriver);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "sudo modprobe nvidia"));
}

TEST(GpuDriver, WhoseFlavourIsNotShownIsUnknown) {
  Patient patient;
  std::filesystem::remove(patient.machine.root() + "/proc/driver/nvidia/version");
  EXPECT_EQ(outcomes(patient.find(kGpuDriver)), "unknown");
}

TEST(GpuParameters, ThatDenyEveryNicFail) {
  Patient patient;
  const std::string path = "proc/driver/nvidia/params";
  patient.machine.write(path, "DmaRemapPeerMmio: 1\nGrdmaPciTopoCheckOverride: 0\n");
  EXPECT_EQ(outcomes(patient.find(kGpuParameters)), "ok");
  patient.machine.write(path, "DmaRemapPeerMmio: 1\nGrdmaPciTopoCheckOverride: 2\n");
  EXPECT_EQ(outcomes(patient.find(kGpuParameters)), "fail");
  patient.machine.write(path, "DmaRemapPeerMmio: 0\nGrdmaPciTopoCheckOverride: 1\n");
  EXPECT_EQ(outcomes(patient.find(kGpuParameters)), "warn warn");
}

TEST(GpuParameters, ThatCannotBeReadAreUnknown) {
  Patient patient;
  EXPECT_EQ(outcomes(patient.find(kGpuParameters)), "unknown");
}

std::string region(unsigned long long start, unsigned long long size, const char* flags) {
  char text[128];
  snprintf(text, sizeof text, "0x%016llx 0x%016llx %s\n", start, start + size - 1, flags);
  return text;
}

TEST(GpuBar1, IsTheLargestPrefetchableRegion) {
  Patient patient;
  const std::string path = std::string(kGpuFolder) + "/resource";
  const std::string first = region(0xa0000000, 16 << 20, "0x0000000000040200");
  patient.find(kGpus);  // makes the folder
  patient.machine.write(path, first + region(0x4c0000000000, 128ull << 30, "0x000000000014220c"));
  EXPECT_TRUE(says(patient.find(kGpuBar1), "BAR1 is 128 GiB"));
  patient.machine.write(path, first + region(0x4c0000000000, 256 << 20, "0x000000000014220c"));
  EXPECT_EQ(outcomes(patient.find(kGpuBar1)), "warn");
}

TEST(GpuBar1, ThatIsNotShownOrMakesNoSenseIsUnknown) {
  Patient patient;
  EXPECT_EQ(outcomes(patient.find(kGpuBar1)), "unknown");
  patient.machine.write(std::string(kGpuFolder) + "/resource",
                        "0xffffffffffffffff 0x0000000000000000 0x000000000014220c\nnonsense\n");
  EXPECT_EQ(outcomes(patient.find(kGpuBar1)), "unknown");
}

}  // namespace
}  // namespace gdr::doctor::test
