#include "cuda/nvml.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace gdr::cuda {
namespace {

int times_started() {
  void* library = dlopen(GDR_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<int (*)()>(dlsym(library, "fake_nvml_started"))();
}

TEST(Nvml, FindsGpusUnderTheAddressesThatSysfsHasAndPassesOverTheLostOne) {
  Result<Nvml> nvml = Nvml::start(GDR_FAKE_NVML);
  ASSERT_TRUE(nvml) << nvml.error().message;
  const Result<std::vector<Nvml::Gpu>> gpus = nvml->gpus();
  ASSERT_TRUE(gpus) << gpus.error().message;
  ASSERT_EQ(gpus->size(), 2u);
  EXPECT_EQ((*gpus)[0].pci_address, "0000:3b:00.0");
  EXPECT_EQ((*gpus)[1].pci_address, "0000:4c:00.0");
  EXPECT_EQ((*gpus)[0].name, "NVIDIA H200");
  EXPECT_EQ(*nvml->driver_version(), "570.86.15");
  EXPECT_EQ(nvml->bar1((*gpus)[0].device)->free, 255ull << 30);
  EXPECT_TRUE(*nvml->persistence((*gpus)[0].device));
  EXPECT_FALSE(*nvml->persistence((*gpus)[1].device));
}

TEST(Nvml, TellsWhatTheGpuLacksFromWhatTheLibraryLacks) {
  Result<Nvml> nvml = Nvml::start(GDR_FAKE_NVML);
  ASSERT_TRUE(nvml);
  const NvmlDevice device = nvml->gpus()->front().device;
  EXPECT_EQ(nvml->mig(device).error().code, ENOTSUP);
  EXPECT_EQ(nvml->vgpu(device).error().code, ENOSYS);
  EXPECT_EQ(nvml->vgpu(device).error().message, "NVML has no nvmlDeviceGetVirtualizationMode");
}

TEST(Nvml, ListsTheOtherEndsOfTheLinksThatAreUp) {
  Result<Nvml> nvml = Nvml::start(GDR_FAKE_NVML);
  ASSERT_TRUE(nvml);
  const Result<std::vector<NvLinkEnd>> ends = nvml->nvlinks(nvml->gpus()->front().device);
  ASSERT_TRUE(ends && ends->size() == 3);
  EXPECT_EQ((*ends)[0].kind, NvLinkEnd::Kind::kGpu);
  EXPECT_EQ((*ends)[0].pci_address, "0000:4c:00.0");
  EXPECT_EQ((*ends)[2].kind, NvLinkEnd::Kind::kSwitch);
  EXPECT_EQ((*ends)[2].pci_address, "");
}

TEST(Nvml, GivesNoAddressWhereTheDriverHasNone) {
  // As a guest's driver says of an NVSwitch of its host.
  EXPECT_EQ(pci_address_of({"", 0xffffffff, 0xffffffff, 0xffffffff, 0, 0, ""}), "");
  EXPECT_EQ(pci_address_of({"", 0x10000, 1, 2, 0, 0, ""}), "10000:01:02.0");
}

TEST(Nvml, IsShutDownOnceForEachStart) {
  EXPECT_EQ(times_started(), 0);
  {
    Result<Nvml> nvml = Nvml::start(GDR_FAKE_NVML);
    const Nvml moved = *std::move(nvml);
    EXPECT_EQ(times_started(), 1);
  }
  EXPECT_EQ(times_started(), 0);
}

TEST(Nvml, ThatIsNotThereIsAnError) {
  const Result<Nvml> nvml = Nvml::start("libnvidia-ml-that-is-not-there.so.1");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, ENOENT);
  EXPECT_NE(nvml.error().message.find("cannot load NVML"), std::string::npos);
}

}  // namespace
}  // namespace gdr::cuda
