// No load goes where nobody has answered: see perf/probe.h.
#include <arpa/inet.h>

#include "session_fixture.h"

namespace gdr::perf {
namespace {

using Gid = std::array<std::uint8_t, 16>;

Gid gid_of(const char* text) {
  Gid gid{};
  EXPECT_EQ(inet_pton(AF_INET6, text, gid.data()), 1) << text;
  return gid;
}

constexpr const char* kNotProved = "this destination has not answered a probe";

class ProbeTest : public SessionTest {
 protected:
  ProbeTest() {
    greet();
    const auto there = client_->call(set_up(), test::kLastResort);
    if (there) address_ = there->address;
  }
  std::string connect_to(const Gid& gid) {
    SideAddress address = address_;
    address.stations[0].gid = gid;
    return ask(Connect{address});
  }
};

TEST_F(ProbeTest, IsWantedBeforeAnyQueuePairLeadsAnywhere) {
  EXPECT_EQ(ask(Connect{address_}), kNotProved);
  answer_probe();
  EXPECT_EQ(connect_to(gid_of("::ffff:127.10.0.77")), kNotProved);
  EXPECT_EQ(ask(Connect{address_}), "");
}

TEST_F(ProbeTest, ServesForAllRowsOfASession) {
  answer_probe();
  EXPECT_EQ(ask(Connect{address_}), "");
  const auto again = client_->call(set_up(), test::kLastResort);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ask(Connect{again->address}), "");
}

TEST_F(ProbeTest, EndsTheSessionWithAWrongAnswer) {
  Result<ProbeTarget> target = ProbeTarget::create(soft_devices());
  ASSERT_TRUE(target) << target.error().message;
  ASSERT_EQ(ask(probe(target->queue_pair())), "");
  std::vector<std::uint32_t> values = target->await(test::kLastResort);
  ASSERT_EQ(values.size(), 1u);
  ++values[0];
  EXPECT_EQ(ask(ProbeAnswer{values}), "wrong answer to the probe");
  expect_end();
  EXPECT_EQ(ended_.error().message, "the client is not at the address it gave");
}

TEST_F(ProbeTest, TakesNoListOfGuesses) {
  ASSERT_EQ(ask(probe(1)), "");
  EXPECT_EQ(ask(ProbeAnswer{std::vector<std::uint32_t>(1000, 7)}), "wrong answer to the probe");
  expect_end();
}

// Nobody is there: six datagrams leave, whatever the client asks for.
TEST_F(ProbeTest, IsSentAFewTimesOnly) {
  Result<ProbeTarget> target = ProbeTarget::create(soft_devices());
  ASSERT_TRUE(target) << target.error().message;
  for (int i = 0; i < 6; ++i) ASSERT_EQ(ask(probe(target->queue_pair())), "") << i;
  EXPECT_EQ(ask(probe(target->queue_pair())), "an earlier probe was not answered");
  expect_end();
  std::size_t arrived = 0;
  for (;;) {
    const auto values = target->await(test::kLastResort);
    arrived += values.size();
    if (arrived >= 6 || values.empty()) break;
  }
  EXPECT_EQ(arrived, 6u);
}

TEST_F(ProbeTest, GoesToOnePlaceAfterTheOther) {
  ASSERT_EQ(ask(probe(1)), "");
  Probe elsewhere = probe(1);
  elsewhere.gid = gid_of("::ffff:127.10.0.99");
  EXPECT_EQ(ask(elsewhere), "an earlier probe was not answered");
  expect_end();
}

TEST_F(ProbeTest, LeavesByAPortThatIsOpen) {
  Probe request = probe(1);
  request.port = 1;
  EXPECT_EQ(ask(request), "the probe names a port that is not open");
  request.port = 0xffff;
  EXPECT_EQ(ask(request), "the probe names a port that is not open");
}

// All sessions together: a client that comes again and again gets no more.
TEST_F(ProbeTest, IsBoundedForAllClientsTogether) {
  int taken = 0;
  while (stage_.take_probe(0, [] { return true; })) ++taken;
  EXPECT_GE(taken, 8);
  EXPECT_LE(taken, 9);
}

TEST(Destination, IsOnePort) {
  for (const char* text : {"ff02::1", "ff0e::ffff:224.0.0.1", "::ffff:224.0.0.1",
                           "::ffff:239.1.2.3", "::ffff:255.255.255.255", "::ffff:0.0.0.0", "::"}) {
    EXPECT_FALSE(destination_of(0, true, 0, gid_of(text), true)) << text;
    EXPECT_FALSE(destination_of(0, false, 5, gid_of(text), true)) << text;
  }
  for (const char* text : {"fe80::1", "::ffff:10.0.0.1", "2001:db8::7", "::ffff:127.10.0.1"}) {
    EXPECT_TRUE(destination_of(0, true, 0, gid_of(text), true)) << text;
  }
  EXPECT_FALSE(destination_of(0, true, 5, {}, false)) << "Ethernet has no LIDs";
  EXPECT_TRUE(destination_of(0, false, 5, {}, false));
  for (const std::uint16_t lid : {0, 0xc000, 0xffff}) {
    EXPECT_FALSE(destination_of(0, false, lid, {}, false)) << lid;
  }
}

// What a network does not look at must not make one place look like two, nor two like one.
TEST(Destination, HoldsWhatTheNetworkLooksAt) {
  const Gid gid = gid_of("fe80::1"), other = gid_of("fe80::2");
  EXPECT_EQ(*destination_of(0, true, 1, gid, true), *destination_of(0, true, 2, gid, true));
  EXPECT_NE(*destination_of(0, true, 1, gid, true), *destination_of(0, true, 1, other, true));
  EXPECT_NE(*destination_of(0, true, 1, gid, true), *destination_of(1, true, 1, gid, true));
  EXPECT_EQ(*destination_of(0, false, 1, gid, false), *destination_of(0, false, 1, other, false));
  EXPECT_NE(*destination_of(0, false, 1, gid, false), *destination_of(0, false, 2, gid, false));
  EXPECT_NE(*destination_of(0, false, 1, gid, true), *destination_of(0, false, 2, gid, true));
}

}  // namespace
}  // namespace gdr::perf
