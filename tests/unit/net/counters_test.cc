#include "net/counters.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "base/counter_file.h"

namespace gdr::net {
namespace {

std::string name_of(Counter counter) { return net::name_of(static_cast<std::uint32_t>(counter)); }
std::string name_of(engine::Event event) {
  return net::name_of(static_cast<std::uint32_t>(Counter::kFirstEvent) +
                      static_cast<std::uint32_t>(event));
}

TEST(Counters, HaveTheNamesOfWhatTheyCount) {
  using engine::Event;
  EXPECT_EQ(name_of(Counter::kPacketsSent), "packets_sent");
  EXPECT_EQ(name_of(Counter::kBytesSent), "bytes_sent");
  EXPECT_EQ(name_of(Counter::kPacketsReceived), "packets_received");
  EXPECT_EQ(name_of(Counter::kBytesReceived), "bytes_received");
  EXPECT_EQ(name_of(Counter::kMalformed), "malformed");
  EXPECT_EQ(name_of(Counter::kWrongIcrc), "wrong_icrc");
  EXPECT_EQ(name_of(Counter::kUnknownQueuePair), "unknown_queue_pair");
  EXPECT_EQ(name_of(Counter::kWrongTransport), "wrong_transport");
  EXPECT_EQ(name_of(Counter::kWrongAddress), "wrong_address");
  EXPECT_EQ(name_of(Counter::kWrongPartitionKey), "wrong_partition_key");
  EXPECT_EQ(name_of(Counter::kNotReceiving), "not_receiving");
  EXPECT_EQ(name_of(Counter::kForwarded), "forwarded");
  EXPECT_EQ(name_of(Counter::kNotSent), "not_sent");
  EXPECT_EQ(name_of(Event::kDuplicateRequest), "duplicate_request");
  EXPECT_EQ(name_of(Event::kOutOfSequenceRequest), "out_of_sequence_request");
  EXPECT_EQ(name_of(Event::kSequenceNakSent), "sequence_nak_sent");
  EXPECT_EQ(name_of(Event::kSequenceNakReceived), "sequence_nak_received");
  EXPECT_EQ(name_of(Event::kRnrNakSent), "rnr_nak_sent");
  EXPECT_EQ(name_of(Event::kRnrNakReceived), "rnr_nak_received");
  EXPECT_EQ(name_of(Event::kTimeout), "timeout");
  EXPECT_EQ(name_of(Event::kRetransmittedPacket), "retransmitted_packet");
  EXPECT_EQ(name_of(Event::kRemoteAccessRefused), "remote_access_refused");
  EXPECT_EQ(name_of(Event::kInvalidRequest), "invalid_request");
  EXPECT_EQ(name_of(Event::kWrongQkey), "wrong_qkey");
  EXPECT_EQ(name_of(Event::kDroppedNoReceive), "dropped_no_receive");
  EXPECT_EQ(name_of(Event::kDroppedMessage), "dropped_message");
  EXPECT_EQ(name_of(Event::kUnexpectedResponse), "unexpected_response");
  EXPECT_EQ(name_of(Event::kCongestionNotified), "congestion_notified");
}

TEST(Counters, AreEachOnThePageThatExplainsThem) {
  std::ifstream file(GDR_COUNTERS_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < kCounters; ++i) {
    EXPECT_TRUE(names.insert(net::name_of(i)).second) << net::name_of(i);
    const std::string shown = "`" + std::string(net::name_of(i)) + "`";
    EXPECT_NE(page.str().find(shown), std::string::npos) << shown;
  }
}

// The one of this process: the variable is read once.
TEST(Counters, AreKeptInTheFileThatTheEnvironmentNames) {
  const std::string path = testing::TempDir() + "/gdr-net-counters-" + std::to_string(getpid());
  setenv("GDR_SOFT_COUNTERS", path.c_str(), 1);
  EXPECT_TRUE(Counters::check_file());
  Counters& counters = Counters::of_process();
  counters.add(Counter::kPacketsSent, 40);
  counters.add(Counter::kPacketsSent, 2);
  counters.add(engine::Event::kTimeout);
  EXPECT_EQ(counters.value(Counter::kPacketsSent), 42u);
  const auto counts = read_counters(path);
  ASSERT_TRUE(counts) << counts.error().message;
  for (const NamedCount& count : *counts) {
    const std::uint64_t expected =
        count.name == "packets_sent" ? 42 : (count.name == "timeout" ? 1 : 0);
    EXPECT_EQ(count.value, expected) << count.name;
  }
  EXPECT_EQ(counts->size(), kCounters);
  std::remove(path.c_str());

  setenv("GDR_SOFT_COUNTERS", "/nowhere/counters", 1);
  EXPECT_EQ(Counters::check_file().error().message,
            "GDR_SOFT_COUNTERS=/nowhere/counters: No such file or directory");
  unsetenv("GDR_SOFT_COUNTERS");
  EXPECT_TRUE(Counters::check_file());
}

}  // namespace
}  // namespace gdr::net
