// An adapter whose carrier carries nothing out by itself: see idle_path.h.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "idle_path.h"
#include "queue_pair_steps.h"
#include "rnic/adapter.h"

namespace gdr::rnic {

using test::EveryoneLives;
using test::IdlePath;

class AdapterTest : public testing::Test {
 protected:
  static constexpr Token kToken = make_token(3, 77);

  void SetUp() override {
    auto adapter = Adapter::create(kToken, *parse_devices("soft0,soft1"), path_, liveness_);
    ASSERT_TRUE(adapter) << adapter.error().message;
    adapter_ = *std::move(adapter);
    adapter_->carry_by(path_);
    domain_ = adapter_->allocate_protection_domain();
    auto events = EventQueue::create();
    ASSERT_TRUE(events);
    events_ = *std::move(events);
    queue_ = completion_queue(64);
  }

  std::shared_ptr<CompletionQueue> completion_queue(std::uint32_t limit, std::uint32_t traits = 0) {
    auto queue = adapter_->create_completion_queue(
        {.limit = limit, .traits = traits, .on_event = [this](std::uint32_t) {
           return ++notifications_, true;
         }});
    EXPECT_TRUE(queue);
    return *queue;
  }

  std::shared_ptr<QueuePair> queue_pair(ibv_qp_type type) {
    auto made = adapter_->create_queue_pair({.type = type,
                                             .protection_domain = domain_,
                                             .send_completion_queue = queue_,
                                             .receive_completion_queue = queue_,
                                             .events = events_,
                                             .verbs_object = this,
                                             .capabilities = {.max_send_wr = 8,
                                                              .max_recv_wr = 8,
                                                              .max_send_sge = 2,
                                                              .max_recv_sge = 2,
                                                              .max_inline_data = 64}});
    EXPECT_TRUE(made);
    return *made;
  }

  // As far as `state`, with nothing but what is required.
  static void bring_to(QueuePair& qp, ibv_qp_state state) {
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.path_mtu = IBV_MTU_4096;
    attr.dest_qp_num = 0x5005;
    for (const ibv_qp_state next : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
      attr.qp_state = next;
      ASSERT_EQ(qp.modify(attr, test::required_for(next, qp.type())), 0);
      if (next == state) return;
    }
  }
  static int move_to(QueuePair& qp, ibv_qp_state state) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    return qp.modify(attr, IBV_QP_STATE);
  }

  static int post_send(QueuePair& qp, std::uint64_t id, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_send_wr request{};
    request.wr_id = id;
    request.opcode = IBV_WR_SEND;
    request.send_flags = flags;
    const ibv_send_wr* bad = nullptr;
    return qp.post_send(&request, &bad);
  }
  static int post_receive(QueuePair& qp, std::uint64_t id) {
    ibv_recv_wr request{};
    request.wr_id = id;
    const ibv_recv_wr* bad = nullptr;
    return qp.post_receive(&request, &bad);
  }

  std::vector<SharedCompletion> completions() {
    std::vector<SharedCompletion> found(256);
    const int count = queue_->poll(found);
    found.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return found;
  }
  std::vector<std::uint64_t> ids(std::uint32_t status) {
    std::vector<std::uint64_t> found;
    for (const SharedCompletion& completion : completions()) {
      EXPECT_EQ(completion.status, status) << completion.wr_id;
      found.push_back(completion.wr_id);
    }
    return found;
  }

  IdlePath path_;
  EveryoneLives liveness_;
  std::unique_ptr<Adapter> adapter_;
  std::shared_ptr<EventQueue> events_;
  std::shared_ptr<CompletionQueue> queue_;
  std::uint32_t domain_ = 0;
  int notifications_ = 0;
};

}  // namespace gdr::rnic
