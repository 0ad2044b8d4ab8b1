// Work requests from one queue pair to another through the C interface: right ones and wrong ones.
#include <algorithm>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class TransferTest : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    a_ = create_qp(IBV_QPT_RC);
    b_ = create_qp(IBV_QPT_RC);
    connect(a_, b_);
    for (std::size_t i = 0; i < source_.size(); ++i) source_[i] = static_cast<std::uint8_t>(i * 7);
    source_mr_ = register_bytes(source_);
    target_mr_ = register_bytes(target_);
  }

  ibv_wc carry_out(ibv_send_wr& request) {
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(a_, &request, &bad), 0);
    return wait_for_completion();
  }
  ibv_wc write(std::uint64_t address, std::uint32_t rkey) {
    ibv_sge segment = segment_of(source_mr_);
    ibv_send_wr request = write_request(&segment, address, rkey);
    return carry_out(request);
  }
  bool target_untouched() const {
    return std::all_of(target_.begin(), target_.end(), [](auto byte) { return byte == 0; });
  }

  std::vector<std::uint8_t> source_ = std::vector<std::uint8_t>(4096);
  std::vector<std::uint8_t> target_ = std::vector<std::uint8_t>(4096);
  ibv_mr *source_mr_ = nullptr, *target_mr_ = nullptr;
  ibv_qp *a_ = nullptr, *b_ = nullptr;
};

TEST_F(TransferTest, WritesEveryByte) {
  const ibv_wc completion = write(address_of(target_.data()), target_mr_->rkey);
  EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
  EXPECT_EQ(completion.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(completion.wr_id, 7u);
  EXPECT_EQ(target_, source_);
}

TEST_F(TransferTest, ReadsEveryByte) {
  ibv_sge segment = segment_of(target_mr_);
  ibv_send_wr request = write_request(&segment, address_of(source_.data()), source_mr_->rkey);
  request.opcode = IBV_WR_RDMA_READ;
  EXPECT_EQ(carry_out(request).status, IBV_WC_SUCCESS);
  EXPECT_EQ(target_, source_);
}

TEST_F(TransferTest, SendsIntoAReceiveWithImmediateData) {
  ibv_sge into = segment_of(target_mr_);
  ibv_recv_wr receive{};
  receive.wr_id = 9;
  receive.sg_list = &into;
  receive.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(b_, &receive, &bad), 0);
  ibv_sge from = segment_of(source_mr_);
  ibv_send_wr request = write_request(&from, 0, 0);
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.imm_data = htobe32(0xabcd);
  ibv_send_wr* bad_send = nullptr;
  ASSERT_EQ(ibv_post_send(a_, &request, &bad_send), 0);
  bool received = false;
  for (int i = 0; i < 2; ++i) {
    const ibv_wc completion = wait_for_completion();
    ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
    if (completion.opcode != IBV_WC_RECV) continue;
    received = true;
    EXPECT_EQ(completion.wr_id, 9u);
    EXPECT_EQ(completion.byte_len, source_.size());
    EXPECT_EQ(completion.qp_num, b_->qp_num);
    EXPECT_EQ(completion.imm_data, htobe32(0xabcd));
    EXPECT_NE(completion.wc_flags & IBV_WC_WITH_IMM, 0u);
  }
  EXPECT_TRUE(received);
  EXPECT_EQ(target_, source_);
}

TEST_F(TransferTest, FetchesAndAdds) {
  alignas(8) std::uint64_t counter = 40;
  ibv_mr* mr = ibv_reg_mr(pd_, &counter, sizeof counter, kAllAccess);
  ASSERT_NE(mr, nullptr);
  ibv_sge segment{address_of(target_.data()), 8, target_mr_->lkey};
  ibv_send_wr request = write_request(&segment, 0, 0);
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  request.wr.atomic = {address_of(&counter), 2, 0, mr->rkey};
  EXPECT_EQ(carry_out(request).status, IBV_WC_SUCCESS);
  EXPECT_EQ(counter, 42u);
  std::uint64_t before = 0;
  std::memcpy(&before, target_.data(), sizeof before);
  EXPECT_EQ(before, 40u);
}

TEST_F(TransferTest, CompletesOnlyWhatIsSignalled) {
  ibv_sge segment = segment_of(source_mr_);
  ibv_send_wr quiet = write_request(&segment, address_of(target_.data()), target_mr_->rkey);
  quiet.send_flags = 0;
  quiet.wr_id = 1;
  ibv_send_wr loud = write_request(&segment, address_of(target_.data()), target_mr_->rkey);
  quiet.next = &loud;
  EXPECT_EQ(carry_out(quiet).wr_id, 7u);
  EXPECT_TRUE(no_completion());
}

