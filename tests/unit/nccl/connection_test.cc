#include "nccl/connection.h"

#include <gtest/gtest.h>

namespace gdr::nccl {
namespace {

std::optional<Connection> read(std::string_view text, bool whole = true) {
  Message message;
  message.text = text;
  message.whole = whole;
  return read_connection(message);
}

struct Shape {
  const char* text;
  Connection connection;
};

constexpr auto kNet = Transport::kNet;
constexpr auto kP2p = Transport::kP2p;
constexpr auto kShm = Transport::kSharedMemory;
constexpr auto kSend = Direction::kSend;
constexpr auto kReceive = Direction::kReceive;
constexpr auto kBoth = Direction::kBoth;

// channel, index, from, to, direction, transport, kind, device, gdrdma, certain
const Shape kShapes[] = {
    {"Ring 00 : 0 -> 1 [send] via NET/IB/0/GDRDMA",  // 2.4
     {0, 0, 0, 1, kSend, kNet, "IB", 0, true, true}},
    {"Ring 01 : 3[1] -> 2[0] via P2P/direct pointer",
     {1, 0, 3, 2, kBoth, kP2p, "direct pointer", -1, false, true}},
    {"Ring 00 : 0 -> 1 via P2P/common device",
     {0, 0, 0, 1, kBoth, kP2p, "common device", -1, false, true}},
    {"Ring 00 : 0[0] -> 1[1] via direct shared memory",
     {0, 0, 0, 1, kBoth, kShm, "direct", -1, false, true}},
    {"Channel 02 : 3[ca000] -> 2[c7000] [receive] via NET/IB/5",  // 2.8
     {2, 0, 3, 2, kReceive, kNet, "IB", 5, false, true}},
    {"Channel 01 : 0[1d000] -> 1[1e000] via P2P/IPC/read",
     {1, 0, 0, 1, kBoth, kP2p, "IPC/read", -1, false, true}},
    {"Channel 01 : 0[1d000] -> 1[1e000] via P2P/indirect/2[21000]/read",
     {1, 0, 0, 1, kBoth, kP2p, "indirect/2[21000]/read", -1, false, true}},
    {"Channel 00/1 : 0[1d000] -> 8[1e000] [send] via NET/IB/0(2)/GDRDMA/Shared",  // 2.12
     {0, 1, 0, 8, kSend, kNet, "IB", 0, true, true}},
    {"Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/1/Shared",
     {0, 0, 0, 8, kSend, kNet, "IB", 1, false, true}},
    {"Channel 00 : 0[0] -> 1[1] via SHM/direct/CE",  // 2.14
     {0, 0, 0, 1, kBoth, kShm, "direct/CE", -1, false, true}},
    {"Channel 15/0 : 8[0] -> 15[7] via P2P/CUMEM/read",  // 2.18
     {15, 0, 8, 15, kBoth, kP2p, "CUMEM/read", -1, false, true}},
    {"Channel 00/0 : 18[2] -> 34[2] [receive] via NET/IBext_v8/0",
     {0, 0, 18, 34, kReceive, kNet, "IBext_v8", 0, false, true}},
    {"Channel 05/1 : 3[3] -> 10[2] [send] via NET/AWS Libfabric/1(2)/GDRDMA/Shared",
     {5, 1, 3, 10, kSend, kNet, "AWS Libfabric", 1, true, true}},
    {"Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA(PCI)",  // 2.26
     {0, 0, 1, 0, kReceive, kNet, "IB", 0, true, true}},
    {"Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/3",
     {0, 0, 1, 0, kReceive, kNet, "Socket", 3, false, true}},
    {"Channel 00 : 0[0] -> 1[1] via SHM/direct",  // 2.30
     {0, 0, 0, 1, kBoth, kShm, "direct", -1, false, true}},
    {"CollNet 00/0 : 4 [send] via COLLNET/SHARP/0/GDRDMA",
     {0, 0, 4, -1, kSend, Transport::kCollNet, "SHARP", 0, true, true}},
    {"Channel 00/0 : 0[0] -> 1[1] via QUANTUM/7",
     {0, 0, 0, 1, kBoth, Transport::kOther, "QUANTUM/7", -1, false, true}},
};

TEST(NcclConnection, IsReadInEveryShapeThatNcclGaveIt) {
  for (const Shape& shape : kShapes) {
    const auto found = read(shape.text);
    ASSERT_TRUE(found) << shape.text;
    EXPECT_EQ(*found, shape.connection) << shape.text;
  }
}

TEST(NcclConnection, IsNotARingOrATree) {
  for (const char* text :
       {"Channel 00/02 :    0   1", "Ring 00 : 1 -> 0 -> 1", "Channel 00",
        "Trees [0] 1/-1/-1->0->-1", "Channel x/0 : 0[0] -> 1[1] via P2P/IPC",
        "Channel 00/0 : 0[0] -> 1[1]", "Channel 00/0 : -1[0] -> 1[1] via P2P/IPC",
        "Ring 00 : 0[0] <- 1[1] via P2P/IPC", "Channel 00/0 : 0[0", ""}) {
    EXPECT_FALSE(read(text)) << text;
  }
}

// The same message cut off anywhere is the same connection, one that is not certain, or none.
TEST(NcclConnection, NeverLacksGdrdmaBecauseItsEndIsMissing) {
  const std::string text =
      "Channel 00/1 : 0[1d000] -> 8[1e000] [send] via NET/IB/0(2)/GDRDMA/Shared";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto found = read(text.substr(0, length), length == text.size());
    EXPECT_TRUE(!found || found->gdrdma || !found->certain) << text.substr(0, length);
  }
}

TEST(NcclConnection, IsUncertainIfAnotherProcessesLineFollows) {
  const auto found = read("Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0host:3:4 [1]", false);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->certain);
  EXPECT_EQ(name_of(*found), "NET/IB/0/?");
}

TEST(NcclConnection, KeepsNamesShort) {
  const auto found = read("Channel 00/0 : 0[0] -> 1[1] via P2P/" + std::string(5000, 'x'));
  ASSERT_TRUE(found);
  EXPECT_LE(found->kind.size(), 64u);
}

}  // namespace
}  // namespace gdr::nccl
