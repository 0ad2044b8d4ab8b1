// Frames that another process spreads over receive work queues.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "base/bytes.h"
#include "connection.h"

namespace gdr::test {
namespace {

constexpr int kFlows = 32;
// Sent first and not counted: a process that is busy answers its first call late, and frames to it
// are lost until then. Room for those behind the first that arrives.
constexpr int kProbes = 50;

// IPv4 to soft1, from 10.0.0.`flow`.
std::vector<std::uint8_t> frame_of(std::uint8_t flow) {
  std::vector<std::uint8_t> frame = {0x02, 0x67, 0x64, 0x72, 0, 1, 0x02,
                                     0x67, 0x64, 0x72, 0,    0, 8, 0};
  frame.resize(100);
  frame[14] = 0x45;
  store_be16(&frame[16], 86);
  frame[26] = 10;
  frame[29] = flow;
  return frame;
}

ibv_wq* ready_work_queue(Side& side, ibv_cq* cq, Memory& memory) {
  ibv_wq_init_attr attr{};
  attr.wq_type = IBV_WQT_RQ;
  attr.max_wr = kFlows + kProbes;
  attr.max_sge = 1;
  attr.pd = side.domain();
  attr.cq = cq;
  ibv_wq* wq = ibv_create_wq(side.context(), &attr);
  require(wq != nullptr, "a work queue");
  ibv_wq_attr ready{};
  ready.attr_mask = IBV_WQ_ATTR_STATE;
  ready.wq_state = IBV_WQS_RDY;
  require(ibv_modify_wq(wq, &ready) == 0, "ready");
  for (int i = 0; i < kFlows + kProbes; ++i) {
    ibv_sge into = memory.segment(static_cast<std::size_t>(i) * 256, 256);
    ibv_recv_wr request{};
    request.wr_id = static_cast<std::uint64_t>(i);
    request.sg_list = &into;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    require(ibv_post_wq_recv(wq, &request, &bad) == 0, "a receive is posted");
  }
  return wq;
}

void be_spread(Wire& wire) {
  Side side(1);
  ibv_cq* cqs[4];
  ibv_wq* queues[4];
  Memory* memories[4];
  for (int i = 0; i < 4; ++i) {
    cqs[i] = ibv_create_cq(side.context(), kFlows + kProbes, nullptr, nullptr, 0);
    memories[i] = &side.memory((kFlows + kProbes) * 256);
    queues[i] = ready_work_queue(side, cqs[i], *memories[i]);
  }
  ibv_rwq_ind_table_init_attr table{};
  table.log_ind_tbl_size = 2;
  table.ind_tbl = queues;
  std::uint8_t key[40];
  for (std::size_t i = 0; i < sizeof key; ++i) key[i] = pattern(40, i);
  ibv_qp_init_attr_ex attr{};
  attr.qp_type = IBV_QPT_RAW_PACKET;
  attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
  attr.pd = side.domain();
  attr.rwq_ind_tbl = ibv_create_rwq_ind_table(side.context(), &table);
  attr.rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
                       .rx_hash_key_len = sizeof key,
                       .rx_hash_key = key,
                       .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4};
  ibv_qp* qp = ibv_create_qp_ex(side.context(), &attr);
  require(qp != nullptr, "a queue pair that spreads");
  ibv_flow_attr rule{};
  rule.type = IBV_FLOW_ATTR_ALL_DEFAULT;
  rule.size = sizeof rule;
  rule.port = 1;
  require(ibv_create_flow(qp, &rule) != nullptr, "a flow rule");
  for (bool met = false; !met; wire.send(met)) {
    (void)wire.receive<char>();
    for (ibv_cq* cq : cqs) {
      ibv_wc probe{};
      met |= ibv_poll_cq(cq, 1, &probe) == 1;
    }
  }
  wire.meet();
  int used = 0;
  bool seen[kFlows] = {};
  for (int i = 0; i < 4; ++i) {
    ibv_wc completion{};
    used += ibv_poll_cq(cqs[i], 1, &completion) == 1;
    for (bool more = completion.qp_num != 0; more;
         more = ibv_poll_cq(cqs[i], 1, &completion) == 1) {
      require(completion.status == IBV_WC_SUCCESS && completion.byte_len == 100, "a whole frame");
      const std::uint8_t* bytes = memories[i]->bytes() + completion.wr_id * 256;
      const std::uint8_t flow = bytes[29];
      const auto expected = frame_of(flow);
      require(std::memcmp(bytes, expected.data(), expected.size()) == 0, "every byte");
      if (flow >= kFlows) continue;
      require(!seen[flow], "each frame once");
      seen[flow] = true;
    }
  }
  for (int i = 0; i < kFlows; ++i) require(seen[i], "frame " + std::to_string(i) + " arrives");
  require(used > 1, "more than one queue is used");
  wire.meet();
}

TEST(Spread, ReachesTheWorkQueuesOfAnotherProcessOnceEach) {
  Child child(be_spread);
  Side side(0);
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RAW_PACKET);
  side.connect(qp);
  const auto send = [&](std::uint8_t flow) {
    const auto frame = frame_of(flow);
    std::memcpy(memory.bytes(), frame.data(), frame.size());
    side.send(qp, memory, 0, frame.size());
    side.expect(IBV_WC_SUCCESS);
  };
  EXPECT_TRUE(soon([&] {
    send(kFlows);
    child.wire().send('?');
    return child.wire().receive<bool>();
  }));
  for (std::uint8_t flow = 0; flow < kFlows; ++flow) send(flow);
  child.wire().meet();
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test