TEST_F(TransferTest, RefusesAKeyThatWasNeverIssued) {
  for (const std::uint32_t key : {0u, 1u, 0xffffffffu, target_mr_->rkey ^ 1}) {
    ibv_qp* a = create_qp(IBV_QPT_RC);
    ibv_qp* b = create_qp(IBV_QPT_RC);
    connect(a, b);
    a_ = a;
    EXPECT_EQ(write(address_of(target_.data()), key).status, IBV_WC_REM_ACCESS_ERR) << key;
    EXPECT_TRUE(target_untouched());
  }
}

TEST_F(TransferTest, RefusesAKeyAfterDeregistration) {
  const std::uint32_t key = target_mr_->rkey;
  ASSERT_EQ(ibv_dereg_mr(target_mr_), 0);
  EXPECT_EQ(write(address_of(target_.data()), key).status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(target_untouched());
}

TEST_F(TransferTest, RefusesOneByteBeyondTheRegion) {
  EXPECT_EQ(write(address_of(target_.data()) + 1, target_mr_->rkey).status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(target_untouched());
}

TEST_F(TransferTest, RefusesAnAddressThatWraps) {
  EXPECT_EQ(write(UINT64_MAX - 16, target_mr_->rkey).status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(target_untouched());
}

TEST_F(TransferTest, RefusesARegionWithoutTheRight) {
  std::vector<std::uint8_t> constant(4096);
  ibv_mr* mr = register_bytes(constant, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  EXPECT_EQ(write(address_of(constant.data()), mr->rkey).status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(TransferTest, RefusesARegionOfAnotherProtectionDomain) {
  ibv_pd* other = ibv_alloc_pd(context_);
  ibv_mr* mr = ibv_reg_mr(other, target_.data(), target_.size(), kAllAccess);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(write(address_of(target_.data()), mr->rkey).status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_TRUE(target_untouched());
}

TEST_F(TransferTest, RefusesALocalKeyThatWasNeverIssued) {
  ibv_sge segment = segment_of(source_mr_);
  segment.lkey ^= 0x5555;
  ibv_send_wr request = write_request(&segment, address_of(target_.data()), target_mr_->rkey);
  EXPECT_EQ(carry_out(request).status, IBV_WC_LOC_PROT_ERR);
  EXPECT_TRUE(target_untouched());
}

TEST_F(TransferTest, RefusesALocalSegmentThatWraps) {
  ibv_sge segment = segment_of(source_mr_);
  segment.addr = UINT64_MAX - 8;
  ibv_send_wr request = write_request(&segment, address_of(target_.data()), target_mr_->rkey);
  EXPECT_EQ(carry_out(request).status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(TransferTest, FlushesWhatFollowsAnErrorAndEndsInError) {
  EXPECT_EQ(write(address_of(target_.data()), 0).status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(write(address_of(target_.data()), target_mr_->rkey).status, IBV_WC_WR_FLUSH_ERR);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(ibv_query_qp(a_, &attr, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_ERR);
  EXPECT_TRUE(target_untouched());
}

TEST_F(TransferTest, RefusesRequestsThatAreMalformedWithoutPostingThem) {
  ibv_sge segments[3] = {segment_of(source_mr_), segment_of(source_mr_), segment_of(source_mr_)};
  ibv_send_wr* bad = nullptr;
  ibv_send_wr request = write_request(segments, address_of(target_.data()), target_mr_->rkey);
  request.num_sge = 3;  // of 2
  EXPECT_NE(ibv_post_send(a_, &request, &bad), 0);
  EXPECT_EQ(bad, &request);
  request = write_request(segments, address_of(target_.data()), target_mr_->rkey);
  const std::uint32_t unknown = 99;
  std::memcpy(&request.opcode, &unknown, sizeof unknown);
  EXPECT_NE(ibv_post_send(a_, &request, &bad), 0);
  request = write_request(segments, address_of(target_.data()), target_mr_->rkey);
  request.send_flags |= IBV_SEND_INLINE;  // 4096 bytes of 64
  EXPECT_NE(ibv_post_send(a_, &request, &bad), 0);
  EXPECT_TRUE(no_completion());
  EXPECT_TRUE(target_untouched());
}

TEST_F(TransferTest, ReportsWhichRequestOfAListIsBadAndCarriesOutThoseBefore) {
  ibv_sge segment = segment_of(source_mr_);
  ibv_send_wr good = write_request(&segment, address_of(target_.data()), target_mr_->rkey);
  ibv_send_wr wrong = good;
  wrong.num_sge = -1;
  good.next = &wrong;
  ibv_send_wr* bad = nullptr;
  EXPECT_NE(ibv_post_send(a_, &good, &bad), 0);
  EXPECT_EQ(bad, &wrong);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(target_, source_);
}

}  // namespace
}  // namespace gdr::test
