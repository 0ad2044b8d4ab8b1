// When acknowledges leave, as the other side sees it.
#include <gtest/gtest.h>
#include <unistd.h>

#include "link.h"
#include "raw_peer.h"
#include "side.h"

namespace gdr::test {
namespace {

constexpr int kSoon = 1000;    // milliseconds; some two are usual
constexpr int kOften = 20000;  // polls

class Acknowledge : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Link::make({.kind = LinkKind::kLoopback});
    ASSERT_TRUE(made) << made.error().message;
    link_ = *std::move(made);
  }

  // Takes one message by polling, and never polls again.
  void be_receiver(Wire& wire) {
    link_->enter(0);
    Side side;
    Memory& memory = side.memory(64);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    side.connect(qp, raw_endpoint(link_->address(1)));
    side.receive(qp, {memory.segment(0, 64)});
    // Until the progress thread has seen that this program polls, and stands back.
    ibv_wc wc;
    for (int i = 0; i < kOften; ++i) require(ibv_poll_cq(side.queue(), 1, &wc) == 0, "no message");
    wire.send(side.endpoint(qp));
    side.expect(IBV_WC_SUCCESS);
    (void)wire.receive<char>();
  }

  std::unique_ptr<Link> link_;
};

TEST_F(Acknowledge, LeavesSoonThoughTheProgramThatTookTheMessageNeverPollsAgain) {
  Child receiver([this](Wire& wire) { be_receiver(wire); });
  const Endpoint endpoint = receiver.wire().receive<Endpoint>();
  RawPeer peer(link_->address(1), link_->address(0));
  const wire::Packet packet = request_packet(wire::Transport::kReliableConnection,
                                             wire::Operation::kSendOnly, endpoint.number, 0);
  // Once only: nothing else may remind the receiver.
  peer.send(peer.bytes_of(packet, Bytes(64, std::byte{7})));
  const auto answer = peer.receive(kSoon);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->operation(), wire::Operation::kAcknowledge);
  EXPECT_EQ(answer->psn, 0u);
  EXPECT_EQ(answer->destination_qp, raw_endpoint(link_->address(1)).number);
  receiver.wire().send('.');
  receiver.finish();
}

}  // namespace
}  // namespace gdr::test
