// Thread domains and parent domains.
#include <cstdlib>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

struct Book {
  int allocated = 0, freed = 0;
  bool refuses = false, uses_default = false;
  ibv_pd* pd = nullptr;
};

void* allocate(ibv_pd* pd, void* context, std::size_t bytes, std::size_t alignment,
               std::uint64_t /*type*/) {
  auto& book = *static_cast<Book*>(context);
  book.pd = pd;
  if (book.refuses) return nullptr;
  if (book.uses_default) return IBV_ALLOCATOR_USE_DEFAULT;
  ++book.allocated;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}
void give_back(ibv_pd* /*pd*/, void* context, void* memory, std::uint64_t /*type*/) {
  ++static_cast<Book*>(context)->freed;
  std::free(memory);
}

class ParentDomainTest : public VerbsTest {
 protected:
  ibv_parent_domain_init_attr with_allocators() {
    ibv_parent_domain_init_attr attr{};
    attr.pd = pd_;
    attr.comp_mask =
        IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
    attr.alloc = allocate;
    attr.free = give_back;
    attr.pd_context = &book_;
    return attr;
  }
  ibv_qp* queue_pair_on(ibv_pd* pd) {
    ibv_qp_init_attr init = attributes(IBV_QPT_RC);
    return ibv_create_qp(pd, &init);
  }
  int refusal(ibv_parent_domain_init_attr attr) {
    errno = 0;
    return ibv_alloc_parent_domain(context_, &attr) == nullptr ? errno : 0;
  }

  Book book_;
};

TEST_F(ParentDomainTest, StandsInForItsProtectionDomain) {
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd_;
  ibv_pd* parent = ibv_alloc_parent_domain(context_, &attr);
  ASSERT_NE(parent, nullptr) << std::strerror(errno);
  // A region of the one serves a queue pair of the other.
  std::vector<std::uint8_t> source(64, 0x31), target(64);
  ibv_mr* from = register_bytes(source);
  ibv_mr* to = ibv_reg_mr(parent, target.data(), target.size(), kAllAccess);
  ASSERT_NE(to, nullptr);
  ibv_qp* a = queue_pair_on(parent);
  ibv_qp* b = create_qp(IBV_QPT_RC);
  ASSERT_NE(a, nullptr);
  connect(a, b);
  ibv_sge segment = segment_of(from);
  ibv_send_wr request = write_request(&segment, address_of(target.data()), to->rkey);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a, &request, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(target, source);
}

TEST_F(ParentDomainTest, IsBusyWhileSomethingBelongsToItAndKeepsItsPartsBusy) {
  ibv_td_init_attr td_attr{};
  ibv_td* td = ibv_alloc_td(context_, &td_attr);
  ASSERT_NE(td, nullptr) << std::strerror(errno);
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd_;
  attr.td = td;
  ibv_pd* parent = ibv_alloc_parent_domain(context_, &attr);
  ASSERT_NE(parent, nullptr);
  EXPECT_EQ(ibv_dealloc_td(td), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  ibv_qp* qp = queue_pair_on(parent);
  ibv_cq_init_attr_ex cq_attr{};
  cq_attr.cqe = 4;
  cq_attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
  cq_attr.parent_domain = parent;
  ibv_cq_ex* cq = ibv_create_cq_ex(context_, &cq_attr);
  ASSERT_NE(cq, nullptr) << std::strerror(errno);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
  EXPECT_EQ(ibv_dealloc_td(td), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd_), 0);
}

TEST_F(ParentDomainTest, TakesASendRingFromTheProgramAndGivesItBackAtOnce) {
  ibv_parent_domain_init_attr attr = with_allocators();
  ibv_pd* parent = ibv_alloc_parent_domain(context_, &attr);
  ASSERT_NE(parent, nullptr);
  ibv_qp* qp = queue_pair_on(parent);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(book_.allocated, 1);
  EXPECT_EQ(book_.pd, parent);
  ibv_qp* other = create_qp(IBV_QPT_RC);
  connect(qp, other);
  std::vector<std::uint8_t> bytes(64);
  ibv_sge segment = segment_of(register_bytes(bytes));
  ibv_send_wr request = write_request(&segment, 0, 0);
  request.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);  // none is received
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(book_.freed, 1);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
}

TEST_F(ParentDomainTest, FallsBackToTheLibrarysMemoryWhenAskedToAndFailsWhenRefused) {
  ibv_parent_domain_init_attr attr = with_allocators();
  ibv_pd* parent = ibv_alloc_parent_domain(context_, &attr);
  book_.uses_default = true;
  ibv_qp* qp = queue_pair_on(parent);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(book_.freed, 0);
  book_.refuses = true;
  EXPECT_EQ(queue_pair_on(parent), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

// IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC of rdma-core 65.
TEST_F(ParentDomainTest, MayBeAllowedUnprotectedMemory) {
  ibv_parent_domain_init_attr attr{};
  attr.pd = pd_;
  attr.comp_mask = 1 << 2;
  ibv_pd* parent = ibv_alloc_parent_domain(context_, &attr);
  ASSERT_NE(parent, nullptr) << std::strerror(errno);
  EXPECT_EQ(ibv_dealloc_pd(parent), 0);
}

TEST_F(ParentDomainTest, IsRefusedWithoutAProtectionDomainOrWithHalfAnAllocator) {
  EXPECT_EQ(refusal({}), EINVAL);
  ibv_parent_domain_init_attr attr = with_allocators();
  attr.free = nullptr;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr = with_allocators();
  attr.comp_mask |= 1u << 20;
  EXPECT_EQ(refusal(attr), EINVAL);
  attr = with_allocators();
  attr.pd = ibv_alloc_parent_domain(context_, &attr);
  ASSERT_NE(attr.pd, nullptr);
  EXPECT_EQ(refusal(attr), EINVAL);
  ibv_td_init_attr td{};
  td.comp_mask = 1;
  EXPECT_EQ(ibv_alloc_td(context_, &td), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_cq_init_attr_ex cq{};
  cq.cqe = 4;
  cq.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
  cq.parent_domain = pd_;  // a protection domain is none
  EXPECT_EQ(ibv_create_cq_ex(context_, &cq), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace gdr::test
