// Re-registration: each change and all of them, the keys afterwards, and what is refused.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

constexpr int kTranslation = IBV_REREG_MR_CHANGE_TRANSLATION, kDomain = IBV_REREG_MR_CHANGE_PD,
              kAccess = IBV_REREG_MR_CHANGE_ACCESS;

class ReregTest : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    source_mr_ = register_bytes(source_);
    mr_ = register_bytes(bytes_);
  }

  // What a write of 64 bytes to the region ends with.
  ibv_wc_status write(std::uint32_t rkey, std::uint64_t address) {
    ibv_qp* initiator = create_qp(IBV_QPT_RC);
    ibv_qp* target = create_qp(IBV_QPT_RC);
    connect(initiator, target);
    ibv_sge segment{address_of(source_.data()), 64, source_mr_->lkey};
    ibv_send_wr request = write_request(&segment, address, rkey);
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(initiator, &request, &bad), 0);
    const ibv_wc_status status = wait_for_completion().status;
    EXPECT_EQ(ibv_destroy_qp(initiator), 0);
    EXPECT_EQ(ibv_destroy_qp(target), 0);
    return status;
  }
  ibv_wc_status write() { return write(mr_->rkey, address_of(mr_->addr)); }

  void expect_refused(int error, int flags, ibv_pd* pd, void* address, std::size_t length,
                      unsigned access) {
    const ibv_mr before = *mr_;
    errno = 0;
    EXPECT_EQ(ibv_rereg_mr(mr_, flags, pd, address, length, static_cast<int>(access)),
              IBV_REREG_MR_ERR_INPUT);
    EXPECT_EQ(errno, error);
    EXPECT_EQ(std::memcmp(&before, mr_, sizeof before), 0);
    EXPECT_EQ(write(), IBV_WC_SUCCESS) << "the region is as it was";
  }

  std::vector<std::uint8_t> source_ = std::vector<std::uint8_t>(64, 0xa5);
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(8192, 1);
  std::vector<std::uint8_t> other_ = std::vector<std::uint8_t>(4096, 2);
  ibv_mr* source_mr_ = nullptr;
  ibv_mr* mr_ = nullptr;
};

