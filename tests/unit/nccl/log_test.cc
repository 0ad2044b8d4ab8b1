#include "nccl/log.h"

#include <gtest/gtest.h>

#include "logs.h"

namespace gdr::nccl {
namespace {

TEST(NcclLog, KnowsVersionRanksHostsNetworksAndSettings) {
  const Log log = read_log(
      "NCCL version 2.28.9+cuda12.9\n"
      "alpha:1:10 [0] NCCL INFO NCCL_NET_GDR_LEVEL set by environment to SYS\n"
      "alpha:1:10 [0] NCCL INFO Using network IB\n"
      "beta:2:20 [0] NCCL INFO comm 0x1 rank 1 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL "
      "0\n"
      "beta:2:20 [0] NCCL INFO comm 0x1 rank 1 nranks 4 cudaDev 0 - Init COMPLETE\n");
  EXPECT_EQ(log.version.text, "2.28.9+cuda12.9");
  EXPECT_EQ(log.version.minor, 28);
  EXPECT_EQ(log.ranks, 16);
  EXPECT_EQ(log.nodes, 2);
  EXPECT_EQ(log.hosts, (std::set<std::string>{"alpha", "beta"}));
  EXPECT_EQ(log.processes.size(), 2u);
  EXPECT_EQ(log.networks, (std::set<std::string>{"IB"}));
  ASSERT_NE(log.setting("NCCL_NET_GDR_LEVEL"), nullptr);
  EXPECT_EQ(log.setting("NCCL_NET_GDR_LEVEL")->value, "SYS");
  EXPECT_EQ(log.setting("NCCL_NET_GDR_LEVEL")->evidence.line, 2u);
  EXPECT_EQ(log.lines, 5u);
  EXPECT_EQ(log.infos, 4u);
}

TEST(NcclLog, CountsAConnectionOnceHoweverOftenItIsLogged) {
  const std::string line = std::string("a:1:2 [0] NCCL INFO ") + kSend + "\n";
  const Log log = read_log(line + line + line);
  ASSERT_EQ(log.connections.size(), 1u);
  EXPECT_EQ(log.connections.begin()->second, 3u);
}

TEST(NcclLog, TellsGpusOfTwoHostsApart) {
  const Log log = read_log(
      "a:1:2 [0] NCCL INFO GPU Direct RDMA Enabled for GPU 1a000 / HCA 0 (distance 4 <= 4), read "
      "1\n"
      "b:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 1a000 / HCA 0 (distance 6 > 4)\n");
  EXPECT_EQ(log.distances.size(), 2u);
}

TEST(NcclLog, ContinuesInAFurtherFileWithAFurtherLine) {
  LogReader reader;
  reader.feed("a:1:2 [0] NCCL INFO Using network IB");
  reader.next_file();
  reader.feed("a:1:3 [0] NCCL INFO Using network Socket\n");
  const Log log = reader.finish();
  EXPECT_EQ(log.networks, (std::set<std::string>{"IB", "Socket"}));
  EXPECT_EQ(log.lines, 2u);
}

TEST(NcclLog, KeepsNoMoreThanItsLimitsAndCountsTheRest) {
  LogReader reader;
  constexpr std::size_t kMore = 1000;
  for (std::size_t i = 0; i < kMostConnections + kMore; ++i) {
    const std::string n = std::to_string(i);
    reader.feed("h" + n + ":" + n + ":1 [0] NCCL INFO Channel 00/0 : " + n +
                "[0] -> 0[0] [send] via NET/IB/0\n");
    reader.feed("h:1:1 [0] NCCL INFO NCCL_X" + n + " set by environment to 1\n");
    reader.feed("h:1:1 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'x" + n + "'\n");
    reader.feed("h:1:1 [0] NCCL INFO GPU Direct RDMA Disabled for GPU " + n +
                " / HCA 0 (distance 7 > 4)\n");
    reader.feed("h:1:1 [0] NCCL INFO Using network n" + n + "\n");
  }
  const Log log = reader.finish();
  EXPECT_EQ(log.connections.size(), kMostConnections);
  EXPECT_EQ(log.connections_left_out, kMore);
  EXPECT_EQ(log.plain_left_out, kMore);
  for (const std::size_t size : {log.hosts.size(), log.processes.size(), log.settings.size(),
                                 log.devices.size(), log.distances.size(), log.networks.size()}) {
    EXPECT_LE(size, kMostNames);
  }
}

TEST(NcclLog, TakesNoVersionFromNonsense) {
  for (const char* text : {"NCCL version x", "NCCL version 99999999999.1.1", "NCCL version ",
                           "NCCL version 2", "NCCL version 2."}) {
    EXPECT_FALSE(read_log(text).version.known()) << text;
  }
  EXPECT_EQ(read_log("NCCL version 2.18\n").version.minor, 18);
}

}  // namespace
}  // namespace gdr::nccl
