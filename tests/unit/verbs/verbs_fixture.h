// An opened device of the stand-in, a protection domain, and queue pairs connected to each other
// within the process.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "queue_pair_steps.h"
#include "soon.h"

namespace gdr::test {

constexpr unsigned kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

inline ibv_context* open_device(int index) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr || index >= count) return nullptr;
  ibv_context* context = ibv_open_device(list[index]);
  ibv_free_device_list(list);
  return context;
}

class VerbsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    context_ = open_device(0);
    ASSERT_NE(context_, nullptr) << std::strerror(errno);
    pd_ = ibv_alloc_pd(context_);
    ASSERT_NE(pd_, nullptr);
    cq_ = ibv_create_cq(context_, 64, nullptr, nullptr, 0);
    ASSERT_NE(cq_, nullptr);
  }
  // Destroys what a test left: its queue pairs, regions and so on, in the right order.
  void TearDown() override {
    if (context_ != nullptr) {
      EXPECT_EQ(ibv_close_device(context_), 0);
    }
  }

  ibv_qp_init_attr attributes(ibv_qp_type type) const {
    ibv_qp_init_attr init{};
    init.send_cq = cq_;
    init.recv_cq = cq_;
    init.qp_type = type;
    init.cap = {.max_send_wr = 16,
                .max_recv_wr = 16,
                .max_send_sge = 2,
                .max_recv_sge = 2,
                .max_inline_data = 64};
    return init;
  }

  ibv_qp* create_qp(ibv_qp_type type) {
    ibv_qp_init_attr init = attributes(type);
    ibv_qp* qp = ibv_create_qp(pd_, &init);
    EXPECT_NE(qp, nullptr) << std::strerror(errno);
    return qp;
  }

  ibv_qp* create_extended_qp(ibv_qp_type type, std::uint64_t operations) {
    const ibv_qp_init_attr plain = attributes(type);
    ibv_qp_init_attr_ex init{};
    init.send_cq = plain.send_cq;
    init.recv_cq = plain.recv_cq;
    init.cap = plain.cap;
    init.qp_type = type;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.pd = pd_;
    init.send_ops_flags = operations;
    return ibv_create_qp_ex(context_, &init);
  }

  static int to_init(ibv_qp* qp) {
    ibv_qp_attr attr = attributes_towards(0, {});
    attr.qkey = 0x11111111;
    return step(qp, attr, IBV_QPS_INIT);
  }

  // `device`: the destination's, where that is another.
  static int to_rtr(ibv_qp* qp, std::uint32_t destination, ibv_context* device = nullptr) {
    ibv_gid gid{};
    EXPECT_EQ(ibv_query_gid(device == nullptr ? qp->context : device, 1, kGidIndex, &gid), 0);
    ibv_qp_attr attr = attributes_towards(destination, gid);
    attr.min_rnr_timer = 1;
    return step(qp, attr, IBV_QPS_RTR);
  }

  static int to_rts(ibv_qp* qp) { return step(qp, attributes_towards(0, {}), IBV_QPS_RTS); }

  static void connect(ibv_qp* a, ibv_qp* b) {
    ASSERT_EQ(to_init(a), 0);
    ASSERT_EQ(to_init(b), 0);
    ASSERT_EQ(to_rtr(a, b->qp_num, b->context), 0);
    ASSERT_EQ(to_rtr(b, a->qp_num, a->context), 0);
    ASSERT_EQ(to_rts(a), 0);
    ASSERT_EQ(to_rts(b), 0);
  }

  ibv_mr* register_bytes(std::vector<std::uint8_t>& bytes, unsigned access = kAllAccess) {
    ibv_mr* mr = ibv_reg_mr(pd_, bytes.data(), bytes.size(), access);
    EXPECT_NE(mr, nullptr) << std::strerror(errno);
    return mr;
  }

  // One completion, or status -1 where none comes.
  ibv_wc wait_for_completion(ibv_cq* cq) {
    ibv_wc completion{};
    for (const Nanoseconds end = now() + kLastResort; now() < end;) {
      const int found = ibv_poll_cq(cq, 1, &completion);
      if (found == 1) return completion;
      EXPECT_EQ(found, 0);
      std::this_thread::yield();
    }
    ADD_FAILURE() << "no completion";
    completion.status = static_cast<ibv_wc_status>(-1);
    return completion;
  }
  ibv_wc wait_for_completion() { return wait_for_completion(cq_); }

  bool no_completion() {
    ibv_wc completion{};
    return ibv_poll_cq(cq_, 1, &completion) == 0;
  }

  static ibv_send_wr write_request(ibv_sge* segment, std::uint64_t address, std::uint32_t rkey) {
    ibv_send_wr request{};
    request.wr_id = 7;
    request.sg_list = segment;
    request.num_sge = segment == nullptr ? 0 : 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = address;
    request.wr.rdma.rkey = rkey;
    return request;
  }

  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;
};

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

inline ibv_sge segment_of(const ibv_mr* mr) {
  return {address_of(mr->addr), static_cast<std::uint32_t>(mr->length), mr->lkey};
}

}  // namespace gdr::test
