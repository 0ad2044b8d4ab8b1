#include <gtest/gtest.h>

#include "patient.h"

namespace gdr::doctor::test {
namespace {

TEST(GpuCount, ComparesTheBusWithTheDriver) {
  Patient patient;
  EXPECT_TRUE(says(patient.find(kGpuCount), "NVML lists all 1 GPUs"));
  patient.probes.nvml_answer->gpus[0].pci_address = "0000:39:00.0";
  patient.machine.write("dev/nvidia0", "");
  const Findings found = patient.find(kGpuCount);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "bound to nvidia, but NVML does not list it"));
}

TEST(GpuCount, OfGpusThatAContainerWasNotGivenIsWell) {
  Patient patient;
  patient.machine.add_switch(2);
  patient.machine.write("dev/nvidia0", "");
  patient.machine.write("dev/nvidiactl", "");
  EXPECT_TRUE(says(patient.find(kGpuCount), "1 of this host's GPUs are not in this container"));
}

TEST(GpuCount, FailsOrIsUnknownWithoutAnAnswerOfTheDriver) {
  Patient patient;
  patient.probes.nvml_answer = Error{ETIMEDOUT, "NVML did not answer within 60 s"};
  EXPECT_EQ(outcomes(patient.find(kGpuCount)), "unknown");
  NvmlFacts facts;
  facts.problem = "cannot load NVML: no such file";
  patient.probes.nvml_answer = facts;
  EXPECT_EQ(outcomes(patient.find(kGpuCount)), "fail");
}

TEST(GpuCapability, SaysWhatTheDriverSays) {
  Patient patient;
  EXPECT_TRUE(says(patient.find(kGpuCapability), "exports dma-bufs"));
  CudaGpu& gpu = patient.probes.cuda_answer->gpus[0];
  gpu.dma_buf = 0;
  EXPECT_TRUE(says(patient.find(kGpuCapability), "without dma-buf"));
  gpu.gpu_direct = 0;
  gpu.dma_buf = 1;
  EXPECT_EQ(outcomes(patient.find(kGpuCapability)), "warn");
  gpu.gpu_direct = gpu.dma_buf = -1;
  EXPECT_EQ(outcomes(patient.find(kGpuCapability)), "unknown");
}

TEST(GpuCapability, OfAGeForceFailsAndNothingSetsItRight) {
  Patient patient;
  CudaGpu& gpu = patient.probes.cuda_answer->gpus[0];
  gpu.name = "NVIDIA GeForce RTX 5090";
  gpu.gpu_direct = gpu.dma_buf = 0;
  const Findings found = patient.find(kGpuCapability);
  EXPECT_EQ(outcomes(found), "fail");
  EXPECT_TRUE(says(found, "|none: NVIDIA's driver denies it to GeForce boards"));
}

TEST(GpuCapability, NamesAStandInAndSaysNothingAboutIt) {
  Patient patient;
  CudaFacts facts;
  facts.stand_in = true;
  facts.library = "/opt/lib/gdrkit/soft-gpu/libcuda.so.1";
  patient.probes.cuda_answer = facts;
  const Findings found = patient.find(kGpuCapability);
  EXPECT_EQ(outcomes(found), "unknown");
  EXPECT_TRUE(says(found, "libcuda.so.1=/opt/lib/gdrkit/soft-gpu/libcuda.so.1"));
}

TEST(GpuCapability, OfADriverThatCrashedFails) {
  Patient patient;
  patient.probes.cuda_answer =
      Error{ECONNRESET, "the CUDA driver ended its process: signal 11 (Segmentation fault)"};
  EXPECT_EQ(outcomes(patient.find(kGpuCapability)), "fail");
}

TEST(GpuCapability, IsUnknownWhereCudaSeesNoGpu) {
  Patient patient;
  patient.probes.cuda_answer->gpus.clear();
  for (const Check* check : {&kGpuCapability, &kRegistration}) {
    const Findings found = patient.find(*check);
    EXPECT_EQ(outcomes(found), "unknown");
    EXPECT_TRUE(says(found, "CUDA lists no GPU"));
  }
}

TEST(GpuPersistence, OffIsAWarning) {
  Patient patient;
  EXPECT_EQ(outcomes(patient.find(kGpuPersistence)), "ok");
  patient.probes.nvml_answer->gpus[0].persistence = Tri::kNo;
  EXPECT_EQ(outcomes(patient.find(kGpuPersistence)), "warn");
  patient.probes.nvml_answer->gpus[0].persistence = Tri::kUnknown;
  EXPECT_EQ(outcomes(patient.find(kGpuPersistence)), "unknown");
}

TEST(GpuParts, MigAndVgpuAreWarnings) {
  Patient patient;
  NvmlGpu& gpu = patient.probes.nvml_answer->gpus[0];
  EXPECT_EQ(outcomes(patient.find(kGpuParts)), "ok");
  gpu.mig = Tri::kUnknown;  // a GPU that has none
  EXPECT_EQ(outcomes(patient.find(kGpuParts)), "ok");
  gpu.mig = Tri::kYes;
  EXPECT_TRUE(says(patient.find(kGpuParts), "MIG is on"));
  gpu.vgpu = Tri::kYes;
  EXPECT_TRUE(says(patient.find(kGpuParts), "it is a vGPU"));
  gpu.mig = gpu.vgpu = Tri::kUnknown;
  EXPECT_EQ(outcomes(patient.find(kGpuParts)), "unknown");
}

TEST(GpuBar1Space, FullFailsAndSmallIsAWarning) {
  Patient patient;
  NvmlGpu& gpu = patient.probes.nvml_answer->gpus[0];
  EXPECT_TRUE(says(patient.find(kGpuBar1Space), "BAR1 is 128 GiB, 127 GiB free"));
  gpu.bar1_total = 256 << 20;
  gpu.bar1_free = 200 << 20;
  EXPECT_EQ(outcomes(patient.find(kGpuBar1Space)), "warn");
  gpu.bar1_free = 1 << 20;
  EXPECT_EQ(outcomes(patient.find(kGpuBar1Space)), "fail");
  gpu.bar1_total = 0;
  EXPECT_EQ(outcomes(patient.find(kGpuBar1Space)), "unknown");
}

TEST(GpuProbes, SayWhyNvmlDoesNot) {
  Patient patient;
  NvmlFacts facts;
  facts.problem = "cannot load NVML: libnvidia-ml.so.1";
  patient.probes.nvml_answer = facts;
  for (const Check* check : {&kGpuPersistence, &kGpuParts, &kGpuBar1Space}) {
    const Findings found = patient.find(*check);
    EXPECT_EQ(outcomes(found), "unknown") << check->id;
    EXPECT_TRUE(says(found, "cannot load NVML"));
  }
}

TEST(GpuProbes, DoNotApplyWithoutGpu) {
  for (const Check* check :
       {&kGpuPersistence, &kGpuParts, &kGpuBar1Space, &kGpuCapability, &kGpuDriver, &kGpuBar1}) {
    EXPECT_TRUE(find_on_bare_host(*check).empty()) << check->id;
  }
}

}  // namespace
}  // namespace gdr::doctor::test
