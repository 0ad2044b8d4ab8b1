#include "nccl/causes.h"

#include <gtest/gtest.h>

#include "logs.h"

namespace gdr::nccl {
namespace {

constexpr const char* kSendGdr = "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA";
constexpr const char* kReceiveGdr = "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA";
constexpr const char* kSocket = "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0";
constexpr const char* kP2p = "Channel 00/0 : 1[0] -> 0[0] via P2P/CUMEM";
constexpr const char* kNicCan = "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'";
constexpr const char* kNicCannot = "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'";

std::vector<std::string> ids(const std::vector<Cause>& causes) {
  std::vector<std::string> found;
  for (const Cause& cause : causes) found.push_back(cause.id);
  return found;
}

using Ids = std::vector<std::string>;

TEST(NcclVerdict, IsGdrdmaOnlyIfEveryNetworkConnectionUsesIt) {
  EXPECT_EQ(report_of("2.28.9", {kSendGdr, kReceiveGdr, kP2p}).verdict, Verdict::kGdrdma);
  EXPECT_EQ(report_of("2.28.9", {kSendGdr, kReceive}).verdict, Verdict::kPartial);
  EXPECT_EQ(report_of("2.28.9", {kSend, kReceive}).verdict, Verdict::kNone);
  EXPECT_EQ(report_of("2.28.9", {kP2p}).verdict, Verdict::kNoNetwork);
  EXPECT_EQ(report_of("2.28.9", {"Using network IB"}).verdict, Verdict::kNoConnections);
}

TEST(NcclVerdict, MeetsWhatWasExpected) {
  struct Row {
    std::vector<std::string> messages;
    bool gdrdma, local, any;
  };
  const Row rows[] = {{{kSendGdr, kP2p}, true, false, true},
                      {{kSendGdr, kReceive}, false, false, true},
                      {{kSocket}, false, false, true},
                      {{kP2p}, false, true, true},
                      {{"Using network IB"}, false, false, false}};
  for (const Row& row : rows) {
    EXPECT_EQ(report_of("2.28.9", row.messages, Expectation::kGdrdma).met, row.gdrdma);
    EXPECT_EQ(report_of("2.28.9", row.messages, Expectation::kLocal).met, row.local);
    EXPECT_EQ(report_of("2.28.9", row.messages, Expectation::kAny).met, row.any);
  }
}

TEST(NcclVerdict, IsNotMadeBetterByAListThatIsFull) {
  Log log = read_log(std::string("a:1:2 [0] NCCL INFO ") + kSendGdr + "\n");
  log.connections_left_out = log.plain_left_out = 1;
  EXPECT_EQ(judge(log, Expectation::kGdrdma).verdict, Verdict::kPartial);
}

TEST(NcclVerdict, IsNotGdrdmaWhereNoConnectionIsCertain) {
  const Report report =
      judge(read_log("a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDR"),
            Expectation::kGdrdma);
  EXPECT_FALSE(report.met);
  EXPECT_EQ(ids(report.causes), Ids{"truncated"});
}

TEST(NcclCause, IsNeverMissingWhereTheExpectationIsNotMet) {
  const std::vector<std::string> all = {kSend,
                                        kReceiveGdr,
                                        kSocket,
                                        kP2p,
                                        kNicCan,
                                        kNicCannot,
                                        "Using network IB",
                                        "Using network Socket",
                                        "NCCL_NET_GDR_LEVEL set by environment to PIX"};
  for (unsigned chosen = 1; chosen < 1u << all.size(); ++chosen) {
    std::vector<std::string> messages;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((chosen >> i & 1) != 0) messages.push_back(all[i]);
    }
    for (const Expectation expectation : {Expectation::kGdrdma, Expectation::kLocal}) {
      const Report report = report_of("2.28.9", messages, expectation);
      EXPECT_EQ(report.met, report.causes.empty()) << chosen;
      for (const Cause& cause : report.causes) EXPECT_FALSE(cause.next.empty()) << cause.id;
    }
  }
}

TEST(NcclCause, IsTheModuleWhereTheNicCannot) {
  const Report report = report_of("2.14.3", {kNicCannot, kSend});
  ASSERT_EQ(ids(report.causes), Ids{"no_peer_memory"});
  EXPECT_EQ(report.causes[0].next.text(), "sudo modprobe nvidia-peermem");
  EXPECT_EQ(report.causes[0].evidence->text, kNicCannot);
  EXPECT_EQ(report.causes[0].evidence->line, 2u);
  // NCCL before 2.9 looks for the module's former name alone.
  EXPECT_EQ(report_of("2.8.4", {kNicCannot, kSend}).causes[0].next.text(),
            "sudo modprobe nv_peer_mem");
}

TEST(NcclCause, IsDmaBufSwitchedOffIfTheEnvironmentSaysSo) {
  const Report report =
      report_of("2.21.5", {"NCCL_DMABUF_ENABLE set by environment to 0.", kNicCannot, kSend});
  EXPECT_EQ(report.causes[0].next.text(), "unset NCCL_DMABUF_ENABLE");
}

TEST(NcclCause, IsTheOneHostWhoseNicCannot) {
  const Report report =
      judge(read_log(std::string("good:1:2 [0] NCCL INFO ") + kNicCan + "\nbad:1:2 [0] NCCL INFO " +
                     kNicCannot + "\nbad:1:2 [0] NCCL INFO " + kSend + "\n"),
            Expectation::kGdrdma);
  ASSERT_EQ(ids(report.causes), Ids{"no_peer_memory"});
  EXPECT_NE(report.causes[0].what.find("mlx5_0 of bad"), std::string::npos);
}

TEST(NcclCause, IsTheDistanceInTheNamesOfTheVersion) {
  const std::string words = "GPU Direct RDMA Disabled for GPU 0 / HCA 0 (distance 5 > 4)";
  Report report = report_of("2.8.4", {kNicCan, words, kSend});
  ASSERT_EQ(ids(report.causes), Ids{"distance"});
  EXPECT_EQ(report.causes[0].next.text(), "NCCL_NET_GDR_LEVEL=PHB");
  EXPECT_EQ(report.causes[0].evidence->text, words);
  report = report_of("", {words, kSend});
  EXPECT_EQ(report.causes[0].next.text(), "NCCL_NET_GDR_LEVEL=SYS");
}

TEST(NcclCause, AllowsNoMoreThanTheNearestNicOfEachGpuNeeds) {
  const Report report =
      report_of("2.28.9", {"GPU Direct RDMA Disabled for GPU 0 / HCA 0 (distance 8 > 6)",
                           "GPU Direct RDMA Disabled for GPU 0 / HCA 1 (distance 9 > 6)",
                           "GPU Direct RDMA Enabled for GPU 1 / HCA 1 (distance 4 <= 6), read 1",
                           "GPU Direct RDMA Disabled for GPU 1 / HCA 0 (distance 9 > 6)", kSend});
  ASSERT_EQ(ids(report.causes), Ids{"distance"});
  EXPECT_EQ(report.causes[0].next.text(), "NCCL_NET_GDR_LEVEL=PHB");
}

TEST(NcclCause, IsTheLevelIfTheEnvironmentSetsItBelowTheDefault) {
  const std::string level = "NCCL_NET_GDR_LEVEL set by environment to LOC";
  Report report = report_of(
      "2.21.5", {level, "GPU Direct RDMA Disabled for GPU 0 / HCA 0 (distance 3 > 0)", kSend});
  ASSERT_EQ(ids(report.causes), Ids{"gdr_level"});
  EXPECT_EQ(report.causes[0].next.text(), "unset NCCL_NET_GDR_LEVEL");
  // Unsetting would not help where the NIC is farther than the default allows.
  report = report_of("2.21.5",
                     {level, "GPU Direct RDMA Disabled for GPU 0 / HCA 0 (distance 7 > 0)", kSend});
  EXPECT_EQ(report.causes[0].next.text(), "NCCL_NET_GDR_LEVEL=SYS");
  // 2.30 logs no distance.
  report = report_of("2.30.4", {level, kNicCan, kSend});
  EXPECT_EQ(ids(report.causes), Ids{"gdr_level"});
}

TEST(NcclCause, IsReadingWhereOnlySendsLackIt) {
  EXPECT_EQ(ids(report_of("2.21.5", {kSend, kReceiveGdr}).causes), Ids{"gdr_read"});
  EXPECT_EQ(report_of("2.21.5", {"NCCL_NET_GDR_READ set by environment to 0.", kSend, kReceiveGdr})
                .causes[0]
                .next.text(),
            "unset NCCL_NET_GDR_READ");
}

TEST(NcclCause, IsTheGpuWhereOnlyThatIsLeft) {
  EXPECT_EQ(ids(report_of("2.21.5", {kNicCan, kSend}).causes), Ids{"gpu"});
  EXPECT_EQ(ids(report_of("2.30.4", {kNicCan, kSend}).causes), Ids{"distance_or_gpu"});
}

TEST(NcclCause, IsWhatKeptNcclFromUsingTheNic) {
  const std::string net = "Using network Socket";
  EXPECT_EQ(ids(report_of("", {"NCCL_IB_DISABLE set by environment to 1.", net, kSocket}).causes),
            Ids{"ib_disabled"});
  EXPECT_EQ(ids(report_of("", {"NET/IB : No device found.", net, kSocket}).causes),
            Ids{"no_ib_device"});
  EXPECT_EQ(
      ids(report_of("", {"NCCL_IB_HCA set to mlx4", "NET/IB : No device found.", net, kSocket})
              .causes),
      Ids{"ib_hca"});
  EXPECT_EQ(ids(report_of("", {"Failed to open libibverbs.so[.1]", "NET/IB : No device found.", net,
                               kSocket})
                    .causes),
            Ids{"no_libibverbs"});
  EXPECT_EQ(ids(report_of("", {"NET/IB : No IP interface found.", net, kSocket}).causes),
            Ids{"no_ip_interface"});
  EXPECT_EQ(ids(report_of("", {net, kSocket}).causes), Ids{"sockets_chosen"});
  EXPECT_EQ(ids(report_of("", {"Error: network IBX not found."}).causes), Ids{"network_missing"});
  EXPECT_EQ(ids(report_of("", {"Channel 00/0 : 0[0] -> 1[0] [send] via NET/UCX/0"}).causes),
            Ids{"plugin"});
}

// NCCL logs a variable that is 0 as well.
TEST(NcclCause, IsNotAVariableThatSwitchesNothingOff) {
  EXPECT_EQ(ids(report_of("", {"NCCL_IB_DISABLE set by environment to 0.",
                               "NET/IB : No device found.", kSocket})
                    .causes),
            Ids{"no_ib_device"});
}

TEST(NcclCause, IsThatNoNetworkIsNeeded) {
  EXPECT_EQ(ids(report_of("2.28.3", {kP2p}).causes), Ids{"inside_host"});
  EXPECT_EQ(ids(report_of("", {"comm 0x1 rank 0 nranks 1 cudaDev 0 - Init COMPLETE"}).causes),
            Ids{"one_rank"});
}

TEST(NcclCause, IsTheLogWhereThatLacksTheAnswer) {
  EXPECT_EQ(ids(report_of("2.21.5", {kSend}).causes), Ids{"log_subsystems"});
  EXPECT_EQ(ids(report_of("2.21.5", {}).causes), Ids{"log_level"});
  EXPECT_EQ(report_of("2.21.5", {}).causes[0].next.text(),
            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,ENV,GRAPH");
  EXPECT_EQ(ids(report_of("2.28.3", {"comm 0x1 rank 0 nranks 2 cudaDev 0 - Init COMPLETE"}).causes),
            Ids{"not_connected"});
}

TEST(NcclCause, IsAnErrorWhereNothingWasConnected) {
  const Report report =
      report_of("", {"Call to ibv_reg_mr failed with error Cannot allocate memory"});
  EXPECT_EQ(ids(report.causes), Ids{"registration"});
  EXPECT_EQ(report.causes[0].next.text(), "ulimit -l unlimited");
}

TEST(NcclCause, ToldBesidesIsAnErrorOfARunThatMetTheExpectation) {
  const Report report =
      report_of("2.23.4", {kSendGdr, "NCCL_IB_GID_INDEX set by environment to 1.",
                           "Call to ibv_modify_qp failed with error Connection timed out"});
  EXPECT_TRUE(report.met);
  ASSERT_EQ(ids(report.also), Ids{"gid"});
  EXPECT_EQ(report.also[0].next.text(), "unset NCCL_IB_GID_INDEX");
  EXPECT_EQ(ids(report_of("", {kSendGdr,
                               "NET/IB : Got completion from peer x with status=12 "
                               "opcode=1 len=0 vendor err 129"})
                    .also),
            Ids{"unreachable"});
}

}  // namespace
}  // namespace gdr::nccl
