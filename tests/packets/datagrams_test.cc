// What a datagram queue pair puts on the wire, as whoever receives it sees it.
#include <gtest/gtest.h>

#include "link.h"
#include "raw_peer.h"
#include "side.h"

namespace gdr::test {
namespace {

constexpr std::uint32_t kDatagrams = 5;

TEST(Datagrams, HaveConsecutivePsns) {
  const auto link = Link::make({.kind = LinkKind::kLoopback});
  ASSERT_TRUE(link) << link.error().message;
  RawPeer peer((*link)->address(1), (*link)->address(0));
  Child sender([&](Wire& wire) {
    (*link)->enter(0);
    Side side;
    Memory& memory = side.memory(64);
    ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
    side.connect(qp);
    const Endpoint to = raw_endpoint((*link)->address(1));
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
  std::optional<std::uint32_t> last;
  for (std::uint32_t i = 0; i < kDatagrams; ++i) {
    const auto packet = peer.receive(kLastResortMs);
    ASSERT_TRUE(packet) << "datagram " << i;
    EXPECT_EQ(packet->transport(), wire::Transport::kUnreliableDatagram);
    EXPECT_EQ(packet->psn, last.value_or(packet->psn - 1) + 1);
    last = packet->psn;
  }
  sender.wire().send('.');
  sender.finish();
}

// One datagram of `bytes` to `to`, in a process at the link's first end: how it completes.
ibv_wc_status send_one(const Link& link, const std::string& to, std::size_t bytes) {
  Child sender([&](Wire& wire) {
    link.enter(0);
    Side side;
    Memory& memory = side.memory(bytes);
    ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
    side.connect(qp);
    const Endpoint endpoint = raw_endpoint(to);
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.ud = {side.address_handle(endpoint), endpoint.number, kQueueKey};
    side.post(qp, request, {memory.segment(0, bytes)});
    wire.send(side.completion().status);
  });
  const auto status = sender.wire().receive<ibv_wc_status>();
  sender.finish();
  return status;
}

TEST(Datagrams, LongerThanThePathMtuDoNotLeave) {
  const auto link = Link::make({.kind = LinkKind::kLoopback});
  ASSERT_TRUE(link) << link.error().message;
  RawPeer peer((*link)->address(1), (*link)->address(0));
  EXPECT_EQ(send_one(**link, (*link)->address(1), 4096), IBV_WC_SUCCESS);
  ASSERT_TRUE(peer.receive(kLastResortMs));
  EXPECT_EQ(send_one(**link, (*link)->address(1), 4097), IBV_WC_LOC_LEN_ERR);
  EXPECT_FALSE(peer.receive(0));
  EXPECT_EQ((*link)->counted(0, "packets_sent"), 1u);
}

// As from a NIC whose cable is out: nobody is told, but it is counted.
TEST(Datagrams, ThatTheKernelHasNoWayForAreCounted) {
  const auto link = Link::make({.kind = LinkKind::kLoopback});
  ASSERT_TRUE(link) << link.error().message;
  // For documentation (RFC 5737); from a loopback address nothing leaves the host anyway.
  EXPECT_EQ(send_one(**link, "192.0.2.77", 64), IBV_WC_SUCCESS);
  EXPECT_EQ((*link)->counted(0, "not_sent"), 1u);
  EXPECT_EQ((*link)->counted(0, "packets_sent"), 0u);
}

}  // namespace
}  // namespace gdr::test
