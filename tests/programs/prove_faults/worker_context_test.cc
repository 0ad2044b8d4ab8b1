// A worker in this process, on the stand-ins, so that the test can ask the driver about its
// contexts.
#include <gtest/gtest.h>

#include "proof/worker.h"

namespace gdr::proof {
namespace {

bool has_primary_context(const cuda::Driver& driver, int ordinal) {
  cuda::CUdevice device = 0;
  unsigned flags = 0;
  int active = 0;
  EXPECT_EQ(driver.device_get(&device, ordinal), cuda::CUDA_SUCCESS);
  EXPECT_EQ(driver.device_primary_ctx_get_state(device, &flags, &active), cuda::CUDA_SUCCESS);
  return active != 0;
}

int gpu_of(const cuda::Driver& driver, std::uint64_t address) {
  int ordinal = -1;
  EXPECT_EQ(
      driver.pointer_get_attribute(&ordinal, cuda::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address),
      cuda::CUDA_SUCCESS);
  return ordinal;
}

TEST(WorkerContext, IsOnTheGpuAskedForAloneAndSoIsItsMemory) {
  Worker worker;
  const Result<Survey::Reply> survey = worker.handle(Survey{GDR_SOFT_VERBS, GDR_SOFT_CUDA});
  ASSERT_TRUE(survey);
  if (survey->gpus.size() < 2 || survey->nics.empty()) {
    GTEST_SKIP() << "needs two software GPUs and a software NIC";
  }
  const Result<Open::Reply> opened =
      worker.handle(Open{GDR_SOFT_VERBS, GDR_SOFT_CUDA, survey->nics[0].name, 1, 1});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->gpu, survey->gpus[1].pci_address);
  const Result<const cuda::Driver*> driver = cuda::Driver::load(GDR_SOFT_CUDA);
  ASSERT_TRUE(driver);
  for (MemoryKind memory : {MemoryKind::kDevice, MemoryKind::kDeviceVmm}) {
    for (Registration registration : {Registration::kDmaBuf, Registration::kPeerMemory}) {
      const Result<CreateBuffer::Reply> buffer =
          worker.handle(CreateBuffer{memory, registration, 2 << 20});
      ASSERT_TRUE(buffer && buffer->stage == RegistrationStage::kDone);
      EXPECT_EQ(gpu_of(**driver, buffer->address), 1);
    }
  }
  EXPECT_TRUE(has_primary_context(**driver, 1));
  EXPECT_FALSE(has_primary_context(**driver, 0)) << "this one belongs to the other process";
}

}  // namespace
}  // namespace gdr::proof
