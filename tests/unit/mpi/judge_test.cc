#include "mpi/judge.h"

#include <gtest/gtest.h>

namespace gdr::mpi {
namespace {

Installation open_mpi(const std::string& version) {
  Installation one;
  one.family = Family::kOpenMpi;
  one.version = version;
  one.cuda = Tri::kYes;
  one.answered = true;
  one.components["pml"] = {"ob1", "cm"};
  one.components["btl"] = {"tcp", "self"};
  return one;
}

Installation over_ucx(const std::string& version, Tri cuda, const std::string& ucx_version) {
  Installation one = open_mpi(version);
  one.components["pml"].insert("ucx");
  one.ucx = Ucx{};
  one.ucx->version = ucx_version;
  one.ucx->cuda = cuda;
  one.ucx->network = Tri::kYes;
  return one;
}

DriverHalf driver() {
  DriverHalf half;
  half.gpu = half.driver_loaded = half.rdma_nic = true;
  half.dma_buf = Tri::kNo;
  half.why_no_dma_buf = "the driver is proprietary";
  return half;
}

Verdict verdict(const Installation& one, const DriverHalf& half = {}) {
  return judge(one, half, {}).verdict;
}

TEST(Judge, OpenMpiIsDirectOverUcxWithCuda) {
  EXPECT_EQ(verdict(over_ucx("4.1.5", Tri::kYes, "1.16.0")), Verdict::kDirect);
}

TEST(Judge, OpenMpiCrashesOverUcxWithoutCudaAndStagesWithoutUcx) {
  const Judgement judgement = judge(over_ucx("4.1.5", Tri::kNo, "1.12.1"), {}, {});
  EXPECT_EQ(judgement.verdict, Verdict::kNone);
  ASSERT_EQ(judgement.settings.size(), 1U);
  EXPECT_EQ(judgement.settings.front().command.text(), "mpirun --mca pml ob1");
  EXPECT_EQ(judgement.with_settings, Verdict::kStaged);
}

TEST(Judge, WhatIsNotKnownOfUcxStaysUnknown) {
  EXPECT_EQ(verdict(over_ucx("4.1.5", Tri::kUnknown, "")), Verdict::kUnknown);
}

TEST(Judge, OpenMpiStagesOverTcp) { EXPECT_EQ(verdict(open_mpi("4.1.5")), Verdict::kStaged); }

TEST(Judge, UcxThatAParameterLeavesOutIsNotUsed) {
  Installation one = over_ucx("4.1.5", Tri::kYes, "1.16.0");
  for (const char* value : {"^ucx", "ob1", "^cm,ucx", "ob1,cm"}) {
    one.parameters["pml"].value = value;
    EXPECT_EQ(verdict(one), Verdict::kStaged) << value;
  }
  for (const char* value : {"ucx", "^cm", "ob1,ucx", ""}) {
    one.parameters["pml"].value = value;
    EXPECT_EQ(verdict(one), Verdict::kDirect) << value;
  }
}

TEST(Judge, OpenibNeedsBothHalvesAndItsSwitch) {
  Installation one = open_mpi("1.10.7");
  one.components["btl"].insert("openib");
  EXPECT_EQ(verdict(one), Verdict::kStaged);
  one.parameters["btl_openib_have_cuda_gdr"].value = "true";
  one.parameters["btl_openib_have_driver_gdr"].value = "false";
  EXPECT_EQ(verdict(one), Verdict::kStaged);
  one.parameters["btl_openib_have_driver_gdr"].value = "true";
  one.parameters["btl_openib_want_cuda_gdr"].value = "false";
  const Judgement off = judge(one, {}, {});
  EXPECT_EQ(off.verdict, Verdict::kStaged);
  EXPECT_EQ(off.with_settings, Verdict::kDirect);
  one.parameters["btl_openib_want_cuda_gdr"].value = "true";
  EXPECT_EQ(verdict(one), Verdict::kDirect);
}

TEST(Judge, OpenibIsNotUsedFromVersion4On) {
  Installation one = open_mpi("4.0.5");
  one.components["btl"].insert("openib");
  one.parameters["btl_openib_have_cuda_gdr"].value = "true";
  one.parameters["btl_openib_have_driver_gdr"].value = "true";
  one.parameters["btl_openib_want_cuda_gdr"].value = "true";
  EXPECT_EQ(verdict(one), Verdict::kStaged);
  one.parameters["btl_openib_allow_ib"].value = "true";
  EXPECT_EQ(verdict(one), Verdict::kDirect);
}

TEST(Judge, CudaThatIsSwitchedOffCrashes) {
  Installation one = over_ucx("4.1.6", Tri::kYes, "1.16.0");
  one.parameters["opal_cuda_support"].value = "false";
  const Judgement judgement = judge(one, {}, {});
  EXPECT_EQ(judgement.verdict, Verdict::kNone);
  EXPECT_EQ(judgement.with_settings, Verdict::kDirect);
  ASSERT_FALSE(judgement.settings.empty());
  EXPECT_EQ(judgement.settings.front().command.text(), "mpirun --mca opal_cuda_support 1");
}

TEST(Judge, MissingDriverHalfStages) {
  const Installation one = over_ucx("4.1.6", Tri::kYes, "1.18.0");
  DriverHalf half = driver();
  EXPECT_EQ(verdict(one, half), Verdict::kStaged);
  half.peer_module = "nvidia_peermem 535.54";
  EXPECT_EQ(verdict(one, half), Verdict::kDirect);
}

TEST(Judge, UcxBefore118SeesPeerMemoryInOnePlaceOnly) {
  DriverHalf half = driver();
  half.peer_module = "nvidia_peermem 535.54";
  EXPECT_EQ(verdict(over_ucx("4.1.6", Tri::kYes, "1.17.0"), half), Verdict::kStaged);
  half.memory_peers = true;
  EXPECT_EQ(verdict(over_ucx("4.1.6", Tri::kYes, "1.17.0"), half), Verdict::kDirect);
}

TEST(Judge, UcxBefore114UsesNoDmaBuf) {
  DriverHalf half = driver();
  half.dma_buf = Tri::kYes;
  EXPECT_EQ(verdict(over_ucx("4.1.6", Tri::kYes, "1.12.1"), half), Verdict::kStaged);
  EXPECT_EQ(verdict(over_ucx("4.1.6", Tri::kYes, "1.14.0"), half), Verdict::kDirect);
}

TEST(Judge, OpenibAndMvapich2KnowNoDmaBuf) {
  DriverHalf half = driver();
  half.dma_buf = Tri::kYes;
  Installation one;
  one.family = Family::kMvapich;
  one.product = "MVAPICH2-GDR";
  one.device = "ch3:mrail";
  one.cuda = Tri::kYes;
  const Variables on = {{"MV2_USE_CUDA", "1"}};
  EXPECT_EQ(judge(one, half, on).verdict, Verdict::kStaged);
  EXPECT_EQ(judge(one, half, {}).with_settings, Verdict::kStaged);
  half.peer_module = "nvidia_peermem 550.54";
  EXPECT_EQ(judge(one, half, on).verdict, Verdict::kDirect);
}

TEST(Judge, UcxIsNotChosenByItselfOnOtherNics) {
  Installation one = over_ucx("4.1.6", Tri::kYes, "1.17.0");
  one.parameters["pml_ucx_devices"].value = "mlx*";
  DriverHalf half = driver();
  half.dma_buf = Tri::kYes;
  const Judgement judgement = judge(one, half, {});
  EXPECT_EQ(judgement.verdict, Verdict::kStaged);
  EXPECT_EQ(judgement.with_settings, Verdict::kDirect);
  ASSERT_FALSE(judgement.settings.empty());
  EXPECT_EQ(judgement.settings.back().command.text(), "mpirun --mca pml ucx");
  half.mellanox_nic = true;
  EXPECT_EQ(verdict(one, half), Verdict::kDirect);
  half.mellanox_nic = false;
  one.parameters["pml"].value = "ucx";
  EXPECT_EQ(verdict(one, half), Verdict::kDirect);
}

TEST(Judge, CudaOfOpenMpi5IsOffOnlyIfSomebodySaysSo) {
  Installation one = over_ucx("5.0.6", Tri::kYes, "1.17.0");
  one.parameters["opal_cuda_support"] = {"false", "default"};
  EXPECT_EQ(verdict(one), Verdict::kDirect);
  one.parameters["opal_cuda_support"] = {"false",
                                         "file (/opt/conda/etc/openmpi-mca-params.conf:9)"};
  EXPECT_EQ(verdict(one), Verdict::kNone);
}

TEST(Judge, UcxVariablesCanSwitchCudaOff) {
  const Installation one = over_ucx("4.1.6", Tri::kYes, "1.17.0");
  for (const char* value : {"rc,sm", "^cuda", "^sm,cuda_copy", "rc,cuda_ipc"}) {
    const Judgement judgement = judge(one, {}, {{"UCX_TLS", value}});
    EXPECT_EQ(judgement.verdict, Verdict::kNone) << value;
    EXPECT_EQ(judgement.with_settings, Verdict::kDirect) << value;
  }
  for (const char* value : {"all", "rc,cuda", "rc,cuda_copy,cuda_ipc", "^sm", ""}) {
    EXPECT_EQ(judge(one, {}, {{"UCX_TLS", value}}).verdict, Verdict::kDirect) << value;
  }
  EXPECT_EQ(judge(one, {}, {{"UCX_IB_GPU_DIRECT_RDMA", "no"}}).verdict, Verdict::kStaged);
}

TEST(Judge, MpichOverLibfabricIsDirectOnlyWhenAsked) {
  Installation one;
  one.family = Family::kMpich;
  one.version = "4.2.2";
  one.device = "ch4:ofi";
  one.cuda = Tri::kYes;
  one.ofi = Ofi{};
  one.ofi->cuda = Tri::kYes;
  EXPECT_EQ(verdict(one), Verdict::kStaged);
  EXPECT_EQ(judge(one, {}, {{"MPIR_CVAR_CH4_OFI_ENABLE_HMEM", "1"}}).verdict, Verdict::kDirect);
  EXPECT_EQ(judge(one, {}, {{"MPIR_CVAR_ENABLE_GPU", "0"}}).verdict, Verdict::kNone);
}

TEST(Judge, VendorsSwitchesAreOffByDefault) {
  Installation one;
  one.family = Family::kIntel;
  one.version = "2021.14";
  EXPECT_EQ(verdict(one), Verdict::kNone);
  EXPECT_EQ(judge(one, {}, {{"I_MPI_OFFLOAD", "1"}}).verdict, Verdict::kStaged);
  EXPECT_EQ(judge(one, {}, {{"I_MPI_OFFLOAD", "1"}, {"I_MPI_OFFLOAD_RDMA", "1"}}).verdict,
            Verdict::kDirect);
  one.family = Family::kMvapich;
  one.product = "MVAPICH2-GDR";
  one.version = "2.3.7";
  one.cuda = Tri::kYes;
  EXPECT_EQ(verdict(one), Verdict::kNone);
  EXPECT_EQ(judge(one, {}, {{"MV2_USE_CUDA", "1"}}).verdict, Verdict::kDirect);
  one.product = "MVAPICH2";
  EXPECT_EQ(judge(one, {}, {{"MV2_USE_CUDA", "1"}}).verdict, Verdict::kStaged);
}

TEST(Judge, EveryVerdictHasAReasonAndALauncher) {
  for (const Family family :
       {Family::kOpenMpi, Family::kMpich, Family::kMvapich, Family::kIntel, Family::kCray}) {
    Installation one;
    one.family = family;
    const Judgement judgement = judge(one, {}, {});
    EXPECT_FALSE(judgement.why.empty()) << name_of(family);
    EXPECT_FALSE(judgement.launch.empty()) << name_of(family);
  }
}

}  // namespace
}  // namespace gdr::mpi
