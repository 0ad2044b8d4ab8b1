// Memory windows: what they grant and to whom, how they are taken back, and how wrong requests end.
#include "verbs_fixture.h"

namespace gdr::test {
namespace {

constexpr std::uint32_t kWindowBytes = 8192, kOffset = 1024, kLength = 4096;
constexpr unsigned kWrite = IBV_ACCESS_REMOTE_WRITE, kRead = IBV_ACCESS_REMOTE_READ;

class WindowTest : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    source_mr_ = register_bytes(source_);
    mr_ = register_bytes(bytes_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    make_pair();
  }
  void make_pair(ibv_qp_type type = IBV_QPT_RC) {
    peer_ = create_qp(type);
    owner_ = create_qp(type);
    connect(peer_, owner_);
  }
  ibv_mw* window(ibv_mw_type type, ibv_pd* pd = nullptr) {
    ibv_mw* mw = ibv_alloc_mw(pd == nullptr ? pd_ : pd, type);
    EXPECT_NE(mw, nullptr) << std::strerror(errno);
    return mw;
  }
  ibv_mw_bind_info info(unsigned access, std::uint64_t offset = kOffset,
                        std::uint64_t length = kLength) {
    return {mr_, address_of(bytes_.data()) + offset, length, access};
  }

  // Both say what the posting gave and, if that was 0, expect the completion's status.
  int bind_1(ibv_mw* mw, const ibv_mw_bind_info& info, ibv_wc_status expected = IBV_WC_SUCCESS) {
    ibv_mw_bind bind{.wr_id = 21, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
    const int error = ibv_bind_mw(owner_, mw, &bind);
    if (error == 0) expect_completion(owner_, expected, IBV_WC_BIND_MW);
    return error;
  }
  int bind_2(ibv_mw* mw, const ibv_mw_bind_info& info, ibv_wc_status expected = IBV_WC_SUCCESS) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_BIND_MW;
    request.bind_mw.mw = mw;
    request.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
    request.bind_mw.bind_info = info;
    const int error = post(owner_, request);
    if (error == 0) expect_completion(owner_, expected, IBV_WC_BIND_MW);
    return error;
  }
  void invalidate(ibv_qp* qp, std::uint32_t key, ibv_wc_status expected) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_LOCAL_INV;
    request.invalidate_rkey = key;
    ASSERT_EQ(post(qp, request), 0);
    expect_completion(qp, expected, IBV_WC_LOCAL_INV);
  }
  static int post(ibv_qp* qp, ibv_send_wr& request) {
    request.send_flags |= IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(qp, &request, &bad);
  }
  void expect_completion(const ibv_qp* qp, ibv_wc_status status, ibv_wc_opcode opcode) {
    const ibv_wc completion = wait_for_completion();
    EXPECT_EQ(completion.qp_num, qp->qp_num);
    EXPECT_EQ(completion.status, status) << ibv_wc_status_str(completion.status);
    if (status == IBV_WC_SUCCESS) {
      EXPECT_EQ(completion.opcode, opcode);
    }
  }
  ibv_wc_status use(std::uint32_t key, std::uint64_t address, ibv_wr_opcode opcode,
                    ibv_qp* qp = nullptr) {
    ibv_sge segment{address_of(source_.data()), 64, source_mr_->lkey};
    ibv_send_wr request = write_request(&segment, address, key);
    request.opcode = opcode;
    EXPECT_EQ(post(qp == nullptr ? peer_ : qp, request), 0);
    return wait_for_completion().status;
  }
  ibv_wc_status write(std::uint32_t key, std::uint64_t offset = kOffset) {
    return use(key, address_of(bytes_.data()) + offset, IBV_WR_RDMA_WRITE);
  }
  // After a failed request both queue pairs are of no more use.
  void expect_unusable(std::uint32_t key) {
    EXPECT_EQ(write(key), IBV_WC_REM_ACCESS_ERR);
    make_pair();
  }

  std::vector<std::uint8_t> source_ = std::vector<std::uint8_t>(64, 0xa5);
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(kWindowBytes, 1);
  ibv_mr *source_mr_ = nullptr, *mr_ = nullptr;
  ibv_qp *peer_ = nullptr, *owner_ = nullptr;
};

