// On-demand paging: registered memory may be missing. What is then used is an error completion, on
// the right side, and never a signal: also within one process.
#include <sys/mman.h>
#include <unistd.h>

#include "missing_pages.h"
#include "verbs_fixture.h"

namespace gdr::test {
namespace {

constexpr std::size_t kMemoryBytes = 64 << 10;
constexpr unsigned kOnDemand = kAllAccess | IBV_ACCESS_ON_DEMAND;

class OnDemandTest : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    pages_ =
        mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages_, MAP_FAILED);
    on_demand_ = ibv_reg_mr(pd_, pages_, kMemoryBytes, static_cast<int>(kOnDemand));
    ASSERT_NE(on_demand_, nullptr) << std::strerror(errno);
    pinned_ = register_bytes(bytes_);
  }
  void TearDown() override {
    VerbsTest::TearDown();
    munmap(pages_, kMemoryBytes);
  }

  std::size_t resident() {
    unsigned char present[kMemoryBytes / 4096];
    EXPECT_EQ(mincore(pages_, kMemoryBytes, present), 0);
    std::size_t count = 0;
    for (const unsigned char page : present) count += page & 1;
    return count;
  }
  void take_away() { ASSERT_TRUE(take_pages_away(pages_, kMemoryBytes)); }
  void make_read_only() { ASSERT_EQ(mprotect(pages_, kMemoryBytes, PROT_READ), 0); }

  void make_pair(ibv_qp_type type = IBV_QPT_RC) {
    initiator_ = create_qp(type);
    target_ = create_qp(type);
    connect(initiator_, target_);
  }
  ibv_wc_status post(ibv_wr_opcode opcode, const ibv_mr* local, const ibv_mr* remote) {
    ibv_sge segment{address_of(local->addr), 4096, local->lkey};
    ibv_send_wr request = write_request(&segment, remote == nullptr ? 0 : address_of(remote->addr),
                                        remote == nullptr ? 0 : remote->rkey);
    request.opcode = opcode;
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(initiator_, &request, &bad), 0);
    return completion_of(initiator_).status;
  }
  ibv_wc_status atomic(const ibv_mr* local, const ibv_mr* remote) {
    ibv_sge segment{address_of(local->addr), 8, local->lkey};
    ibv_send_wr request{};
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.atomic = {address_of(remote->addr), 1, 0, remote->rkey};
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(initiator_, &request, &bad), 0);
    return completion_of(initiator_).status;
  }
  void receive(const ibv_mr* mr) {
    ibv_sge segment{address_of(mr->addr), 8192, mr->lkey};
    ibv_recv_wr request{};
    request.sg_list = &segment;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_recv(target_, &request, &bad), 0);
  }
  // Keeps what comes for the other queue pair.
  ibv_wc completion_of(const ibv_qp* qp) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].qp_num != qp->qp_num) continue;
      const ibv_wc found = kept_[i];
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
    while (true) {
      const ibv_wc found = wait_for_completion();
      if (found.qp_num == qp->qp_num || HasFailure()) return found;
      kept_.push_back(found);
    }
  }

  void* pages_ = nullptr;
  alignas(8) std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(kMemoryBytes, 0x5a);
  std::vector<ibv_wc> kept_;
  ibv_mr *on_demand_ = nullptr, *pinned_ = nullptr;
  ibv_qp *initiator_ = nullptr, *target_ = nullptr;
};

TEST_F(OnDemandTest, MakesNoPagePresentBeforeItIsUsed) {
  EXPECT_EQ(resident(), 0u);
  make_pair();
  EXPECT_EQ(post(IBV_WR_RDMA_WRITE, pinned_, on_demand_), IBV_WC_SUCCESS);
  EXPECT_EQ(resident(), 1u);
  EXPECT_EQ(std::memcmp(pages_, bytes_.data(), 4096), 0);
}

