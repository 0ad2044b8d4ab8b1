#include "net/faulty_port.h"

#include <unistd.h>

#include <algorithm>

#include "packets.h"

namespace gdr::net {
namespace {

constexpr std::uint32_t kManyPackets = 20'000;

class FaultyPortTest : public testing::Test {
 protected:
  void set(const char* faults) {
    const Result<Faults> parsed = parse_faults(faults);
    ASSERT_TRUE(parsed) << parsed.error().message;
    auto inner = std::make_unique<FakePort>(here_);
    inner_ = inner.get();
    port_ = std::make_unique<FaultyPort>(std::move(inner), *parsed);
  }
  // In bursts of 50, as transports send them.
  void send(std::uint32_t packets) {
    for (std::uint32_t psn = 0; psn < packets; psn += kBurst) {
      std::vector<Bytes> burst;
      for (std::uint32_t i = 0; i < kBurst && psn + i < packets; ++i) {
        burst.push_back(make_packet(flow_, static_cast<std::uint16_t>(i), psn + i));
      }
      ASSERT_EQ(send_burst(*port_, there_, burst, 0x20), 0);
    }
  }
  std::vector<std::uint32_t> psns() const {
    std::vector<std::uint32_t> found;
    for (const Sent& sent : inner_->sent) found.push_back(psn_of(sent.bytes));
    return found;
  }
  // Has the port look at its clock, as whoever polls does.
  void look() {
    Arrival arrival;
    EXPECT_FALSE(port_->receive(&arrival));
  }
  // Until nothing waits any more.
  void wait_and_look() {
    for (Nanoseconds due = port_->next_timeout(); due != kNever; due = port_->next_timeout()) {
      while (now() <= due) usleep(100);
      look();
    }
  }