TEST_F(WindowTest, GrantsPartOfARegionThatGrantsNothingItself) {
  for (const ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    ibv_mw* mw = window(type);
    const std::uint32_t before = mw->rkey;
    ASSERT_EQ(type == IBV_MW_TYPE_1 ? bind_1(mw, info(kWrite)) : bind_2(mw, info(kWrite)), 0);
    EXPECT_NE(mw->rkey, before);
    bytes_[kOffset] = 1;
    EXPECT_EQ(write(mw->rkey), IBV_WC_SUCCESS);
    EXPECT_EQ(bytes_[kOffset], 0xa5);
    EXPECT_EQ(write(mw->rkey, kOffset + kLength - 64), IBV_WC_SUCCESS);
    expect_unusable(mr_->rkey);
  }
}

TEST_F(WindowTest, EndsAtItsBoundsAndRights) {
  ibv_mw* mw = window(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(mw, info(kWrite)), 0);
  for (const std::uint64_t offset : {kOffset - 1, kOffset + kLength - 63}) {
    EXPECT_EQ(write(mw->rkey, offset), IBV_WC_REM_ACCESS_ERR);
    make_pair();
  }
  EXPECT_EQ(use(mw->rkey, address_of(bytes_.data()) + kOffset, IBV_WR_RDMA_READ),
            IBV_WC_REM_ACCESS_ERR);
}

TEST_F(WindowTest, IsNoLocalKey) {
  ibv_mw* mw = window(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(mw, info(kWrite | kRead)), 0);
  ibv_sge segment{address_of(bytes_.data()) + kOffset, 64, mw->rkey};
  ibv_send_wr request = write_request(&segment, 0, 0);
  ASSERT_EQ(post(owner_, request), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_LOC_PROT_ERR);
  make_pair();
  ibv_recv_wr receive{};
  receive.sg_list = &segment;
  receive.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(owner_, &receive, &bad), 0);
  EXPECT_EQ(use(0, 0, IBV_WR_SEND), IBV_WC_LOC_PROT_ERR);  // the receive's
  EXPECT_EQ(wait_for_completion().status, IBV_WC_REM_OP_ERR);
  EXPECT_EQ(ibv_dereg_mr(mr_), EBUSY);
}

TEST_F(WindowTest, Type1MovesWithEachBindAndEndsWithAnEmptyBind) {
  ibv_mw* mw = window(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(mw, info(kWrite, 0, 64)), 0);
  const std::uint32_t first = mw->rkey;
  ASSERT_EQ(bind_1(mw, info(kWrite)), 0);
  EXPECT_NE(mw->rkey, first);
  expect_unusable(first);
  EXPECT_EQ(write(mw->rkey), IBV_WC_SUCCESS);
  const std::uint32_t second = mw->rkey;
  ASSERT_EQ(bind_1(mw, {nullptr, 0, 0, 0}), 0);
  expect_unusable(second);
  expect_unusable(mw->rkey);
  ASSERT_EQ(bind_1(mw, info(kWrite)), 0);
  EXPECT_EQ(write(mw->rkey), IBV_WC_SUCCESS);
}

TEST_F(WindowTest, OfType1ServesEveryQueuePairOfItsDomain) {
  ibv_mw* mw = window(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(mw, info(kWrite)), 0);
  make_pair();
  EXPECT_EQ(write(mw->rkey), IBV_WC_SUCCESS);
}

TEST_F(WindowTest, Type2ServesOnlyTheQueuePairThatBoundIt) {
  ibv_mw* mw = window(IBV_MW_TYPE_2);
  ASSERT_EQ(bind_2(mw, info(kWrite)), 0);
  EXPECT_EQ(write(mw->rkey), IBV_WC_SUCCESS);
  make_pair();
  expect_unusable(mw->rkey);
}

