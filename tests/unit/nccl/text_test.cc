#include <gtest/gtest.h>

#include "logs.h"
#include "nccl/text_report.h"

namespace gdr::nccl {
namespace {

std::vector<std::string> connections(int count) {
  std::vector<std::string> messages;
  for (int i = 0; i < count; ++i) {
    messages.push_back("Channel 00/0 : " + std::to_string(i) + "[0] -> 99[0] [send] via NET/IB/0");
  }
  return messages;
}

TEST(NcclText, JoinsChannelsThatGoTheSameWay) {
  const Report report = report_of(
      "", {"Channel 00/0 : 0[0] -> 1[0] via P2P/IPC", "Channel 01/0 : 0[0] -> 1[0] via P2P/IPC",
           "Channel 05/0 : 0[0] -> 1[0] via P2P/IPC", "Channel 02/1 : 0[0] -> 1[0] via P2P/IPC"});
  const std::string text = to_text(report, false);
  EXPECT_NE(text.find("P2P/IPC  channels 00-01, 05, 02/1\n"), std::string::npos) << text;
}

TEST(NcclText, PutsWhatLacksGdrdmaInFront) {
  const std::string text =
      to_text(report_of("", {"Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA",
                             "Channel 00/0 : 7[0] -> 8[0] [send] via NET/IB/0"}),
              false);
  ASSERT_NE(text.find("0 → 1"), std::string::npos) << text;
  EXPECT_LT(text.find("7 → 8"), text.find("0 → 1"));
}

TEST(NcclText, ShowsTheFirstLinesUnlessAskedForAll) {
  const Report report = report_of("", connections(60));
  EXPECT_NE(to_text(report, false).find("… 36 more; --all shows them"), std::string::npos);
  EXPECT_EQ(to_text(report, true).find("--all"), std::string::npos);
  EXPECT_NE(to_text(report, true).find(" 59 → 99"), std::string::npos);
}

TEST(NcclText, EndsWithTheVerdictItsReasonAndWhatToType) {
  const std::string text =
      to_text(report_of("2.18.5", {"NCCL_IB_DISABLE set by environment to 1.",
                                   "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"}),
              false);
  EXPECT_TRUE(
      text.ends_with("NO GDRDMA  on 0 of 1 network connection\n"
                     "  why       the environment switches InfiniBand and RoCE off\n"
                     "  line 2    NCCL_IB_DISABLE set by environment to 1.\n"
                     "  next      unset NCCL_IB_DISABLE\n"))
      << text;
}

}  // namespace
}  // namespace gdr::nccl
