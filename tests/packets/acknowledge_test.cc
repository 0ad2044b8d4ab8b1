// When acknowledges leave, as the other side sees it.
#include <gtest/gtest.h>
#include <unistd.h>

#include "link.h"
#include "mads.h"
#include "raw_peer.h"
#include "side.h"

namespace gdr::test {
namespace {

constexpr int kSoon = 20'000;  // milliseconds; some two are usual
constexpr int kOften = 20000;  // polls

class Acknowledge : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Link::make({.kind = LinkKind::kLoopback});
    ASSERT_TRUE(made) << made.error().message;
    link_ = *std::move(made);
  }

  // A program prepares something first, and then does it.
  using Then = std::function<void()>;
  using Prepare = std::function<Then(Side&)>;

  // Takes one message by polling, does what was prepared, and never polls again.
  void be_receiver(Wire& wire, const Prepare& prepare) {
    link_->enter(0);
    Side side;
    Memory& memory = side.memory(64);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    side.connect(qp, raw_endpoint(link_->address(1)));
    side.receive(qp, {memory.segment(0, 64)});
    const Then then = prepare(side);
    // Until the progress thread has seen that this program polls, and stands back.
    ibv_wc wc;
    for (int i = 0; i < kOften; ++i) require(ibv_poll_cq(side.queue(), 1, &wc) == 0, "no message");
    wire.send(side.endpoint(qp));
    side.expect(IBV_WC_SUCCESS);
    then();
    (void)wire.receive<char>();
  }

  // One message to such a receiver, and what comes back first.
  std::optional<wire::Packet> first_answer(const Prepare& prepare) {
    Child receiver([this, &prepare](Wire& wire) { be_receiver(wire, prepare); });
    const Endpoint endpoint = receiver.wire().receive<Endpoint>();
    RawPeer peer(link_->address(1), link_->address(0));
    const wire::Packet packet = request_packet(wire::Transport::kReliableConnection,
                                               wire::Operation::kSendOnly, endpoint.number, 0);
    // Once only: nothing else may remind the receiver.
    peer.send(peer.bytes_of(packet, Bytes(64, std::byte{7})));
    std::optional<wire::Packet> answer = peer.receive(kSoon);
    receiver.wire().send('.');
    receiver.finish();
    return answer;
  }

  std::unique_ptr<Link> link_;
};

TEST_F(Acknowledge, LeavesSoonThoughTheProgramThatTookTheMessageNeverPollsAgain) {
  const auto answer = first_answer([](Side&) { return [] {}; });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->operation(), wire::Operation::kAcknowledge);
  EXPECT_EQ(answer->psn, 0u);
  EXPECT_EQ(answer->destination_qp, raw_endpoint(link_->address(1)).number);
}

TEST_F(Acknowledge, LeavesBeforeWhatTheProgramThenSendsByAnotherQueuePair) {
  const auto answer = first_answer([this](Side& side) -> Then {
    Memory& memory = side.memory(64);
    ibv_qp* other = side.queue_pair(IBV_QPT_RC);
    side.connect(other, raw_endpoint(link_->address(1)));
    return [&side, &memory, other] { side.send(other, memory, 0, 64); };
  });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->operation(), wire::Operation::kAcknowledge);
}

TEST_F(Acknowledge, LeavesBeforeAManagementDatagramThatTheProgramThenSends) {
  GidBytes to;
  const wire::Address address = mapped(link_->address(1));
  std::copy(address.begin(), address.end(), to.begin());
  const auto answer = first_answer([to](Side& side) -> Then {
    const auto end = std::make_shared<GsiEnd>(side.context());
    (void)end->send(to, request_mad(end->id(1), 7));  // to nobody: the next one is quick
    return
        [to, end] { require(end->send(to, request_mad(end->id(1), 7)) == 0, "a request leaves"); };
  });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->operation(), wire::Operation::kAcknowledge);
}

}  // namespace
}  // namespace gdr::test
