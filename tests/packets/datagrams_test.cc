// What a datagram queue pair puts on the wire, as whoever receives it sees it.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>

#include "link.h"
#include "net/udp_port.h"
#include "side.h"
#include "wire/packet.h"

namespace gdr::test {
namespace {

constexpr std::uint32_t kDatagrams = 5;
constexpr int kPatience = 10000;  // milliseconds

wire::Address mapped(const std::string& ipv4) {
  wire::Address address{};
  address[10] = address[11] = 0xff;
  inet_pton(AF_INET, ipv4.c_str(), address.data() + 12);
  return address;
}

TEST(Datagrams, HaveConsecutivePsns) {
  const auto link = Link::make({.kind = LinkKind::kLoopback});
  ASSERT_TRUE(link) << link.error().message;
  const wire::Address here = mapped((*link)->address(1));
  auto port = net::UdpPort::open(here);
  ASSERT_TRUE(port) << port.error().message;
  Child sender([&](Wire& wire) {
    (*link)->enter(0);
    Side side;
    Memory& memory = side.memory(64);
    ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
    side.connect(qp);
    Endpoint to{0x123456, {}};
    std::memcpy(to.gid.raw, here.data(), here.size());
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.ud = {side.address_handle(to), to.number, kQueueKey};
    for (std::uint32_t i = 0; i < kDatagrams; ++i) {
      side.post(qp, request, {memory.segment(0, 64)});
      side.expect(IBV_WC_SUCCESS);
    }
    (void)wire.receive<char>();
  });
  std::vector<std::uint32_t> psns;
  while (psns.size() < kDatagrams) {
    pollfd wait{(*port)->descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&wait, 1, kPatience), 1);
    net::Arrival arrival;
    while ((*port)->receive(&arrival)) {
      wire::Packet packet;
      ASSERT_EQ(wire::parse(arrival.bytes, &packet), wire::ParseError::kNone);
      EXPECT_EQ(packet.transport(), wire::Transport::kUnreliableDatagram);
      psns.push_back(packet.psn);
    }
  }
  for (std::uint32_t i = 1; i < kDatagrams; ++i) EXPECT_EQ(psns[i], psns[0] + i);
  sender.wire().send('.');
  sender.finish();
}

}  // namespace
}  // namespace gdr::test