TEST_F(ReregTest, ChangesRightsUnderTheSameKey) {
  const std::uint32_t key = mr_->rkey;
  ASSERT_EQ(ibv_rereg_mr(mr_, kAccess, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE), 0);
  EXPECT_EQ(mr_->rkey, key);
  EXPECT_EQ(write(), IBV_WC_REM_ACCESS_ERR);
  ASSERT_EQ(ibv_rereg_mr(mr_, kAccess, nullptr, nullptr, 0,
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
            0);
  EXPECT_EQ(mr_->rkey, key);
  EXPECT_EQ(write(), IBV_WC_SUCCESS);
}

TEST_F(ReregTest, MakesWritableWhatWasOnlyReadable) {
  ASSERT_EQ(ibv_dereg_mr(mr_), 0);
  mr_ = register_bytes(bytes_, IBV_ACCESS_REMOTE_READ);
  EXPECT_EQ(write(), IBV_WC_REM_ACCESS_ERR);
  ASSERT_EQ(ibv_rereg_mr(mr_, kAccess, nullptr, nullptr, 0, kAllAccess), 0);
  EXPECT_EQ(write(), IBV_WC_SUCCESS);
}

TEST_F(ReregTest, ChangesTheDomainUnderTheSameKeyAndMovesItsUse) {
  ibv_pd* other = ibv_alloc_pd(context_);
  const std::uint32_t key = mr_->rkey;
  ASSERT_EQ(ibv_rereg_mr(mr_, kDomain, other, nullptr, 0, 0), 0);
  EXPECT_EQ(mr_->pd, other);
  EXPECT_EQ(mr_->rkey, key);
  EXPECT_EQ(write(), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ibv_dealloc_pd(other), EBUSY);
  ASSERT_EQ(ibv_rereg_mr(mr_, kDomain, pd_, nullptr, 0, 0), 0);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
  EXPECT_EQ(write(), IBV_WC_SUCCESS);
}

TEST_F(ReregTest, MovesToOtherMemoryUnderANewKey) {
  const std::uint32_t old_key = mr_->rkey;
  ASSERT_EQ(ibv_rereg_mr(mr_, kTranslation, nullptr, other_.data(), other_.size(), 0), 0);
  EXPECT_EQ(mr_->addr, other_.data());
  EXPECT_EQ(mr_->length, other_.size());
  EXPECT_NE(mr_->rkey, old_key);
  EXPECT_EQ(mr_->lkey, mr_->rkey);
  EXPECT_EQ(write(), IBV_WC_SUCCESS);
  EXPECT_EQ(other_[0], 0xa5);
  EXPECT_EQ(write(old_key, address_of(other_.data())), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(write(mr_->rkey, address_of(bytes_.data())), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(bytes_[0], 1);
}

TEST_F(ReregTest, ChangesEverythingAtOnce) {
  ibv_pd* other = ibv_alloc_pd(context_);
  ASSERT_EQ(ibv_rereg_mr(mr_, kTranslation | kDomain | kAccess, other, other_.data(), 128,
                         IBV_ACCESS_LOCAL_WRITE),
            0);
  EXPECT_EQ(mr_->pd, other);
  EXPECT_EQ(mr_->addr, other_.data());
  EXPECT_EQ(mr_->length, 128u);
  EXPECT_EQ(write(), IBV_WC_REM_ACCESS_ERR);
  ASSERT_EQ(ibv_rereg_mr(mr_, kDomain | kAccess, pd_, nullptr, 0, kAllAccess), 0);
  EXPECT_EQ(write(), IBV_WC_SUCCESS);
  EXPECT_EQ(write(mr_->rkey, address_of(other_.data()) + 65), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(ReregTest, CountsFromZeroOrFromTheAddressAsTheRightsSay) {
  ASSERT_EQ(ibv_rereg_mr(mr_, kAccess, nullptr, nullptr, 0, kAllAccess | IBV_ACCESS_ZERO_BASED), 0);
  EXPECT_EQ(write(mr_->rkey, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(write(), IBV_WC_REM_ACCESS_ERR);
  ASSERT_EQ(ibv_rereg_mr(mr_, kTranslation, nullptr, other_.data(), other_.size(), 0), 0);
  EXPECT_EQ(write(mr_->rkey, 8), IBV_WC_SUCCESS);
  EXPECT_EQ(other_[8], 0xa5);
  ASSERT_EQ(ibv_rereg_mr(mr_, kAccess, nullptr, nullptr, 0, kAllAccess), 0);
  EXPECT_EQ(write(), IBV_WC_SUCCESS);
}

TEST_F(ReregTest, RefusesWrongInputAndLeavesTheRegionAsItWas) {
  ibv_context* elsewhere = open_device(0);
  ibv_pd* foreign = ibv_alloc_pd(elsewhere);
  expect_refused(EINVAL, 0, nullptr, nullptr, 0, 0);
  expect_refused(EINVAL, 1 << 3, nullptr, nullptr, 0, 0);
  expect_refused(EINVAL, kTranslation, nullptr, nullptr, 4096, 0);
  expect_refused(EINVAL, kTranslation, nullptr, other_.data(), 0, 0);
  expect_refused(EINVAL, kTranslation, nullptr, other_.data(), SIZE_MAX, 0);
  expect_refused(EINVAL, kDomain, nullptr, nullptr, 0, 0);
  expect_refused(EINVAL, kDomain, foreign, nullptr, 0, 0);
  expect_refused(EINVAL, kDomain, pd_, nullptr, 0, IBV_ACCESS_LOCAL_WRITE);  // without its flag
  expect_refused(EINVAL, kAccess, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE);
  expect_refused(EINVAL, kAccess, nullptr, nullptr, 0, 1 << 15);
  EXPECT_EQ(ibv_close_device(elsewhere), 0);
}

TEST_F(ReregTest, RefusesMemoryThatIsNotThereAndLeavesTheRegionAsItWas) {
  // In the middle of much that goes, so that nobody's next mapping is there.
  constexpr std::size_t kMuch = std::size_t{64} << 30;
  void* much = mmap(nullptr, kMuch, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(much, MAP_FAILED);
  ASSERT_EQ(munmap(much, kMuch), 0);
  void* gone = static_cast<std::byte*>(much) + kMuch / 2;
  expect_refused(EFAULT, kTranslation, nullptr, gone, 4096, 0);
  ibv_pd* other = ibv_alloc_pd(context_);
  expect_refused(EFAULT, kTranslation | kDomain, other, gone, 4096, 0);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
}

TEST_F(ReregTest, CannotMakeABufferWritableWhoseDescriptorIsGone) {
  const int fd = memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, 8192), 0);
  ASSERT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  ibv_mr* mr = ibv_reg_dmabuf_mr(pd_, 0, 8192, 0, fd, IBV_ACCESS_REMOTE_READ);
  ASSERT_NE(mr, nullptr) << std::strerror(errno);
  close(fd);
  EXPECT_EQ(ibv_rereg_mr(mr, kAccess, nullptr, nullptr, 0, kAllAccess), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(
      ibv_rereg_mr(mr, kTranslation | kAccess, nullptr, bytes_.data(), bytes_.size(), kAllAccess),
      0);
  EXPECT_EQ(write(mr->rkey, address_of(bytes_.data())), IBV_WC_SUCCESS);
}

}  // namespace
}  // namespace gdr::test
