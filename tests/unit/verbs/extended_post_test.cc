// ibv_wr_*: batches that are posted whole or not at all.
#include <algorithm>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class ExtendedPostTest : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    constexpr std::uint64_t kOperations =
        IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
        IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
        IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    base_ = create_extended_qp(IBV_QPT_RC, kOperations);
    ASSERT_NE(base_, nullptr) << std::strerror(errno);
    ibv_qp* peer = create_qp(IBV_QPT_RC);
    connect(base_, peer);
    qp_ = ibv_qp_to_qp_ex(base_);
    ASSERT_NE(qp_, nullptr);
    for (std::size_t i = 0; i < source_.size(); ++i) source_[i] = static_cast<std::uint8_t>(i + 1);
    source_mr_ = register_bytes(source_);
    target_mr_ = register_bytes(target_);
    qp_->wr_id = 5;
    qp_->wr_flags = IBV_SEND_SIGNALED;
  }

  bool target_untouched() const {
    return std::all_of(target_.begin(), target_.end(), [](auto byte) { return byte == 0; });
  }
  void begin_write(std::size_t offset) {
    ibv_wr_rdma_write(qp_, target_mr_->rkey, address_of(target_.data() + offset));
  }

  std::vector<std::uint8_t> source_ = std::vector<std::uint8_t>(128);
  std::vector<std::uint8_t> target_ = std::vector<std::uint8_t>(128);
  ibv_mr *source_mr_ = nullptr, *target_mr_ = nullptr;
  ibv_qp* base_ = nullptr;
  ibv_qp_ex* qp_ = nullptr;
};

TEST_F(ExtendedPostTest, WritesFromSegmentsListsAndInlineData) {
  ibv_wr_start(qp_);
  begin_write(0);
  ibv_wr_set_sge(qp_, source_mr_->lkey, address_of(source_.data()), 32);
  begin_write(32);
  const ibv_sge list[2] = {{address_of(source_.data() + 32), 20, source_mr_->lkey},
                           {address_of(source_.data() + 52), 12, source_mr_->lkey}};
  ibv_wr_set_sge_list(qp_, 2, list);
  begin_write(64);
  std::uint8_t copy[32];
  std::copy_n(source_.begin() + 64, sizeof copy, copy);
  ibv_wr_set_inline_data(qp_, copy, sizeof copy);
  std::fill(std::begin(copy), std::end(copy), 0);  // inline data was taken when it was set
  begin_write(96);
  const ibv_data_buf buffers[2] = {{source_.data() + 96, 3}, {source_.data() + 99, 29}};
  ibv_wr_set_inline_data_list(qp_, 2, buffers);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  for (int i = 0; i < 4; ++i) {
    const ibv_wc completion = wait_for_completion();
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    EXPECT_EQ(completion.wr_id, 5u);
  }
  EXPECT_EQ(target_, source_);
}

TEST_F(ExtendedPostTest, ReadsAndSwaps) {
  ibv_wr_start(qp_);
  ibv_wr_rdma_read(qp_, source_mr_->rkey, address_of(source_.data()));
  ibv_wr_set_sge(qp_, target_mr_->lkey, address_of(target_.data()), 128);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(target_, source_);

  alignas(8) std::uint64_t word = 11;
  ibv_mr* mr = ibv_reg_mr(pd_, &word, sizeof word, kAllAccess);
  ibv_wr_start(qp_);
  ibv_wr_atomic_cmp_swp(qp_, mr->rkey, address_of(&word), 11, 22);
  ibv_wr_set_sge(qp_, target_mr_->lkey, address_of(target_.data()), 8);
  ibv_wr_atomic_fetch_add(qp_, mr->rkey, address_of(&word), 3);
  ibv_wr_set_sge(qp_, target_mr_->lkey, address_of(target_.data() + 8), 8);
  ASSERT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(wait_for_completion().opcode, IBV_WC_COMP_SWAP);
  EXPECT_EQ(wait_for_completion().opcode, IBV_WC_FETCH_ADD);
  EXPECT_EQ(word, 25u);
}

TEST_F(ExtendedPostTest, PostsNothingAfterAbort) {
  ibv_wr_start(qp_);
  begin_write(0);
  ibv_wr_set_sge(qp_, source_mr_->lkey, address_of(source_.data()), 128);
  ibv_wr_abort(qp_);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(no_completion());
  EXPECT_TRUE(target_untouched());
}

TEST_F(ExtendedPostTest, PostsNothingOfABatchWithOneWrongRequest) {
  ibv_wr_start(qp_);
  begin_write(0);
  ibv_wr_set_sge(qp_, source_mr_->lkey, address_of(source_.data()), 128);
  begin_write(0);
  const std::vector<ibv_sge> many(3, segment_of(source_mr_));  // of 2
  ibv_wr_set_sge_list(qp_, many.size(), many.data());
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
  EXPECT_TRUE(no_completion());
  EXPECT_TRUE(target_untouched());
}

TEST_F(ExtendedPostTest, PostsNothingOfABatchThatDoesNotFit) {
  ibv_wr_start(qp_);
  for (int i = 0; i < 17; ++i) {  // of 16
    begin_write(0);
    ibv_wr_set_sge(qp_, source_mr_->lkey, address_of(source_.data()), 128);
  }
  EXPECT_EQ(ibv_wr_complete(qp_), ENOMEM);
  EXPECT_TRUE(no_completion());
  EXPECT_TRUE(target_untouched());
}

TEST_F(ExtendedPostTest, RefusesInlineDataBeyondItsLimitEvenInPieces) {
  std::vector<std::uint8_t> half(33);
  const ibv_data_buf buffers[2] = {{half.data(), 33}, {half.data(), SIZE_MAX}};
  ibv_wr_start(qp_);
  begin_write(0);
  ibv_wr_set_inline_data_list(qp_, 2, buffers);
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
  EXPECT_TRUE(target_untouched());
}

TEST_F(ExtendedPostTest, RefusesDataBeforeAnyRequest) {
  ibv_wr_start(qp_);
  ibv_wr_set_sge(qp_, source_mr_->lkey, address_of(source_.data()), 8);
  EXPECT_EQ(ibv_wr_complete(qp_), EINVAL);
  ibv_wr_start(qp_);  // and is usable again
  begin_write(0);
  ibv_wr_set_sge(qp_, source_mr_->lkey, address_of(source_.data()), 128);
  EXPECT_EQ(ibv_wr_complete(qp_), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
}

TEST_F(ExtendedPostTest, SharesItsQueuePairWithTheOldInterface) {
  ibv_sge segment = segment_of(source_mr_);
  ibv_send_wr request = write_request(&segment, address_of(target_.data()), target_mr_->rkey);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(base_, &request, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(target_, source_);
}

}  // namespace
}  // namespace gdr::test