TEST_F(WindowTest, OfTheKeyThatABindNamesOnlyTheTagCounts) {
  ibv_mw* first = window(IBV_MW_TYPE_2);
  ibv_mw* second = window(IBV_MW_TYPE_2);
  for (ibv_mw* mw : {first, second}) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_BIND_MW;
    request.bind_mw.mw = mw;
    request.bind_mw.rkey = 0xba;
    request.bind_mw.bind_info = info(kWrite);
    ASSERT_EQ(post(owner_, request), 0);
    expect_completion(owner_, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
    EXPECT_EQ(mw->rkey & 0xff, 0xbau);
  }
  EXPECT_NE(first->rkey, second->rkey);
  EXPECT_EQ(write(first->rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(write(second->rkey), IBV_WC_SUCCESS);
}

TEST_F(WindowTest, OfType2MayCountFromZero) {
  ibv_mw* mw = window(IBV_MW_TYPE_2);
  ASSERT_EQ(bind_2(mw, info(kWrite | IBV_ACCESS_ZERO_BASED)), 0);
  EXPECT_EQ(use(mw->rkey, 8, IBV_WR_RDMA_WRITE), IBV_WC_SUCCESS);
  EXPECT_EQ(bytes_[kOffset + 7], 1);
  EXPECT_EQ(bytes_[kOffset + 8], 0xa5);
  EXPECT_EQ(use(mw->rkey, kLength - 63, IBV_WR_RDMA_WRITE), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(WindowTest, Type2IsInvalidatedByItsOwnerAndBoundAgain) {
  ibv_mw* mw = window(IBV_MW_TYPE_2);
  ASSERT_EQ(bind_2(mw, info(kWrite)), 0);
  const std::uint32_t key = mw->rkey;
  invalidate(owner_, key, IBV_WC_SUCCESS);
  ASSERT_EQ(bind_2(mw, info(kWrite)), 0);
  EXPECT_NE(mw->rkey, key);
  EXPECT_EQ(write(mw->rkey), IBV_WC_SUCCESS);
  invalidate(owner_, mw->rkey, IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_dereg_mr(mr_), 0);
  mr_ = source_mr_;
  expect_unusable(key);
}

TEST_F(WindowTest, Type2IsInvalidatedByTheOtherSidesMessage) {
  ibv_mw* mw = window(IBV_MW_TYPE_2);
  ASSERT_EQ(bind_2(mw, info(kWrite)), 0);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(owner_, &receive, &bad), 0);
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_INV;
  request.invalidate_rkey = mw->rkey;
  ASSERT_EQ(post(peer_, request), 0);
  for (int i = 0; i < 2; ++i) {
    const ibv_wc completion = wait_for_completion();
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    if (completion.qp_num != owner_->qp_num) continue;
    EXPECT_EQ(completion.wc_flags, IBV_WC_WITH_INV);
    EXPECT_EQ(completion.invalidated_rkey, mw->rkey);
  }
  EXPECT_EQ(ibv_dereg_mr(mr_), 0) << "nothing is bound any more";
  mr_ = source_mr_;
  expect_unusable(mw->rkey);
}

TEST_F(WindowTest, AMessageThatInvalidatesWhatIsNoWindowOfItsQueuePairFails) {
  ibv_mw* of_type_1 = window(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(of_type_1, info(kWrite)), 0);
  ibv_mw* of_another = window(IBV_MW_TYPE_2);
  ASSERT_EQ(bind_2(of_another, info(kWrite)), 0);
  for (const std::uint32_t key :
       {0u, mr_->rkey, of_type_1->rkey, of_another->rkey, of_another->rkey ^ 1}) {
    make_pair();
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(owner_, &receive, &bad), 0);
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND_WITH_INV;
    request.invalidate_rkey = key;
    ASSERT_EQ(post(peer_, request), 0);
    for (int i = 0; i < 2; ++i) {
      const ibv_wc completion = wait_for_completion();
      EXPECT_EQ(completion.status,
                completion.qp_num == peer_->qp_num ? IBV_WC_REM_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR);
    }
  }
}

TEST_F(WindowTest, WhatAProgramCanSeeToBeWrongIsRefused) {
  ibv_mw* first = window(IBV_MW_TYPE_1);
  ibv_mw* second = window(IBV_MW_TYPE_2);
  ibv_mr* closed = ibv_reg_mr(pd_, bytes_.data(), kWindowBytes, IBV_ACCESS_LOCAL_WRITE);
  ibv_mw_bind_info wrong = info(kWrite);
  wrong.mr = closed;
  EXPECT_EQ(bind_1(first, wrong), EINVAL);
  EXPECT_EQ(bind_2(second, wrong), EINVAL);
  wrong.mr = ibv_alloc_null_mr(pd_);
  EXPECT_EQ(bind_2(second, wrong), EINVAL);
  EXPECT_EQ(bind_1(first, info(kWrite | IBV_ACCESS_ZERO_BASED)), EINVAL);
  EXPECT_EQ(bind_2(second, info(IBV_ACCESS_ON_DEMAND)), EINVAL);
  EXPECT_EQ(bind_2(first, info(kWrite)), EINVAL);  // type 1 by ibv_post_send
  EXPECT_EQ(bind_1(second, info(kWrite)), EINVAL);
  EXPECT_EQ(bind_2(second, {nullptr, 0, 0, 0}), EINVAL);
  ibv_send_wr request{};
  request.opcode = IBV_WR_BIND_MW;
  request.bind_mw.mw = second;
  request.bind_mw.bind_info = info(kWrite);
  EXPECT_EQ(ibv_alloc_mw(pd_, static_cast<ibv_mw_type>(3)), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_qp* datagrams = create_qp(IBV_QPT_UD);
  ASSERT_EQ(to_init(datagrams), 0);
  ASSERT_EQ(to_rtr(datagrams, 0), 0);
  ASSERT_EQ(to_rts(datagrams), 0);
  request.bind_mw.rkey = ibv_inc_rkey(second->rkey);
  EXPECT_EQ(post(datagrams, request), EINVAL);
}

TEST_F(WindowTest, AWrongBindEndsWithItsErrorAndTheQueuePairInError) {
  ibv_mw* mw = window(IBV_MW_TYPE_2);
  const auto refuse = [&](const ibv_mw_bind_info& wrong) {
    EXPECT_EQ(bind_2(mw, wrong, IBV_WC_MW_BIND_ERR), 0);
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    EXPECT_EQ(ibv_query_qp(owner_, &attr, IBV_QP_STATE, &init), 0);
    EXPECT_EQ(attr.qp_state, IBV_QPS_ERR);
    make_pair();
  };
  refuse(info(kWrite, 0, kWindowBytes + 1));
  refuse(info(kWrite, kWindowBytes - 1, 2));
  refuse(info(kWrite, ~std::uint64_t{0}, 2));
  refuse(info(kWrite, 0, 0));
  ibv_mr* kept = mr_;
  mr_ = ibv_reg_mr(pd_, bytes_.data(), kWindowBytes, IBV_ACCESS_MW_BIND);
  refuse(info(kWrite));  // without local write access
  mr_ = ibv_reg_mr(pd_, bytes_.data(), kWindowBytes,
                   IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);
  refuse(info(kWrite));
  ibv_pd* other = ibv_alloc_pd(context_);
  mr_ = ibv_reg_mr(other, bytes_.data(), kWindowBytes, IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE);
  refuse(info(kWrite));
  mr_ = kept;
  ibv_mw* own = mw;
  mw = window(IBV_MW_TYPE_2, other);
  refuse(info(kWrite));
  mw = own;
  EXPECT_EQ(bind_2(mw, info(kWrite)), 0);
  refuse(info(kWrite));  // bound already
}

TEST_F(WindowTest, AWrongInvalidationEndsWithItsError) {
  ibv_mw* first = window(IBV_MW_TYPE_1);
  ibv_mw* second = window(IBV_MW_TYPE_2);
  ASSERT_EQ(bind_1(first, info(kWrite)), 0);
  ASSERT_EQ(bind_2(second, info(kWrite)), 0);
  for (const std::uint32_t key : {0u, mr_->rkey, first->rkey, second->rkey, second->rkey ^ 1}) {
    make_pair();  // so that the window of type 2 is another queue pair's
    invalidate(owner_, key, IBV_WC_MW_BIND_ERR);
  }
  make_pair();
  EXPECT_EQ(write(first->rkey), IBV_WC_SUCCESS);
}

TEST_F(WindowTest, KeepsItsRegionAndDomainBusy) {
  ibv_mw* mw = window(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(mw, info(kWrite)), 0);
  EXPECT_EQ(ibv_dereg_mr(mr_), EBUSY);
  EXPECT_EQ(ibv_rereg_mr(mr_, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0),
            IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(write(mw->rkey), IBV_WC_SUCCESS);
  const std::uint32_t key = mw->rkey;
  EXPECT_EQ(ibv_dealloc_mw(mw), 0);
  expect_unusable(key);
  EXPECT_EQ(ibv_dereg_mr(mr_), 0);
  ibv_pd* other = ibv_alloc_pd(context_);
  ibv_mw* unbound = window(IBV_MW_TYPE_2, other);
  EXPECT_EQ(ibv_dealloc_pd(other), EBUSY);
  EXPECT_EQ(ibv_dealloc_mw(unbound), 0);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
}

TEST_F(WindowTest, OfType2GoesWithItsQueuePair) {
  ibv_mw* mw = window(IBV_MW_TYPE_2);
  ASSERT_EQ(bind_2(mw, info(kWrite)), 0);
  EXPECT_EQ(ibv_dereg_mr(mr_), EBUSY);
  ASSERT_EQ(ibv_destroy_qp(owner_), 0);
  EXPECT_EQ(ibv_dereg_mr(mr_), 0);
}

TEST_F(WindowTest, GivesItsPlaceBack) {
  for (int i = 0; i < 70'000; ++i) {
    ibv_mw* mw = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);
    ASSERT_NE(mw, nullptr) << i;
    ASSERT_EQ(ibv_dealloc_mw(mw), 0);
  }
}

TEST_F(WindowTest, IsBoundAndInvalidatedByExtendedPosting) {
  ibv_mw* mw = window(IBV_MW_TYPE_2);
  owner_ = create_extended_qp(IBV_QPT_RC, IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV);
  peer_ = create_extended_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND_WITH_INV);
  ASSERT_NE(owner_, nullptr);
  ASSERT_NE(peer_, nullptr);
  connect(owner_, peer_);
  ibv_qp_ex* owner = ibv_qp_to_qp_ex(owner_);
  const ibv_mw_bind_info good = info(kWrite), wrong = {nullptr, 0, 64, kWrite};
  const std::uint32_t unbound = mw->rkey;
  ibv_wr_start(owner);
  owner->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_bind_mw(owner, mw, ibv_inc_rkey(unbound), &good);
  ibv_wr_bind_mw(owner, mw, ibv_inc_rkey(unbound), &wrong);
  EXPECT_EQ(ibv_wr_complete(owner), EINVAL);  // all or none
  EXPECT_EQ(mw->rkey, unbound);
  ibv_wr_start(owner);
  ibv_wr_bind_mw(owner, mw, ibv_inc_rkey(unbound), &good);
  ibv_wr_local_inv(owner, ibv_inc_rkey(unbound));
  ibv_wr_bind_mw(owner, mw, unbound, &good);
  ASSERT_EQ(ibv_wr_complete(owner), 0);
  expect_completion(owner_, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
  expect_completion(owner_, IBV_WC_SUCCESS, IBV_WC_LOCAL_INV);
  expect_completion(owner_, IBV_WC_SUCCESS, IBV_WC_BIND_MW);
  EXPECT_EQ(mw->rkey, unbound);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(owner_, &receive, &bad), 0);
  ibv_qp_ex* peer = ibv_qp_to_qp_ex(peer_);
  ibv_wr_start(peer);
  ibv_wr_send_inv(peer, mw->rkey);
  ASSERT_EQ(ibv_wr_complete(peer), 0);
  expect_completion(owner_, IBV_WC_SUCCESS, IBV_WC_RECV);
  EXPECT_EQ(ibv_dereg_mr(mr_), 0);
}

}  // namespace
}  // namespace gdr::test
