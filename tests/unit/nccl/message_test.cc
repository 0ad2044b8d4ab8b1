#include "nccl/message.h"

#include <gtest/gtest.h>

namespace gdr::nccl {
namespace {

struct Seen {
  Level level;
  std::string host;
  std::int64_t process;
  std::string text;
  bool whole;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> messages_of(std::string_view text, bool whole = true) {
  std::vector<Seen> seen;
  for_each_message({7, text, whole}, [&](const Message& message) {
    EXPECT_EQ(message.line, 7u);
    seen.push_back({message.level, std::string(message.host), message.process,
                    std::string(message.text), message.whole});
  });
  return seen;
}

TEST(NcclMessage, IsFoundBehindWhatLaunchersPutInFront) {
  const Seen expected{Level::kInfo, "alpha", 12, "Connected all rings", true};
  for (const std::string front :
       {"", "[rank0]: ", "[1,0]<stdout>:", "0: ", "10.0.0.1: 10.0.0.1: ", "(train pid=5, ip=1.2) ",
        "2024-12-04T05:27:48.128Z ", "  | 2025-05-16T16:40:02.222-07:00 | ", "worker | "}) {
    EXPECT_EQ(messages_of(front + "alpha:12:34 [0] NCCL INFO Connected all rings"),
              std::vector<Seen>{expected})
        << front;
  }
}

TEST(NcclMessage, IsAWarningInEachFormThatNcclGaveIt) {
  const Seen expected{Level::kWarning, "alpha", 12, "went wrong", true};
  for (const std::string form :
       {"alpha:12:34 [0] transport/net_ib.cc:818 NCCL WARN went wrong",
        "[2024-11-05 10:11:12] alpha:12:34 [0] misc/ibvwrap.cc:187 NCCL WARN went wrong",
        "[2026-05-01 12:00:00] alpha:12:34 [0] src/reg.cc:120 (ncclIbRegMr) NCCL WARN went "
        "wrong"}) {
    EXPECT_EQ(messages_of(form), std::vector<Seen>{expected}) << form;
  }
}

TEST(NcclMessage, IsTheVersionWithAndWithoutALevel) {
  EXPECT_EQ(messages_of("NCCL version 2.4.7+cuda10.0"),
            (std::vector<Seen>{{Level::kVersion, "", -1, "NCCL version 2.4.7+cuda10.0", true}}));
  const auto seen = messages_of("a:1:2 [0] NCCL INFO NCCL version 2.8.4+cuda11.1");
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().text, "NCCL version 2.8.4+cuda11.1");
}

TEST(NcclMessage, IsNotWhatOnlyMentionsNccl) {
  EXPECT_TRUE(messages_of("export NCCL_DEBUG=INFO").empty());
  EXPECT_TRUE(messages_of("RuntimeError: NCCL error in: x.cpp:1, unhandled system error").empty());
  EXPECT_TRUE(messages_of("NCCL INFORMATION").empty());
  EXPECT_TRUE(messages_of("NCCL ").empty());
  EXPECT_TRUE(messages_of("").empty());
}

TEST(NcclMessage, IsOneOfSeveralInALine) {
  EXPECT_EQ(messages_of("a:1:2 [0] NCCL INFO one b:3:4 [1] NCCL INFO two"),
            (std::vector<Seen>{{Level::kInfo, "a", 1, "one", true},
                               {Level::kInfo, "b", 3, "two", true}}));
}

TEST(NcclMessage, IsNotWholeWhereAnotherProcessWroteIntoIt) {
  EXPECT_EQ(messages_of("a:1:2 [0] NCCL INFO via NET/IB/0a:3:4 [1] NCCL INFO two"),
            (std::vector<Seen>{{Level::kInfo, "a", 1, "via NET/IB/0", false},
                               {Level::kInfo, "a", 3, "two", true}}));
  EXPECT_EQ(messages_of("a:1:2 [0] NCCL INFO via NET/IB/0b:3:4 [1] NCCL INFO two"),
            (std::vector<Seen>{{Level::kInfo, "a", 1, "via NET/IB/0b:3:4 [1]", false},
                               {Level::kInfo, "", 3, "two", true}}));
  EXPECT_EQ(messages_of("a:1:2 [0] NCCL INFO oneNCCL INFO two"),
            (std::vector<Seen>{{Level::kInfo, "a", 1, "one", false},
                               {Level::kInfo, "", -1, "two", true}}));
}

TEST(NcclMessage, IsNotWholeWhereItsLineIsNot) {
  EXPECT_EQ(messages_of("a:1:2 [0] NCCL INFO via NE", false),
            (std::vector<Seen>{{Level::kInfo, "a", 1, "via NE", false}}));
}

TEST(NcclMessage, HasNoHostWhereTheLineSaysNone) {
  EXPECT_EQ(messages_of("NCCL INFO one"), (std::vector<Seen>{{Level::kInfo, "", -1, "one", true}}));
  EXPECT_EQ(messages_of("1:2 NCCL INFO one")[0].host, "");
  EXPECT_EQ(messages_of("a:x:2 [0] NCCL INFO one")[0].host, "");
  EXPECT_EQ(messages_of("a:99999999999999999999:2 [0] NCCL INFO one")[0].host, "");
}

}  // namespace
}  // namespace gdr::nccl
