// Variables of UCX, NVSHMEM and Mooncake.
#include "doctor/environment.h"
#include "patient.h"

namespace gdr::doctor::test {
namespace {

Findings with(const Check& check, Environment environment) {
  Patient patient;
  patient.environment = std::move(environment);
  return patient.find(check);
}

TEST(UcxVariables, WithoutAnRdmaTransportAreAWarning) {
  for (const char* list : {"tcp,cuda", "sm,self,cuda_copy", "tcp,cuda_ipc,cuda_copy", "^ib",
                           "^rc,dc,ud", "ud:aux,tcp,cuda"}) {
    const Findings found = with(kUcxVariables, {{"UCX_TLS", list}});
    EXPECT_EQ(outcomes(found), "warn") << list;
    EXPECT_TRUE(says(found, "has no RDMA transport"));
  }
}

TEST(UcxVariables, WithoutACudaTransportAreAWarning) {
  for (const char* list : {"rc", "rc,sm,self", "rc_mlx5,gdr_copy", "^cuda", "^cuda_copy"}) {
    const Findings found = with(kUcxVariables, {{"UCX_TLS", list}});
    EXPECT_EQ(outcomes(found), "warn") << list;
    EXPECT_TRUE(says(found, "has no CUDA transport"));
  }
}

TEST(UcxVariables, ThatLeaveBothAreWell) {
  for (const char* list :
       {"all", "rc,cuda", "rc_x,sm,cuda_copy,cuda_ipc", "ib,cuda", "^tcp", "dc_mlx5,self,cuda",
        "\\rc_verbs,cuda", "^rc", "^ud,ud:aux", "srd,cuda"}) {
    EXPECT_EQ(outcomes(with(kUcxVariables, {{"UCX_TLS", list}})), "ok") << list;
  }
}

TEST(UcxVariables, WarnsOfVariablesThatNameOnlyNetworkInterfaces) {
  EXPECT_TRUE(says(with(kUcxVariables, {{"UCX_NET_DEVICES", "ens1np0"}}),
                   "names no RDMA device of this host"));
  for (const char* list : {"all", "mlx5_1:1", "ens1np0,mlx5_1:1", "^mlx5_9:1"}) {
    EXPECT_EQ(outcomes(with(kUcxVariables, {{"UCX_NET_DEVICES", list}})), "ok") << list;
  }
}

TEST(UcxVariables, DoNotApplyWhereNoneIsSet) {
  EXPECT_TRUE(with(kUcxVariables, {{"UCX_LOG_LEVEL", "info"}}).empty());
}

TEST(NvshmemVariables, ThatTakeTheNetworkAwayAreAWarning) {
  EXPECT_TRUE(says(with(kNvshmemVariables, {{"NVSHMEM_REMOTE_TRANSPORT", "none"}}),
                   "NVSHMEM reaches no other host"));
  EXPECT_TRUE(says(with(kNvshmemVariables, {{"NVSHMEM_HCA_PREFIX", "ibp"}}),
                   "no RDMA device has this prefix"));
}

TEST(NvshmemVariables, OfNicsCountOnlyBesideTheMapping) {
  const Findings found = with(kNvshmemVariables, {{"NVSHMEM_HCA_LIST", "mlx5_1:1"}});
  EXPECT_EQ(outcomes(found), "warn");
  EXPECT_TRUE(says(found, "export NVSHMEM_ENABLE_NIC_PE_MAPPING=1"));
  EXPECT_EQ(outcomes(with(kNvshmemVariables, {{"NVSHMEM_HCA_LIST", "mlx5_1:1"},
                                              {"NVSHMEM_ENABLE_NIC_PE_MAPPING", "1"}})),
            "ok");
  EXPECT_TRUE(says(with(kNvshmemVariables, {{"NVSHMEM_HCA_PE_MAPPING", "mlx5_1:1:2,mlx5_7:1:2"},
                                            {"NVSHMEM_ENABLE_NIC_PE_MAPPING", "1"}}),
                   "names mlx5_7"));
}

TEST(NvshmemVariables, OfGidAreJudgedByTheNics) {
  EXPECT_TRUE(says(with(kNvshmemVariables, {{"NVSHMEM_IB_GID_INDEX", "3"}}), "has no such GID"));
  EXPECT_TRUE(says(with(kNvshmemVariables, {{"NVSHMEM_IB_GID_INDEX", "0"}}), "IB/RoCE v1"));
  EXPECT_EQ(outcomes(with(kNvshmemVariables, {{"NVSHMEM_IB_GID_INDEX", "1"}})), "ok");
  EXPECT_EQ(outcomes(with(kNvshmemVariables, {{"NVSHMEM_IB_GID_INDEX", "-1"}})), "ok");
}

TEST(NvshmemVariables, ThatLeaveNoWayOfRegistrationAreAWarning) {
  Patient patient;
  patient.environment = {{"NVSHMEM_IB_DISABLE_DMABUF", "1"}};
  EXPECT_TRUE(says(patient.find(kNvshmemVariables), "cannot register GPU memory"));
  patient.load_peer_memory();
  EXPECT_EQ(outcomes(patient.find(kNvshmemVariables)), "ok");
}

TEST(NvshmemVariables, DoNotApplyWhereNoneIsSet) {
  EXPECT_TRUE(with(kNvshmemVariables, {{"NCCL_DEBUG", "INFO"}}).empty());
}

TEST(MooncakeVariables, WarnsOfVariablesThatForceAnotherTransportWithAnyValue) {
  for (const char* name : {"MC_FORCE_TCP", "MC_FORCE_MNNVL"}) {
    for (const char* value : {"1", "0", "false"}) {
      const Findings found = with(kMooncakeVariables, {{name, value}});
      EXPECT_EQ(outcomes(found), "warn") << name << "=" << value;
      EXPECT_TRUE(says(found, "whatever the value is"));
    }
  }
}

TEST(MooncakeVariables, OfNicPortAndGidAreJudgedByTheNics) {
  EXPECT_TRUE(says(with(kMooncakeVariables, {{"MC_GID_INDEX", "3"}}), "has no such GID"));
  EXPECT_TRUE(says(with(kMooncakeVariables, {{"MC_IB_PORT", "2"}}), "no NIC here has that port"));
  EXPECT_TRUE(says(with(kMooncakeVariables, {{"MC_MS_FILTERS", "mlx5_1,mlx5_7"}}), "names mlx5_7"));
  EXPECT_EQ(outcomes(with(kMooncakeVariables, {{"MC_GID_INDEX", "1"},
                                               {"MC_IB_PORT", "1"},
                                               {"MC_MS_FILTERS", "mlx5_1"},
                                               {"MC_MTU", "4096"}})),
            "ok");
}

TEST(MooncakeVariables, ThatAskForAPeerMemoryModuleWantOne) {
  Patient patient;
  patient.environment = {{"WITH_NVIDIA_PEERMEM", "1"}};
  EXPECT_TRUE(says(patient.find(kMooncakeVariables), "no peer-memory module is loaded"));
  patient.load_peer_memory();
  EXPECT_EQ(outcomes(patient.find(kMooncakeVariables)), "ok");
  EXPECT_EQ(outcomes(with(kMooncakeVariables, {{"WITH_NVIDIA_PEERMEM", "0"}})), "ok");
}

TEST(MooncakeVariables, DoNotApplyWhereNoneIsSet) {
  EXPECT_TRUE(with(kMooncakeVariables, {{"NCCL_DEBUG", "INFO"}}).empty());
}

TEST(Environment, HasNoPasswordOfMooncake) {
  EXPECT_FALSE(is_relevant_variable("MC_REDIS_PASSWORD"));
  EXPECT_TRUE(is_relevant_variable("MC_GID_INDEX"));
}

}  // namespace
}  // namespace gdr::doctor::test
