#include "ports/attributes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace gdr::ports {
namespace {

std::uint64_t value(const char* folder, const char* name, const PortValues& values) {
  const Attribute* found = find_attribute(folder, name);
  EXPECT_NE(found, nullptr) << folder << '/' << name;
  return found == nullptr ? 0 : found->value(values);
}

PortValues with(std::initializer_list<std::pair<PortCount, std::uint64_t>> counts) {
  PortValues values;
  for (const auto& [count, number] : counts) values.of[static_cast<std::uint32_t>(count)] = number;
  return values;
}

TEST(Attributes, HaveEachNameOnce) {
  std::set<std::string> seen;
  for (const Attribute& one : attributes()) {
    EXPECT_TRUE(seen.insert(std::string(one.folder) + "/" + one.name).second) << one.name;
  }
}

// drivers/infiniband/core/sysfs.c, the extended set.
TEST(Attributes, AreAllThatTheKernelShowsOfAPort) {
  for (const char* name : {"VL15_dropped",
                           "excessive_buffer_overrun_errors",
                           "link_downed",
                           "link_error_recovery",
                           "local_link_integrity_errors",
                           "multicast_rcv_packets",
                           "multicast_xmit_packets",
                           "port_rcv_constraint_errors",
                           "port_rcv_data",
                           "port_rcv_errors",
                           "port_rcv_packets",
                           "port_rcv_remote_physical_errors",
                           "port_rcv_switch_relay_errors",
                           "port_xmit_constraint_errors",
                           "port_xmit_data",
                           "port_xmit_discards",
                           "port_xmit_packets",
                           "port_xmit_wait",
                           "symbol_error",
                           "unicast_rcv_packets",
                           "unicast_xmit_packets"}) {
    EXPECT_NE(find_attribute("counters", name), nullptr) << name;
  }
  EXPECT_EQ(find_attribute("counters", "out_of_sequence"), nullptr);
}

TEST(Attributes, CountDataInWordsOfFourBytes) {
  const PortValues values = with({{PortCount::kXmitBytes, 4096}, {PortCount::kRcvBytes, 64}});
  EXPECT_EQ(value("counters", "port_xmit_data", values), 1024u);
  EXPECT_EQ(value("counters", "port_rcv_data", values), 16u);
}

// One message and its acknowledge are a packet each way, on both ports.
TEST(Attributes, CountAnExchangeAsItsPackets) {
  const PortValues sender = with({{PortCount::kSentWrites, 10}, {PortCount::kXmitBytes, 10000}});
  EXPECT_EQ(value("counters", "port_xmit_packets", sender), 10u);
  EXPECT_EQ(value("counters", "port_rcv_packets", sender), 10u);
  EXPECT_EQ(value("counters", "port_rcv_data", sender), 10u * kAcknowledgeBytes / 4);
  const PortValues target = with({{PortCount::kTakenWrites, 10}, {PortCount::kRcvBytes, 10000}});
  EXPECT_EQ(value("counters", "port_xmit_packets", target), 10u);
  EXPECT_EQ(value("counters", "port_rcv_packets", target), 10u);
  EXPECT_EQ(value("hw_counters", "rx_write_requests", target), 10u);
  EXPECT_EQ(value("hw_counters", "rdma_recvs", target), 0u);
}

TEST(Attributes, TellUnicastFromMulticast) {
  const PortValues values = with({{PortCount::kXmitPackets, 7}, {PortCount::kXmitMulticast, 2}});
  EXPECT_EQ(value("counters", "unicast_xmit_packets", values), 5u);
  EXPECT_EQ(value("counters", "multicast_xmit_packets", values), 2u);
}

TEST(Attributes, CountMessagesOfTheConnectionManagerByTheirKind) {
  PortValues values;
  values.of[static_cast<std::uint32_t>(PortCount::kFirstCmSent)] = 3;  // CM_REQ
  values.of[kFirstCmReceived + 0x15 - kFirstCmAttribute] = 4;          // CM_DREQ
  EXPECT_EQ(value("cm_tx_msgs", "req", values), 3u);
  EXPECT_EQ(value("cm_rx_msgs", "dreq", values), 4u);
  EXPECT_EQ(value("cm_rx_msgs", "req", values), 0u);
  EXPECT_EQ(value("cm_rx_msgs", "apr", values), 0u);
}

}  // namespace
}  // namespace gdr::ports
