#include "net/udp_port.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/socket_address.h"
#include "packets.h"
#include "soon.h"

namespace gdr::net {
namespace {

constexpr uid_t kNobody = 65534;

std::unique_ptr<UdpPort> open_port(const wire::Address& address) {
  auto port = UdpPort::open(address);
  EXPECT_TRUE(port) << port.error().message;
  return port ? *std::move(port) : nullptr;
}

bool wait_and_receive(Port& port, Arrival* arrival) {
  pollfd wait{port.descriptor(), POLLIN, 0};
  return poll(&wait, 1, test::kLastResortMs) == 1 && port.receive(arrival);
}

class UdpPortTest : public testing::Test {
 protected:
  const wire::Address here_ = address_of_this_test(1), there_ = address_of_this_test(2);
};

TEST_F(UdpPortTest, ABurstArrivesWholeAndInOrder) {
  const auto sender = open_port(here_), receiver = open_port(there_);
  ASSERT_TRUE(sender && receiver);
  std::vector<Bytes> burst;
  Bytes sent;
  for (std::uint16_t i = 0; i < 30; ++i) {
    burst.push_back(make_packet(flow_between(here_, there_), i, i, i < 29 ? 1024 : 100));
    sent.insert(sent.end(), burst.back().begin(), burst.back().end());
  }
  ASSERT_EQ(send_burst(*sender, there_, burst), 0);
  Bytes received;
  while (received.size() < sent.size()) {
    Arrival arrival;
    ASSERT_TRUE(wait_and_receive(*receiver, &arrival));
    EXPECT_EQ(arrival.source, here_);
    EXPECT_EQ(arrival.source_port, wire::kRocePort);
    EXPECT_TRUE(arrival.packet_bytes == burst[0].size() ||
                arrival.packet_bytes == arrival.bytes.size());
    EXPECT_FALSE(arrival.congested);
    received.insert(received.end(), arrival.bytes.begin(), arrival.bytes.end());
  }
  EXPECT_EQ(received, sent);
  Arrival none;
  EXPECT_FALSE(receiver->receive(&none));
}

TEST_F(UdpPortTest, SendsTheGreatestBurstThatItsLimitsAllow) {
  const auto sender = open_port(here_), receiver = open_port(there_);
  ASSERT_TRUE(sender && receiver);
  const std::vector<Bytes> most(kMostPackets, Bytes(kMostBurstBytes / kMostPackets));
  EXPECT_EQ(send_burst(*sender, there_, most), 0);
  const std::vector<Bytes> longest(15, Bytes(kMostBurstBytes / 15));
  EXPECT_EQ(send_burst(*sender, there_, longest), 0);
}

TEST_F(UdpPortTest, GoesOnAfterNobodyListened) {
  const auto sender = open_port(here_);
  ASSERT_TRUE(sender);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(send_burst(*sender, there_, {make_packet(flow_between(here_, there_), 0, 1)}), 0);
  }
  const auto receiver = open_port(there_);
  ASSERT_TRUE(receiver);
  EXPECT_EQ(send_burst(*sender, there_, {make_packet(flow_between(here_, there_), 0, 2)}), 0);
  Arrival arrival;
  ASSERT_TRUE(wait_and_receive(*receiver, &arrival));
  EXPECT_EQ(psn_of({arrival.bytes.begin(), arrival.bytes.end()}), 2u);
}

TEST_F(UdpPortTest, SeesTheMarkOfARouterThatIsFull) {
  const auto receiver = open_port(there_);
  ASSERT_TRUE(receiver);
  const UniqueFd plain(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress from = socket_address(here_, 0), to = socket_address(there_, wire::kRocePort);
  ASSERT_EQ(bind(plain.get(), from.get(), from.length), 0);
  for (const int mark : {0, 1, 2, 3}) {  // not capable, ECT(1), ECT(0), congestion experienced
    const int traffic_class = 0x40 | mark;
    ASSERT_EQ(setsockopt(plain.get(), IPPROTO_IP, IP_TOS, &traffic_class, sizeof traffic_class), 0);
    ASSERT_EQ(sendto(plain.get(), "x", 1, 0, to.get(), to.length), 1);
    Arrival arrival;
    ASSERT_TRUE(wait_and_receive(*receiver, &arrival));
    EXPECT_EQ(arrival.congested, mark == 3) << mark;
    EXPECT_NE(arrival.source_port, wire::kRocePort);
  }
}

TEST_F(UdpPortTest, LeavesCapableOfCarryingThatMarkOrMarkedInItsTrafficClass) {
  const auto sender = open_port(here_);
  ASSERT_TRUE(sender);
  const UniqueFd plain(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress at = socket_address(there_, wire::kRocePort);
  const int on = 1;
  ASSERT_EQ(setsockopt(plain.get(), IPPROTO_IP, IP_RECVTOS, &on, sizeof on), 0);
  ASSERT_EQ(bind(plain.get(), at.get(), at.length), 0);
  struct Case {
    std::uint8_t traffic_class;
    bool congested;
    int expected;
  };
  for (const Case& one : {Case{0, false, 2}, Case{0x20, false, 0x22}, Case{0xff, false, 0xfe},
                          Case{0, true, 3}, Case{0x20, true, 0x23}}) {
    ASSERT_EQ(send_burst(*sender, there_, {Bytes(20)}, one.traffic_class, one.congested), 0);
    pollfd wait{plain.get(), POLLIN, 0};
    ASSERT_EQ(poll(&wait, 1, test::kLastResortMs), 1);
    char bytes[64];
    alignas(cmsghdr) char control[64];
    iovec room{bytes, sizeof bytes};
    msghdr message{};
    message.msg_iov = &room;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ASSERT_EQ(recvmsg(plain.get(), &message, 0), 20);
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    ASSERT_NE(header, nullptr);
    EXPECT_EQ(*CMSG_DATA(header), one.expected);
  }
}

TEST_F(UdpPortTest, OfIpv6CarriesABurst) {
  wire::Address loopback{};
  loopback[15] = 1;
  auto opened = UdpPort::open(loopback);
  if (!opened) GTEST_SKIP() << opened.error().message;  // no IPv6, or in use
  Port& port = **opened;
  const std::vector<Bytes> burst(3, make_packet(flow_between(loopback, loopback), 0, 4, 500));
  ASSERT_EQ(send_burst(port, loopback, burst, 0x20), 0);
  Arrival arrival;
  std::size_t bytes = 0;
  while (bytes < 3 * burst[0].size()) {
    ASSERT_TRUE(wait_and_receive(port, &arrival));
    EXPECT_EQ(arrival.source, loopback);
    bytes += arrival.bytes.size();
  }
}

TEST_F(UdpPortTest, OfAnotherHostsAddressIsRefusedWithTheAddressesOfThisOne) {
  const auto port = UdpPort::open(ipv4(192, 0, 2, 77));  // for documentation (RFC 5737)
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().code, EADDRNOTAVAIL);
  EXPECT_EQ(port.error().message.find("UDP port 4791 of 192.0.2.77: "), 0u);
  EXPECT_NE(port.error().message.find("set ip= in GDR_SOFT_DEVICES to an address of this host: "),
            std::string::npos);
}

TEST_F(UdpPortTest, ThatAnotherUserHasIsRefusedWithWhatToDo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd told(ends[0]);
  UniqueFd tell(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    const bool is_other = setuid(kNobody) == 0;
    const auto port = UdpPort::open(here_);
    [[maybe_unused]] const ssize_t wrote = write(tell.get(), is_other && port ? "y" : "n", 1);
    pause();
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(read(told.get(), &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  const auto port = UdpPort::open(here_);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().code, EADDRINUSE);
  EXPECT_NE(port.error().message.find("another user's process or the kernel's own RoCE has it"),
            std::string::npos);
}

}  // namespace
}  // namespace gdr::net