  static constexpr std::uint32_t kBurst = 50;
  static constexpr Nanoseconds kNever = ~Nanoseconds{0};
  const wire::Address here_ = ipv4(10, 0, 0, 1), there_ = ipv4(10, 0, 0, 2);
  const wire::Flow flow_ = flow_between(here_, there_);
  FakePort* inner_ = nullptr;
  std::unique_ptr<FaultyPort> port_;
};

TEST_F(FaultyPortTest, WithoutFaultsSendsEachPacketAloneInOrderWithTheIcrcOfThat) {
  set("loss=0");
  send(120);
  ASSERT_EQ(inner_->sent.size(), 120u);
  for (std::uint32_t i = 0; i < 120; ++i) {
    const Sent& sent = inner_->sent[i];
    EXPECT_EQ(psn_of(sent.bytes), i);
    EXPECT_EQ(sent.packet_bytes, sent.bytes.size());
    EXPECT_EQ(sent.destination, there_);
    EXPECT_EQ(sent.traffic_class, 0x20);
    EXPECT_TRUE(has_icrc_for(flow_, 0, sent.bytes));
  }
}

TEST_F(FaultyPortTest, LosesAsManyAsItWasTold) {
  set("loss=0.1");
  send(kManyPackets);
  EXPECT_NEAR(static_cast<double>(inner_->sent.size()), 0.9 * kManyPackets, 0.01 * kManyPackets);
}

TEST_F(FaultyPortTest, RepeatsAsManyAsItWasToldOneBehindTheOther) {
  set("duplicate=0.1");
  send(kManyPackets);
  const auto found = psns();
  EXPECT_NEAR(static_cast<double>(found.size()), 1.1 * kManyPackets, 0.01 * kManyPackets);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

TEST_F(FaultyPortTest, CorruptsAsManyAsItWasTold) {
  set("corrupt=0.1");
  send(kManyPackets);
  ASSERT_EQ(inner_->sent.size(), kManyPackets);
  const auto right = std::count_if(inner_->sent.begin(), inner_->sent.end(), [&](const Sent& sent) {
    return has_icrc_for(flow_, 0, sent.bytes);
  });
  // One byte of 48 is not covered by the ICRC.
  EXPECT_NEAR(static_cast<double>(right), 0.9 * kManyPackets, 0.015 * kManyPackets);
}

TEST_F(FaultyPortTest, DamagesBytesThatTheIcrcDoesNotShow) {
  set("loss=0");
  send(1000);
  const std::vector<Sent> right = inner_->sent;
  set("damage=0.1");
  send(1000);
  ASSERT_EQ(inner_->sent.size(), right.size());
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    EXPECT_TRUE(has_icrc_for(flow_, 0, inner_->sent[i].bytes));
    damaged += inner_->sent[i].bytes != right[i].bytes;
  }
  EXPECT_NEAR(static_cast<double>(damaged), 100, 40);
}

TEST_F(FaultyPortTest, MarksAsManyAsItWasToldAndChangesNothingElse) {
  set("mark=0.1");
  send(kManyPackets);
  ASSERT_EQ(inner_->sent.size(), kManyPackets);
  std::uint32_t marked = 0;
  for (const Sent& sent : inner_->sent) {
    marked += sent.congested ? 1 : 0;
    EXPECT_TRUE(has_icrc_for(flow_, 0, sent.bytes));
    EXPECT_EQ(sent.traffic_class, 0x20);
  }
  EXPECT_NEAR(marked, 0.1 * kManyPackets, 0.01 * kManyPackets);
}

TEST_F(FaultyPortTest, DoesTheSameAgainWithTheSameSeedAndNotWithAnother) {
  const auto sent_with = [&](const char* faults) {
    set(faults);
    send(1000);
    return psns();
  };
  const auto first = sent_with("loss=0.2,duplicate=0.2,reorder=0.2,seed=5");
  EXPECT_EQ(sent_with("loss=0.2,duplicate=0.2,reorder=0.2,seed=5"), first);
  EXPECT_NE(sent_with("loss=0.2,duplicate=0.2,reorder=0.2,seed=6"), first);
}

TEST_F(FaultyPortTest, SendsAReorderedPacketBehindTheNext) {
  set("reorder=0.1,seed=3");
  send(kManyPackets);
  wait_and_look();
  auto found = psns();
  std::uint32_t overtaken = 0;
  for (std::size_t i = 1; i < found.size(); ++i) overtaken += found[i] < found[i - 1] ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(overtaken), 0.1 * kManyPackets, 0.02 * kManyPackets);
  std::sort(found.begin(), found.end());
  ASSERT_EQ(found.size(), kManyPackets) << "none is lost";
  for (std::uint32_t i = 0; i < kManyPackets; ++i) ASSERT_EQ(found[i], i);
}

TEST_F(FaultyPortTest, SendsAReorderedPacketThatNoneFollowsALittleLater) {
  set("reorder=1");
  send(1);
  EXPECT_TRUE(inner_->sent.empty());
  EXPECT_NE(port_->next_timeout(), kNever);
  wait_and_look();
  EXPECT_EQ(psns(), (std::vector<std::uint32_t>{0}));
}

TEST_F(FaultyPortTest, DelaysEachPacketAndKeepsTheirOrder) {
  set("delay=20ms");
  const Nanoseconds before = now();
  send(100);
  look();
  EXPECT_TRUE(inner_->sent.empty() || now() - before >= 20 * kMillisecond);
  EXPECT_GE(port_->next_timeout(), before + 20 * kMillisecond);
  wait_and_look();
  const auto found = psns();
  ASSERT_EQ(found.size(), 100u);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  for (const Sent& sent : inner_->sent) EXPECT_TRUE(has_icrc_for(flow_, 0, sent.bytes));
}

TEST_F(FaultyPortTest, PassesOnWhatArrives) {
  set("loss=1,corrupt=1");
  const Bytes packet = make_packet(flow_between(there_, here_), 0, 7);
  inner_->arrivals.push_back({there_, 0, static_cast<std::uint32_t>(packet.size()), packet});
  Arrival arrival;
  ASSERT_TRUE(port_->receive(&arrival));
  EXPECT_EQ(arrival.source, there_);
  EXPECT_TRUE(std::equal(packet.begin(), packet.end(), arrival.bytes.begin(), arrival.bytes.end()));
  EXPECT_FALSE(port_->receive(&arrival));
}

TEST_F(FaultyPortTest, TellsWhatItsPortSays) {
  set("loss=0");
  inner_->error = ENETUNREACH;
  EXPECT_EQ(send_burst(*port_, there_, {make_packet(flow_, 0, 1)}), ENETUNREACH);
}

}  // namespace
}  // namespace gdr::net
