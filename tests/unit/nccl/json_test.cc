#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "logs.h"
#include "nccl/json_report.h"

namespace gdr::nccl {
namespace {

using nlohmann::json;

TEST(NcclJson, HoldsVerdictCountsCausesAndConnections) {
  const json found = json::parse(to_json(report_of(
      "2.28.9+cuda12.9", {kSend, kReceive, "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
                          "Channel 03/1 : 0[0] -> 2[2] via P2P/CUMEM/read"})));
  EXPECT_EQ(found["schema"], "gdr.nccl.check/1");
  EXPECT_EQ(found["verdict"], "NO GDRDMA");
  EXPECT_EQ(found["expected"], "gdrdma");
  EXPECT_EQ(found["met"], false);
  EXPECT_EQ(found["exit_status"], 1);
  EXPECT_EQ(found["counts"]["plain"], 2);
  EXPECT_EQ(found["counts"]["p2p"], 1);
  EXPECT_EQ(found["causes"][0]["id"], "no_peer_memory");
  EXPECT_EQ(found["causes"][0]["evidence"]["line"], 4);
  EXPECT_EQ(found["log"]["version"], "2.28.9+cuda12.9");
  EXPECT_EQ(found["log"]["devices"][0]["gdr"], false);
  EXPECT_EQ(found["connections"].size(), 3u);
  const json p2p = {{"channel", 3},
                    {"index", 1},
                    {"from", 0},
                    {"to", 2},
                    {"direction", "both"},
                    {"transport", "P2P"},
                    {"kind", "CUMEM/read"},
                    {"device", nullptr},
                    {"gdrdma", false},
                    {"times", 1}};
  EXPECT_NE(std::find(found["connections"].begin(), found["connections"].end(), p2p),
            found["connections"].end());
}

TEST(NcclJson, SaysNothingOfGdrdmaWhereTheEndIsMissing) {
  const json found = json::parse(
      to_json(judge(read_log("a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0"),
                    Expectation::kAny)));
  EXPECT_TRUE(found["connections"][0]["gdrdma"].is_null());
  EXPECT_EQ(found["counts"]["uncertain"], 1);
}

TEST(NcclJson, IsValidWhateverBytesTheLogHolds) {
  std::string text = "a\xff\xfe:1:2 [0] NCCL INFO Using network \xc3\x28\n";
  text += "a:1:2 [0] x.cc:1 NCCL WARN \x80\x81\n";
  EXPECT_TRUE(json::accept(to_json(judge(read_log(text), Expectation::kGdrdma))));
}

}  // namespace
}  // namespace gdr::nccl
