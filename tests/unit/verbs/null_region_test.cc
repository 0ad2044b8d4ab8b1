// The null region: what is written to it is dropped, what is read from it is zero, on any side of a
// request, whole or between pieces of other memory.
#include "verbs_fixture.h"

namespace gdr::test {
namespace {

constexpr std::uint32_t kPart = 100'000;  // more than one round of zeros

class NullRegionTest : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    null_ = ibv_alloc_null_mr(pd_);
    ASSERT_NE(null_, nullptr) << std::strerror(errno);
    here_mr_ = register_bytes(here_);
    there_mr_ = register_bytes(there_);
    initiator_ = create_qp(IBV_QPT_RC);
    target_ = create_qp(IBV_QPT_RC);
    connect(initiator_, target_);
    for (std::size_t i = 0; i < here_.size(); ++i)
      here_[i] = static_cast<std::uint8_t>(1 + i % 251);
  }

  ibv_sge nothing(std::uint32_t length) { return {0x1234567, length, null_->lkey}; }
  static ibv_sge part(const ibv_mr* mr, std::uint32_t offset, std::uint32_t length) {
    return {address_of(mr->addr) + offset, length, mr->lkey};
  }
  ibv_wc_status post(ibv_wr_opcode opcode, std::vector<ibv_sge> segments) {
    ibv_send_wr request =
        write_request(segments.data(), address_of(there_.data()), there_mr_->rkey);
    request.num_sge = static_cast<int>(segments.size());
    request.opcode = opcode;
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(initiator_, &request, &bad), 0);
    return wait_for_completion().status;
  }
  void receive(std::vector<ibv_sge> segments) {
    ibv_recv_wr request{};
    request.sg_list = segments.data();
    request.num_sge = static_cast<int>(segments.size());
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_recv(target_, &request, &bad), 0);
  }

  std::vector<std::uint8_t> here_ = std::vector<std::uint8_t>(2 * kPart);
  std::vector<std::uint8_t> there_ = std::vector<std::uint8_t>(2 * kPart, 0xee);
  const std::vector<std::uint8_t> zeros_ = std::vector<std::uint8_t>(kPart);
  ibv_mr *null_ = nullptr, *here_mr_ = nullptr, *there_mr_ = nullptr;
  ibv_qp *initiator_ = nullptr, *target_ = nullptr;
};

TEST_F(NullRegionTest, HasTheGreatestLengthAndNoRemoteKey) {
  EXPECT_EQ(null_->length, SIZE_MAX);
  EXPECT_NE(null_->lkey, 0u);
  EXPECT_EQ(null_->rkey, 0u);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
}

TEST_F(NullRegionTest, GivesZerosBetweenOtherBytes) {
  ASSERT_EQ(post(IBV_WR_RDMA_WRITE, {part(here_mr_, 0, 10), nothing(kPart)}), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(there_.data(), here_.data(), 10), 0);
  EXPECT_EQ(std::memcmp(there_.data() + 10, zeros_.data(), kPart), 0);
  EXPECT_EQ(there_[10 + kPart], 0xee);
  ASSERT_EQ(post(IBV_WR_RDMA_WRITE, {nothing(3), part(here_mr_, 0, 10)}), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(there_.data(), zeros_.data(), 3), 0);
  EXPECT_EQ(std::memcmp(there_.data() + 3, here_.data(), 10), 0);
}

TEST_F(NullRegionTest, DropsWhatIsReadIntoItAndPlacesTheRest) {
  for (std::size_t i = 0; i < there_.size(); ++i) there_[i] = static_cast<std::uint8_t>(i % 253);
  const std::uint8_t after = here_[20];
  ASSERT_EQ(post(IBV_WR_RDMA_READ, {nothing(kPart), part(here_mr_, 0, 20)}), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(here_.data(), there_.data() + kPart, 20), 0);
  EXPECT_EQ(here_[20], after);
}

TEST_F(NullRegionTest, TakesPartOfAReceive) {
  receive({nothing(40), part(there_mr_, 0, kPart)});
  ASSERT_EQ(post(IBV_WR_SEND, {part(here_mr_, 0, 50), nothing(10)}), IBV_WC_SUCCESS);
  const ibv_wc received = wait_for_completion();
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.byte_len, 60u);
  EXPECT_EQ(std::memcmp(there_.data(), here_.data() + 40, 10), 0);
  EXPECT_EQ(std::memcmp(there_.data() + 10, zeros_.data(), 10), 0);
  EXPECT_EQ(there_[20], 0xee);
}

TEST_F(NullRegionTest, TakesTheAnswerOfAnAtomic) {
  ibv_sge segment = nothing(8);
  ibv_send_wr request{};
  request.sg_list = &segment;
  request.num_sge = 1;
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  request.send_flags = IBV_SEND_SIGNALED;
  const std::uint64_t aligned = (address_of(there_.data()) + 7) & ~std::uint64_t{7};
  request.wr.atomic = {aligned, 1, 0, there_mr_->rkey};
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(initiator_, &request, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(aligned), 0xeeee'eeee'eeee'eeefu);
}

TEST_F(NullRegionTest, IsOfNoUseToOthers) {
  ibv_sge segment = part(here_mr_, 0, 8);
  ibv_send_wr request = write_request(&segment, 0, null_->lkey);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(initiator_, &request, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(NullRegionTest, CannotBeReregistered) {
  EXPECT_EQ(
      ibv_rereg_mr(null_, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
      IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_dereg_mr(null_), 0);
}

}  // namespace
}  // namespace gdr::test
