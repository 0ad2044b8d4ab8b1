// Which carrier a request is for: rnic/carrier.h.
#include <algorithm>
#include <mutex>

#include "adapter_fixture.h"
#include "rnic/address_handle.h"

namespace gdr::rnic {
namespace {

using Address = std::array<std::uint8_t, 16>;
constexpr Address kElsewhere{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 203, 0, 113, 9};

// Completes what it is given, at once.
class Beyond : public BeyondCarrier {
 public:
  void send(QueuePair& qp) override {
    while (qp.has_front_for(*this)) {
      sent.push_back(qp.send_ring().front().wr_id);
      qp.complete_front(IBV_WC_SUCCESS, 0);
    }
  }
  void send_later(QueuePair&) override {}
  int connect(QueuePair&) override {
    ++connects;
    return answer;
  }
  void cancel(QueuePair&) override { ++cancels; }
  void serves_memory_of(memory::PeerMemoryClient&) override {}
  bool progress() override { return false; }
  void awaits_event() override {}
  void process_ended(std::uint32_t) override {}
  bool carries_groups(QueuePair&) override { return false; }
  void groups_changed() override {}
  bool takes_everything() const override { return everything; }
  void prepare_fork() override {}
  void parent_of_fork() override {}
  void child_of_fork() override {}

  std::vector<std::uint64_t> sent;
  int connects = 0, cancels = 0, answer = 0;
  bool everything = false;
};

class CarrierTest : public AdapterTest {
 protected:
  void SetUp() override {
    AdapterTest::SetUp();
    adapter_->carry_by(path_, &beyond_);
    const auto own = adapter_->devices()[0].address;
    std::copy(own.begin(), own.end(), here_.begin());
  }

  static int post_to(QueuePair& qp, const Address& address, std::uint64_t id,
                     std::uint32_t number = 7) {
    AddressHandle handle{};
    handle.vector.has_gid = true;
    handle.vector.destination_gid = address;
    ibv_send_wr request{};
    request.wr_id = id;
    request.opcode = IBV_WR_SEND;
    request.wr.ud.ah = &handle.base;
    request.wr.ud.remote_qpn = number;
    const ibv_send_wr* bad = nullptr;
    return qp.post_send(&request, &bad);
  }
  static int connect_to(QueuePair& qp, const Address& address) {
    bring_to(qp, IBV_QPS_INIT);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    std::copy(address.begin(), address.end(), attr.ah_attr.grh.dgid.raw);
    return qp.modify(attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                               IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  }

  Beyond beyond_;
  Address here_{};
};

TEST_F(CarrierTest, ADatagramGoesStraightToTheCarrierOfItsAddress) {
  auto qp = queue_pair(IBV_QPT_UD);
  bring_to(*qp, IBV_QPS_RTS);
  EXPECT_EQ(beyond_.connects, 1);  // for what arrives
  ASSERT_EQ(post_to(*qp, kElsewhere, 1), 0);
  EXPECT_EQ(beyond_.sent, std::vector<std::uint64_t>{1});
  EXPECT_EQ(path_.sends, 0);
  ASSERT_EQ(post_to(*qp, here_, 2), 0);
  EXPECT_EQ(beyond_.sent.size(), 1u);
  EXPECT_EQ(path_.sends, 1);
  adapter_->destroy_queue_pair(*qp);
}

TEST_F(CarrierTest, ADatagramToAGroupStaysWithinTheHost) {
  auto qp = queue_pair(IBV_QPT_UD);
  bring_to(*qp, IBV_QPS_RTS);
  ASSERT_EQ(post_to(*qp, kElsewhere, 1, kMulticastQueuePair), 0);
  EXPECT_TRUE(beyond_.sent.empty());
  EXPECT_EQ(path_.sends, 1);
  adapter_->destroy_queue_pair(*qp);
}

TEST_F(CarrierTest, ADatagramDoesNotOvertakeOneThatTheOtherCarrierStillHas) {
  auto qp = queue_pair(IBV_QPT_UD);
  bring_to(*qp, IBV_QPS_RTS);
  ASSERT_EQ(post_to(*qp, here_, 1), 0);
  ASSERT_EQ(post_to(*qp, kElsewhere, 2), 0);
  EXPECT_TRUE(beyond_.sent.empty());
  {
    const std::lock_guard guard(qp->send_lock());
    qp->complete_front(IBV_WC_SUCCESS, 0);
    qp->carry();
  }
  EXPECT_EQ(beyond_.sent, std::vector<std::uint64_t>{2});
  adapter_->destroy_queue_pair(*qp);
}

TEST_F(CarrierTest, EachCarrierGetsItsDatagramsOfOneList) {
  auto qp = queue_pair(IBV_QPT_UD);
  bring_to(*qp, IBV_QPS_RTS);
  std::array<AddressHandle, 2> handles{};
  std::array<ibv_send_wr, 2> requests{};
  const std::array<Address, 2> addresses{kElsewhere, here_};
  for (std::size_t i = 0; i < 2; ++i) {
    handles[i].vector.has_gid = true;
    handles[i].vector.destination_gid = addresses[i];
    requests[i].wr_id = i;
    requests[i].opcode = IBV_WR_SEND;
    requests[i].wr.ud.ah = &handles[i].base;
    requests[i].wr.ud.remote_qpn = 7;
  }
  requests[0].next = &requests[1];
  const ibv_send_wr* bad = nullptr;
  ASSERT_EQ(qp->post_send(requests.data(), &bad), 0);
  EXPECT_EQ(beyond_.sent, std::vector<std::uint64_t>{0});
  EXPECT_EQ(path_.sends, 1);
  adapter_->destroy_queue_pair(*qp);
}

TEST_F(CarrierTest, EverythingGoesBeyondWhereItIsAskedTo) {
  beyond_.everything = true;
  auto qp = queue_pair(IBV_QPT_UD);
  bring_to(*qp, IBV_QPS_RTS);
  ASSERT_EQ(post_to(*qp, here_, 1), 0);
  EXPECT_EQ(beyond_.sent, std::vector<std::uint64_t>{1});
  adapter_->destroy_queue_pair(*qp);
}

TEST_F(CarrierTest, AConnectionBeyondTheHostIsTheOtherCarriersUntilReset) {
  auto qp = queue_pair(IBV_QPT_RC);
  ASSERT_EQ(connect_to(*qp, kElsewhere), 0);
  EXPECT_EQ(beyond_.connects, 1);
  ASSERT_EQ(move_to(*qp, IBV_QPS_RESET), 0);
  EXPECT_EQ(beyond_.cancels, 1);
  EXPECT_EQ(path_.cancels, 0);
  ASSERT_EQ(connect_to(*qp, here_), 0);
  EXPECT_EQ(beyond_.connects, 1);
  ASSERT_EQ(move_to(*qp, IBV_QPS_RESET), 0);
  EXPECT_EQ(path_.cancels, 1);
  adapter_->destroy_queue_pair(*qp);
}

TEST_F(CarrierTest, AConnectionThatTheOtherCarrierRefusesStaysAsItWas) {
  beyond_.answer = EADDRINUSE;
  auto qp = queue_pair(IBV_QPT_RC);
  EXPECT_EQ(connect_to(*qp, kElsewhere), EADDRINUSE);
  EXPECT_EQ(qp->state(), IBV_QPS_INIT);
  adapter_->destroy_queue_pair(*qp);
  EXPECT_EQ(path_.cancels, 1);
  EXPECT_EQ(beyond_.cancels, 0);
}

}  // namespace
}  // namespace gdr::rnic
