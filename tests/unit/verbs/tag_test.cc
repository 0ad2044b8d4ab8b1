// Shared receive queues that match tags, through the C interface: what they need, what they report.
// Which message goes where is in tests/two_process/tag_test.cc.
#include <endian.h>
#include <infiniband/tm_types.h>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class TagVerbs : public VerbsTest {
 protected:
  ibv_srq_init_attr_ex queue_attributes() {
    ibv_srq_init_attr_ex init{};
    init.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
    init.comp_mask =
        IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
    init.srq_type = IBV_SRQT_TM;
    init.pd = pd_;
    init.cq = cq_;
    init.tm_cap = {.max_num_tags = 8, .max_ops = 8};
    return init;
  }
};

TEST_F(TagVerbs, TheDeviceSaysWhatItTakes) {
  ibv_device_attr_ex attr{};
  ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
  EXPECT_EQ(attr.tm_caps.flags, static_cast<std::uint32_t>(IBV_TM_CAP_RC));
  EXPECT_GE(attr.tm_caps.max_rndv_hdr_size, sizeof(ibv_tmh) + sizeof(ibv_rvh));
  ibv_srq_init_attr_ex init = queue_attributes();
  init.tm_cap.max_num_tags = attr.tm_caps.max_num_tags;
  init.tm_cap.max_ops = attr.tm_caps.max_ops;
  EXPECT_NE(ibv_create_srq_ex(context_, &init), nullptr);
  ++init.tm_cap.max_num_tags;
  EXPECT_EQ(ibv_create_srq_ex(context_, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
  --init.tm_cap.max_num_tags;
  ++init.tm_cap.max_ops;
  EXPECT_EQ(ibv_create_srq_ex(context_, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(TagVerbs, QueuesNeedAllThatTheyStandOnAndServeReliableConnections) {
  for (const auto& missing : {IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_CQ, IBV_SRQ_INIT_ATTR_TM}) {
    ibv_srq_init_attr_ex init = queue_attributes();
    init.comp_mask &= ~static_cast<std::uint32_t>(missing);
    errno = 0;
    EXPECT_EQ(ibv_create_srq_ex(context_, &init), nullptr) << missing;
    EXPECT_EQ(errno, EINVAL);
  }
  ibv_srq_init_attr_ex init = queue_attributes();
  ibv_srq* srq = ibv_create_srq_ex(context_, &init);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(ibv_destroy_cq(cq_), EBUSY);
  for (const ibv_qp_type type : {IBV_QPT_UC, IBV_QPT_UD}) {
    ibv_qp_init_attr qp = attributes(type);
    qp.srq = srq;
    EXPECT_EQ(ibv_create_qp(pd_, &qp), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(TagVerbs, OtherQueuesHaveNoTags) {
  ibv_srq_init_attr init{};
  init.attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0};
  ibv_srq* basic = ibv_create_srq(pd_, &init);
  ibv_ops_wr operation{};
  ibv_ops_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_srq_ops(basic, &operation, &bad), EINVAL);
  EXPECT_EQ(bad, &operation);
}

TEST_F(TagVerbs, ExtendedCompletionQueuesTellTheTagAndWhatTheSenderAdded) {
  ibv_cq_init_attr_ex cq_attributes{};
  cq_attributes.cqe = 16;
  cq_attributes.wc_flags = std::uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_TM_INFO;
  ibv_cq_ex* cq = ibv_create_cq_ex(context_, &cq_attributes);
  ASSERT_NE(cq, nullptr) << std::strerror(errno);
  ibv_srq_init_attr_ex init = queue_attributes();
  init.cq = ibv_cq_ex_to_cq(cq);
  ibv_srq* srq = ibv_create_srq_ex(context_, &init);
  ibv_qp_init_attr matching = attributes(IBV_QPT_RC);
  matching.srq = srq;
  ibv_qp* target = ibv_create_qp(pd_, &matching);
  ASSERT_NE(target, nullptr);
  ibv_qp* sender = create_qp(IBV_QPT_RC);
  connect(sender, target);
  std::vector<std::uint8_t> to(64);
  ibv_sge room = segment_of(register_bytes(to));
  ibv_ops_wr add{};
  add.wr_id = 3;
  add.flags = IBV_OPS_SIGNALED;
  add.tm.add = {.recv_wr_id = 4, .sg_list = &room, .num_sge = 1, .tag = 0x70, .mask = 0xf0};
  ibv_ops_wr* bad_operation = nullptr;
  ASSERT_EQ(ibv_post_srq_ops(srq, &add, &bad_operation), 0);
  struct {
    ibv_tmh header{
        .opcode = IBV_TMH_EAGER, .reserved = {}, .app_ctx = htobe32(99), .tag = htobe64(0x71)};
    std::uint64_t bytes = 0x0123'4567'89ab'cdef;
  } message;
  ibv_sge from{address_of(&message), sizeof message, 0};
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  send.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
  send.sg_list = &from;
  send.num_sge = 1;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(sender, &send, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  ibv_poll_cq_attr poll{};
  ibv_wc_tm_info info{};
  ASSERT_EQ(ibv_start_poll(cq, &poll), 0);
  EXPECT_EQ(cq->wr_id, 3u);
  EXPECT_EQ(ibv_wc_read_opcode(cq), IBV_WC_TM_ADD);
  ibv_wc_read_tm_info(cq, &info);
  EXPECT_EQ(info.tag, 0u);
  ASSERT_EQ(ibv_next_poll(cq), 0);
  EXPECT_EQ(cq->wr_id, 4u);
  ibv_wc_read_tm_info(cq, &info);
  EXPECT_EQ(info.tag, 0x71u);
  EXPECT_EQ(info.priv, 99u);
  ibv_end_poll(cq);
  EXPECT_EQ(std::memcmp(to.data(), &message.bytes, 8), 0);
}

// What was announced is read into memory of the queue's protection domain, which need not be that
// of the queue pair.
TEST_F(TagVerbs, TheQueuesProtectionDomainDecides) {
  ibv_pd* other = ibv_alloc_pd(context_);
  std::vector<std::uint8_t> from(128, 0x5a), to(128);
  const ibv_mr* source = register_bytes(from);
  const ibv_mr* room = ibv_reg_mr(other, to.data(), to.size(), IBV_ACCESS_LOCAL_WRITE);
  ibv_srq_init_attr_ex init = queue_attributes();
  init.pd = other;
  ibv_srq* srq = ibv_create_srq_ex(context_, &init);
  ibv_qp_init_attr matching = attributes(IBV_QPT_RC);
  matching.srq = srq;
  ibv_qp *target = ibv_create_qp(pd_, &matching), *sender = create_qp(IBV_QPT_RC);
  ASSERT_NE(target, nullptr);
  connect(sender, target);
  ibv_recv_wr told{};
  ibv_sge nowhere = segment_of(source);
  told.sg_list = &nowhere;
  told.num_sge = 1;
  ibv_recv_wr* bad_receive = nullptr;
  ASSERT_EQ(ibv_post_recv(sender, &told, &bad_receive), 0);
  ibv_sge segment = segment_of(room);
  ibv_ops_wr add{};
  add.tm.add = {.recv_wr_id = 4, .sg_list = &segment, .num_sge = 1, .tag = 1, .mask = 1};
  ibv_ops_wr* bad_operation = nullptr;
  ASSERT_EQ(ibv_post_srq_ops(srq, &add, &bad_operation), 0);
  struct {
    ibv_tmh header{.opcode = IBV_TMH_RNDV, .reserved = {}, .app_ctx = 0, .tag = htobe64(1)};
    ibv_rvh where{};
  } message;
  message.where = {.va = htobe64(address_of(from.data()) + 64),
                   .rkey = htobe32(source->rkey),
                   .len = htobe32(64)};
  ibv_sge announcement{address_of(&message), sizeof message, 0};
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  send.send_flags = IBV_SEND_INLINE;
  send.sg_list = &announcement;
  send.num_sge = 1;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(sender, &send, &bad), 0);
  EXPECT_EQ(wait_for_completion().wc_flags, static_cast<unsigned>(IBV_WC_TM_MATCH));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(to[63], 0x5a);
  EXPECT_EQ(to[64], 0);
}

}  // namespace
}  // namespace gdr::test