TEST_F(OnDemandTest, ServesEveryOperationOnBothSides) {
  make_pair();
  ibv_mr* other = ibv_reg_mr(pd_, static_cast<char*>(pages_) + kMemoryBytes / 2, kMemoryBytes / 2,
                             static_cast<int>(kOnDemand));
  ASSERT_NE(other, nullptr);
  std::memset(pages_, 0x21, 4096);
  EXPECT_EQ(post(IBV_WR_RDMA_WRITE, on_demand_, other), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(other->addr, pages_, 4096), 0);
  std::memset(pages_, 0x22, 4096);
  EXPECT_EQ(post(IBV_WR_RDMA_READ, other, on_demand_), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(other->addr, pages_, 4096), 0);
  receive(other);
  std::memset(pages_, 0x23, 4096);
  EXPECT_EQ(post(IBV_WR_SEND, on_demand_, nullptr), IBV_WC_SUCCESS);
  EXPECT_EQ(completion_of(target_).status, IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(other->addr, pages_, 4096), 0);
  EXPECT_EQ(atomic(on_demand_, other), IBV_WC_SUCCESS);
  EXPECT_EQ(*static_cast<std::uint64_t*>(other->addr), 0x2323'2323'2323'2324u);
  EXPECT_EQ(*static_cast<std::uint64_t*>(pages_), 0x2323'2323'2323'2323u);
}

TEST_F(OnDemandTest, RemoteMemoryThatIsGoneIsARemoteError) {
  take_away();
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    make_pair();
    EXPECT_EQ(post(opcode, pinned_, on_demand_), IBV_WC_REM_OP_ERR);
  }
  make_pair();
  EXPECT_EQ(atomic(pinned_, on_demand_), IBV_WC_REM_OP_ERR);
  make_read_only();
  make_pair();
  EXPECT_EQ(post(IBV_WR_RDMA_WRITE, pinned_, on_demand_), IBV_WC_REM_OP_ERR);
}

// A NIC goes on with the pages that it has pinned.
TEST_F(OnDemandTest, OrdinaryMemoryThatIsGoneIsAnErrorAndNoSignal) {
  ibv_mr* ordinary = ibv_reg_mr(pd_, pages_, kMemoryBytes, static_cast<int>(kAllAccess));
  ASSERT_NE(ordinary, nullptr);
  take_away();
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    make_pair();
    EXPECT_EQ(post(opcode, pinned_, ordinary), IBV_WC_REM_OP_ERR);
    make_pair();
    EXPECT_EQ(post(opcode, ordinary, pinned_), IBV_WC_LOC_PROT_ERR);
  }
  make_pair();
  EXPECT_EQ(atomic(pinned_, ordinary), IBV_WC_REM_OP_ERR);
  EXPECT_EQ(ibv_dereg_mr(ordinary), 0);
}

TEST_F(OnDemandTest, LocalMemoryThatIsGoneIsALocalError) {
  take_away();
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    make_pair();
    EXPECT_EQ(post(opcode, on_demand_, pinned_), IBV_WC_LOC_PROT_ERR);
  }
  make_pair();
  EXPECT_EQ(atomic(on_demand_, pinned_), IBV_WC_LOC_PROT_ERR);
  make_read_only();
  make_pair();
  EXPECT_EQ(post(IBV_WR_RDMA_READ, on_demand_, pinned_), IBV_WC_LOC_PROT_ERR);
}

