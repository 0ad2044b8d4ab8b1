// Registration: what is refused, and by which errno.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class RegionTest : public VerbsTest {
 protected:
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(8192, 1);
};

TEST_F(RegionTest, GivesKeysThatAreNotZeroAndNotReused) {
  ibv_mr* first = register_bytes(bytes_);
  ibv_mr* second = register_bytes(bytes_);
  EXPECT_NE(first->rkey, 0u);
  EXPECT_NE(first->rkey, second->rkey);
  EXPECT_EQ(first->addr, bytes_.data());
  EXPECT_EQ(first->length, bytes_.size());
  EXPECT_EQ(first->pd, pd_);
  EXPECT_EQ(ibv_dereg_mr(first), 0);
  EXPECT_EQ(ibv_dereg_mr(second), 0);
}

TEST_F(RegionTest, RefusesRemoteWriteWithoutLocalWrite) {
  EXPECT_EQ(ibv_reg_mr(pd_, bytes_.data(), 64, IBV_ACCESS_REMOTE_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_mr(pd_, bytes_.data(), 64, IBV_ACCESS_REMOTE_ATOMIC), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(RegionTest, RefusesUnknownRightsAndIgnoresOptionalOnes) {
  EXPECT_EQ(ibv_reg_mr(pd_, bytes_.data(), 64, 1 << 15), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_mr* mr = ibv_reg_mr(pd_, bytes_.data(), 64,
                          unsigned{IBV_ACCESS_LOCAL_WRITE} | IBV_ACCESS_RELAXED_ORDERING);
  ASSERT_NE(mr, nullptr) << std::strerror(errno);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(RegionTest, RefusesMemoryThatDoesNotExist) {
  // Nothing is ever mapped there. What a test unmaps, another thread may map again at once.
  auto* const nothing = reinterpret_cast<void*>(4096);
  EXPECT_EQ(ibv_reg_mr(pd_, nothing, 4096, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(RegionTest, RefusesAWritableRegionOverReadOnlyMemory) {
  void* constant = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(constant, MAP_FAILED);
  EXPECT_EQ(ibv_reg_mr(pd_, constant, 4096, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EFAULT);
  munmap(constant, 4096);
}

TEST_F(RegionTest, RefusesLengthsThatWrapAndLengthZero) {
  EXPECT_EQ(ibv_reg_mr(pd_, bytes_.data(), SIZE_MAX, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_mr_iova2(pd_, bytes_.data(), 64, UINT64_MAX - 8, IBV_ACCESS_LOCAL_WRITE),
            nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_mr(pd_, bytes_.data(), 0, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(RegionTest, AnswersTheDmaBufProbeWithBadDescriptor) {
  errno = 0;
  EXPECT_EQ(ibv_reg_dmabuf_mr(pd_, 0, 0, 0, -1, 0), nullptr);  // NCCL's
  EXPECT_EQ(errno, EBADF);
  errno = 0;
  EXPECT_EQ(ibv_reg_dmabuf_mr(pd_, 0, 4096, 0, -1, IBV_ACCESS_LOCAL_WRITE), nullptr);  // UCX's
  EXPECT_EQ(errno, EBADF);
}

TEST_F(RegionTest, RefusesADescriptorThatIsNoDmaBuf) {
  const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(ibv_reg_dmabuf_mr(pd_, 0, 4096, 0, fd, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_NE(errno, EBADF);
  EXPECT_NE(errno, 0);
  close(fd);
}

TEST_F(RegionTest, KeepsItsDomainBusy) {
  ibv_mr* mr = register_bytes(bytes_);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd_), 0);
}

}  // namespace
}  // namespace gdr::test
