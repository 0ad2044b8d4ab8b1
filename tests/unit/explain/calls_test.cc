// Each call of an RDMA library with each error, in the words in which programs report it: what was
// not looked for one by one must be known by its kind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explained.h"

namespace gdr::explain {
namespace {

struct Error {
  int number;
  const char* message;
};
constexpr Error kEperm{1, "Operation not permitted"};
constexpr Error kEio{5, "Input/output error"};
constexpr Error kEagain{11, "Resource temporarily unavailable"};
constexpr Error kEnomem{12, "Cannot allocate memory"};
constexpr Error kEacces{13, "Permission denied"};
constexpr Error kEfault{14, "Bad address"};
constexpr Error kEnodev{19, "No such device"};
constexpr Error kEinval{22, "Invalid argument"};
constexpr Error kEnospc{28, "No space left on device"};
constexpr Error kErange{34, "Numerical result out of range"};
constexpr Error kEnosys{38, "Function not implemented"};
constexpr Error kEopnotsupp{95, "Operation not supported"};
constexpr Error kEnetunreach{101, "Network is unreachable"};
constexpr Error kEhostunreach{113, "No route to host"};
constexpr Error kEtimedout{110, "Connection timed out"};
constexpr Error kEremoteio{121, "Remote I/O error"};
constexpr Error kEcanceled{125, "Operation canceled"};

void expect(const std::vector<const char*>& calls, const std::vector<Error>& errors,
            const char* symptom) {
  for (const std::string call : calls) {
    for (const auto [number, message] : errors) {
      // Too many programs return 1 for anything: only errno 1 is EPERM.
      const std::string numbered = fmt::format("{} failed, errno {}", call, number);
      for (const std::string& line :
           {numbered, fmt::format("{} failed: {}", call, message),
            fmt::format("ERROR: {}() returned {} ({})", call, message, number),
            fmt::format("[host:7] x.c:12 error: {} : {}", call, message)}) {
        EXPECT_EQ(first_of(line), symptom) << line;
      }
    }
  }
}

TEST(Calls, ThatCreateAQueueAreKnownByTheirError) {
  const std::vector<const char*> calls = {
      "ibv_create_cq",           "ibv_create_qp",  "ibv_create_srq",
      "ibv_create_comp_channel", "ibv_alloc_pd",   "mlx5dv_create_qp",
      "ibv_create_qp_ex",        "rdma_create_qp", "fi_cq_open"};
  expect(calls, {kEperm, kEacces}, "queue-permission");
  expect(calls, {kEnomem, kEagain, kEnospc}, "nic-resources");
  expect(calls, {kEinval, kErange}, "queue-invalid");
  expect(calls, {kEnosys, kEopnotsupp}, "queue-unsupported");
  expect(calls, {kEtimedout, kEcanceled}, "nic-command-timeout");
  expect(calls, {kEremoteio, kEio}, "nic-command-refused");
}

TEST(Calls, ThatRegisterMemoryAreKnownByTheirError) {
  const std::vector<const char*> calls = {"ibv_reg_mr", "ibv_reg_mr_iova2", "fi_mr_reg",
                                          "fi_mr_regattr", "ucp_mem_map"};
  expect(calls, {kEfault}, "mr-bad-address");
  expect(calls, {kEinval}, "mr-invalid-argument");
  expect(calls, {kEnomem}, "locked-memory");
  expect(calls, {kEagain}, "nic-resources");
  expect(calls, {kEperm, kEacces}, "mr-permission");
  expect(calls, {kEnospc, kErange}, "mr-too-large");
  expect(calls, {kEnosys, kEopnotsupp}, "mr-no-dma-buf");
  expect(calls, {kEio, kEremoteio}, "mr-device-limit");
  expect(calls, {kEtimedout, kEcanceled}, "nic-command-timeout");
}

// GPU memory is not what the limit of locked memory counts.
TEST(Calls, ThatRegisterGpuMemoryAreToldItsWindow) {
  expect({"ibv_reg_dmabuf_mr", "Failed to register GPU memory"}, {kEnomem, kEnospc},
         "mr-too-large");
}

TEST(Calls, ThatConnectAreKnownByTheirError) {
  const std::vector<const char*> calls = {"ibv_modify_qp", "ibv_create_ah"};
  expect(calls, {kEnetunreach, kEhostunreach}, "qp-no-route");
  expect(calls, {kEtimedout}, "qp-timed-out");
  expect(calls, {kEinval}, "qp-values");
  expect(calls, {kEnodev}, "gid-other-namespace");
  expect(calls, {kEremoteio}, "nic-command-refused");
  expect({"Failed to modify QP to INIT"}, {kEinval}, "qp-init-refused");
  expect({"Failed to modify QP to RTS"}, {kEinval}, "qp-rts-values");
  EXPECT_EQ(first_of("failed to modify QP state to RTR"), "qp-not-connected");
}

TEST(Calls, ThatOpenAskAndPostAreKnown) {
  expect({"ibv_open_device"}, {kEacces, kEperm, kEnodev}, "rdma-device-closed");
  expect({"ibv_query_device", "ibv_query_port"}, {kEinval, kEnodev}, "nic-query");
  const std::vector<const char*> posts = {"ibv_post_send", "ibv_post_recv", "fi_write"};
  expect(posts, {kEnomem}, "post-queue-full");
  expect(posts, {kEinval}, "post-values");
  expect(posts, {kEagain}, "post-refused");
  expect({"mlx5dv_devx_obj_create"}, {kEopnotsupp, kEperm}, "devx-unavailable");
  expect({"mlx5dv_devx_obj_create"}, {kEtimedout, kEcanceled}, "nic-command-timeout");
  expect({"mlx5dv_devx_obj_modify"}, {kEremoteio}, "nic-command-refused");
}

TEST(Completions, AreKnownByTheirStatusInTheWordsOfEachProgram) {
  const struct {
    int status;
    const char* words;
    const char* constant;
    const char* symptom;
  } kStatuses[] = {
      {1, "local length error", "IBV_WC_LOC_LEN_ERR", "local-request-error"},
      {2, "local QP operation error", "IBV_WC_LOC_QP_OP_ERR", "local-request-error"},
      {4, "local protection error", "IBV_WC_LOC_PROT_ERR", "gpu-access-fails"},
      {5, "Work Request Flushed Error", "IBV_WC_WR_FLUSH_ERR", "work-flushed"},
      {9, "remote invalid request error", "IBV_WC_REM_INV_REQ_ERR", "remote-access-refused"},
      {10, "remote access error", "IBV_WC_REM_ACCESS_ERR", "remote-access-refused"},
      {11, "remote operation error", "IBV_WC_REM_OP_ERR", "remote-access-refused"},
      {12, "transport retry counter exceeded", "IBV_WC_RETRY_EXC_ERR", "peer-never-answers"},
      {13, "RNR retry counter exceeded", "IBV_WC_RNR_RETRY_EXC_ERR", "receiver-not-ready"}};
  for (const auto& [status, words, constant, symptom] : kStatuses) {
    for (const std::string& line :
         {fmt::format("wr_id 7: completion with status {}", words),
          fmt::format("CQE error, wr_id=3, status={} ({}), opcode=1", status, words),
          fmt::format("poll cq: wc.status = {}", constant),
          fmt::format("mlx5_0/1: QP 51291 error: {} (0x8e 0x0 0x0)", words),
          fmt::format("NCCL WARN NET/IB : Got completion from peer 10.0.0.2<1> with status={} "
                      "opcode=0 len=0 vendor err 0",
                      status)}) {
      EXPECT_EQ(first_of(line), symptom) << line;
    }
  }
}

TEST(Completions, AreKnownByTheirStatusInHexadecimal) {
  EXPECT_EQ(first_of("got bad completion with status: 0xc, vendor syndrome: 0x81"),
            "peer-never-answers");
  EXPECT_EQ(first_of("got bad completion with status: 0xa, vendor syndrome: 0x88"),
            "remote-access-refused");
  EXPECT_EQ(first_of("got bad completion with status: 0xd, vendor syndrome: 0x87"),
            "receiver-not-ready");
}

// Numbers of errors are decimal: "status 0x16" of a NIC's command is no EINVAL.
TEST(Calls, AreNotJudgedByHexadecimalNumbers) {
  EXPECT_EQ(first_of("ibv_create_qp failed, status 0x16"), "qp-not-created");
}

// What a broken queue pair answers to the next request is no cause.
TEST(Calls, ThatPostToABrokenQueuePairFollowFromTheFirstCompletion) {
  EXPECT_EQ(causes_in("RECV 9 failed: IBV_WC_RETRY_EXC_ERR\n"
                      "ibv_post_recv failed with error 12: Cannot allocate memory\n"),
            Ids{"peer-never-answers"});
}

TEST(Combinations, TellTheCauseThatOneLineLeavesOpen) {
  const struct {
    const char* lines;
    const char* symptom;
  } kTexts[] = {
      {"Unable to create QP.\nCouldn't create IB resources\n00:06.0 Ethernet controller: "
       "Amazon.com, Inc. Elastic Fabric Adapter (EFA)\n",
       "perftest-without-wr"},
      {"failed to create extended queue pair (QP): Operation not supported\n"
       "link rdmap16s27/1 state ACTIVE physical_state LINK_UP\n",
       "efa-no-rc"},
      {"Unable to create QP.\n220 max_inline_data could be too large\n", "queue-inline"},
      {"mount.nfs: Protocol error\noptions: vers=3,rdma,port=20049\n", "nfs-rdma"},
      {"inconsistent IB device naming\nsetenv UCX_NET_DEVICES mlx5_ib0:1\n", "nic-names-differ"}};
  for (const auto& [lines, symptom] : kTexts) {
    EXPECT_EQ(causes_in(lines), Ids{symptom}) << lines;
  }
}

TEST(Values, OfCountersAreJudgedWhereTheyAreNotZero) {
  EXPECT_EQ(first_of("SymbolErrorCounter:..............8122"), "link-errors");
  EXPECT_EQ(first_of("SymbolErrorCounter:..............0"), "");
  EXPECT_EQ(first_of("req_transport_retries_exceeded 7"), "request-errors-counted");
  EXPECT_EQ(first_of("req_transport_retries_exceeded 0"), "");
}

}  // namespace
}  // namespace gdr::explain