TEST_F(OnDemandTest, AReceiveWhoseMemoryIsGoneFailsOnBothSides) {
  take_away();
  make_pair();
  receive(on_demand_);
  EXPECT_EQ(post(IBV_WR_SEND, pinned_, nullptr), IBV_WC_REM_OP_ERR);
  EXPECT_EQ(completion_of(target_).status, IBV_WC_LOC_PROT_ERR);
  make_pair(IBV_QPT_UC);
  receive(on_demand_);
  EXPECT_EQ(post(IBV_WR_SEND, pinned_, nullptr), IBV_WC_SUCCESS);
  EXPECT_EQ(completion_of(target_).status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(OnDemandTest, AnImplicitRegionIsTheWholeAddressSpace) {
  ibv_mr* all = ibv_reg_mr(pd_, nullptr, SIZE_MAX, static_cast<int>(kOnDemand));
  ASSERT_NE(all, nullptr) << std::strerror(errno);
  make_pair();
  ibv_sge segment{address_of(bytes_.data()), 4096, all->lkey};
  ibv_send_wr request = write_request(&segment, address_of(pages_), all->rkey);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(initiator_, &request, &bad), 0);
  EXPECT_EQ(completion_of(initiator_).status, IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(pages_, bytes_.data(), 4096), 0);
  request.wr.rdma.remote_addr = 4096;  // nothing is ever mapped there
  ASSERT_EQ(ibv_post_send(initiator_, &request, &bad), 0);
  EXPECT_EQ(completion_of(initiator_).status, IBV_WC_REM_OP_ERR);
  EXPECT_EQ(ibv_reg_mr(pd_, pages_, SIZE_MAX, static_cast<int>(kOnDemand)), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(OnDemandTest, AdviceMakesPagesPresent) {
  ibv_sge range{address_of(pages_), 8192, on_demand_->lkey};
  EXPECT_EQ(ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, IBV_ADVISE_MR_FLAG_FLUSH,
                          &range, 1),
            0);
  EXPECT_EQ(resident(), 0u);
  EXPECT_EQ(
      ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &range, 1),
      0);
  EXPECT_EQ(resident(), 2u);
  range.addr += 8192;
  EXPECT_EQ(ibv_advise_mr(pd_, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &range, 1), 0);
}

TEST_F(OnDemandTest, AdviceOnWrongRangesIsRefusedAsTheManualSays) {
  const auto advise = [&](ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge range) {
    return ibv_advise_mr(pd_, advice, flags, &range, 1);
  };
  constexpr auto kRead = IBV_ADVISE_MR_ADVICE_PREFETCH;
  constexpr auto kWrite = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
  constexpr std::uint32_t kFlush = IBV_ADVISE_MR_FLAG_FLUSH;
  const ibv_sge good{address_of(pages_), 4096, on_demand_->lkey};
  EXPECT_EQ(advise(static_cast<ibv_advise_mr_advice>(9), 0, good), EOPNOTSUPP);
  EXPECT_EQ(advise(kRead, 2, good), EINVAL);
  EXPECT_EQ(ibv_advise_mr(pd_, kRead, 0, nullptr, 0), EINVAL);
  EXPECT_EQ(advise(kRead, 0, {good.addr, 4096, good.lkey ^ 1}), EFAULT);
  EXPECT_EQ(advise(kRead, 0, {good.addr + kMemoryBytes - 4095, 4096, good.lkey}), EFAULT);
  EXPECT_EQ(advise(kRead, 0, {good.addr - 1, 4096, good.lkey}), EFAULT);
  EXPECT_EQ(advise(kRead, 0, segment_of(pinned_)), EINVAL);
  ibv_mr* read_only = ibv_reg_mr(pd_, pages_, kMemoryBytes, IBV_ACCESS_ON_DEMAND);
  EXPECT_EQ(advise(kWrite, 0, {good.addr, 4096, read_only->lkey}), EPERM);
  ibv_pd* other = ibv_alloc_pd(context_);
  ibv_sge range = good;
  EXPECT_EQ(ibv_advise_mr(other, kRead, 0, &range, 1), EPERM);
  take_away();
  EXPECT_EQ(advise(kRead, kFlush, good), EFAULT);
  EXPECT_EQ(advise(kRead, 0, good), 0);  // a hint: nobody waits for its outcome
}

TEST_F(OnDemandTest, BecomesPinnedAndBackByReregistration) {
  ASSERT_EQ(ibv_rereg_mr(on_demand_, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kAllAccess),
            0);
  EXPECT_EQ(resident(), kMemoryBytes / 4096);
  take_away();
  ASSERT_EQ(ibv_rereg_mr(on_demand_, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
                         static_cast<int>(kOnDemand)),
            0);
  make_pair();
  EXPECT_EQ(post(IBV_WR_RDMA_WRITE, pinned_, on_demand_), IBV_WC_REM_OP_ERR);
  EXPECT_EQ(ibv_rereg_mr(on_demand_, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kAllAccess),
            IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(OnDemandTest, IsNotForBuffersByDescriptor) {
  const int fd = memfd_create("buffer", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(ibv_reg_dmabuf_mr(pd_, 0, 4096, 0, fd, IBV_ACCESS_ON_DEMAND), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  close(fd);
}

TEST_F(OnDemandTest, IsReportedForEachTransport) {
  ibv_device_attr_ex attr{};
  ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
  EXPECT_EQ(attr.odp_caps.general_caps, IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT);
  constexpr std::uint32_t kMessages =
      IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
  EXPECT_EQ(attr.odp_caps.per_transport_caps.rc_odp_caps,
            kMessages | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC);
  EXPECT_EQ(attr.odp_caps.per_transport_caps.uc_odp_caps, kMessages | IBV_ODP_SUPPORT_WRITE);
  EXPECT_EQ(attr.odp_caps.per_transport_caps.ud_odp_caps, kMessages);
  EXPECT_EQ(attr.xrc_odp_caps, attr.odp_caps.per_transport_caps.rc_odp_caps);
}

}  // namespace
}  // namespace gdr::test
