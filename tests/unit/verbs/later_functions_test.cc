// What rdma-core got after release 44, as programs built with later headers call it.
#include "verbs_fixture.h"

extern "C" {
struct LaterRegion {
  std::size_t length;
  int access;
  std::uint64_t fields;
  std::uint64_t iova;
  void* address;
  int descriptor;
  std::uint64_t offset;
  void* dma_handle;
  void* buffer;
};
ibv_mr* ibv_reg_mr_ex(ibv_pd*, LaterRegion*);
void* ibv_alloc_buf(ibv_pd*, std::size_t, void**);
void ibv_free_buf(void*);
ibv_mr* ibv_reg_buf_mr(ibv_pd*, void*, void*, std::size_t, int);
int ibv_export_buf_dmabuf_fd(void*);
int ibv_query_port_speed(ibv_context*, std::uint32_t, std::uint64_t*);
struct LaterDmaHandle {
  std::uint32_t fields, processor;
  std::uint8_t hint, memory;
};
void* ibv_alloc_dmah(ibv_context*, const LaterDmaHandle*);
int ibv_dealloc_dmah(void*);
void* ibv_create_comp_cntr(ibv_context*, void*);
int ibv_read_comp_cntr(void*, std::uint64_t*);
}

namespace gdr::test {
namespace {

constexpr std::uint64_t kIova = 1, kAddress = 2, kDescriptor = 4, kOffset = 8, kDmaHandle = 16,
                        kBuffer = 32;

class LaterFunctions : public VerbsTest {
 protected:
  LaterRegion region(std::uint64_t fields) {
    LaterRegion made{};
    made.length = bytes_.size();
    made.access = IBV_ACCESS_LOCAL_WRITE;
    made.fields = fields;
    made.address = bytes_.data();
    made.descriptor = -1;
    return made;
  }
  int error_of(std::uint64_t fields) {
    LaterRegion made = region(fields);
    errno = 0;
    return ibv_reg_mr_ex(pd_, &made) == nullptr ? errno : 0;
  }
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(8192, 1);
};

TEST_F(LaterFunctions, RegisterMemoryByAddress) {
  LaterRegion made = region(kAddress);
  ibv_mr* mr = ibv_reg_mr_ex(pd_, &made);
  ASSERT_NE(mr, nullptr) << std::strerror(errno);
  EXPECT_EQ(mr->addr, bytes_.data());
  EXPECT_EQ(mr->length, bytes_.size());
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(LaterFunctions, RefuseRegistrationsThatSayTooLittleOrTooMuch) {
  EXPECT_EQ(error_of(0), EINVAL);
  EXPECT_EQ(error_of(kIova), EINVAL);
  EXPECT_EQ(error_of(kAddress | kDescriptor), EINVAL);
  EXPECT_EQ(error_of(kAddress | kOffset), EINVAL);
  EXPECT_EQ(error_of(kAddress | 64), EINVAL);
  EXPECT_EQ(error_of(kAddress | kBuffer), EINVAL);
  EXPECT_EQ(error_of(kAddress | kDmaHandle), EINVAL);
  EXPECT_EQ(error_of(kDescriptor), EBADF);
}

TEST_F(LaterFunctions, GiveBuffersThatAreRegisteredWhollyOrInPart) {
  void* buffer = nullptr;
  auto* bytes = static_cast<std::uint8_t*>(ibv_alloc_buf(pd_, 10000, &buffer));
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 4096, 0u);
  std::memset(bytes, 7, 10000);
  ibv_mr* whole = ibv_reg_buf_mr(pd_, buffer, bytes, 10000, IBV_ACCESS_LOCAL_WRITE);
  ibv_mr* part = ibv_reg_buf_mr(pd_, buffer, bytes + 4096, 5904, IBV_ACCESS_LOCAL_WRITE);
  ASSERT_NE(whole, nullptr);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(ibv_reg_buf_mr(pd_, buffer, bytes + 4096, 5905, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_buf_mr(pd_, buffer, bytes - 1, 1, IBV_ACCESS_LOCAL_WRITE), nullptr);
  ibv_pd* other = ibv_alloc_pd(context_);
  EXPECT_EQ(ibv_reg_buf_mr(other, buffer, bytes, 1, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_export_buf_dmabuf_fd(buffer), -1);
  EXPECT_EQ(errno, ENODATA);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
  EXPECT_EQ(ibv_dereg_mr(part), 0);
  EXPECT_EQ(ibv_dereg_mr(whole), 0);
  ibv_free_buf(buffer);
  EXPECT_EQ(ibv_alloc_buf(pd_, 0, &buffer), nullptr);
}

TEST_F(LaterFunctions, TellThePortsSpeedInHundredsOfMegabits) {
  std::uint64_t speed = 0;
  EXPECT_EQ(ibv_query_port_speed(context_, 1, &speed), 0);
  EXPECT_EQ(speed, 1000u);
  EXPECT_EQ(ibv_query_port_speed(context_, 2, &speed), EINVAL);
}

// A processor, a processing hint, the kind of memory.
constexpr std::uint32_t kProcessor = 1, kHint = 2, kMemory = 4;

TEST_F(LaterFunctions, RegisterMemoryWithADmaHandleThatIsBusyUntilTheRegionIsGone) {
  const LaterDmaHandle wanted{kProcessor | kHint | kMemory, 0, 3, 1};
  void* handle = ibv_alloc_dmah(context_, &wanted);
  ASSERT_NE(handle, nullptr) << std::strerror(errno);
  LaterRegion made = region(kAddress | kDmaHandle);
  made.dma_handle = handle;
  ibv_mr* mr = ibv_reg_mr_ex(pd_, &made);
  ASSERT_NE(mr, nullptr) << std::strerror(errno);
  EXPECT_EQ(ibv_dealloc_dmah(handle), EBUSY);
  made.access |= IBV_ACCESS_ON_DEMAND;
  EXPECT_EQ(ibv_reg_mr_ex(pd_, &made), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_dmah(handle), 0);
}

TEST_F(LaterFunctions, RefuseDmaHandlesForWhatIsNotThere) {
  const auto error = [this](const LaterDmaHandle& wanted) {
    errno = 0;
    return ibv_alloc_dmah(context_, &wanted) == nullptr ? errno : 0;
  };
  EXPECT_EQ(error({kProcessor | kHint | kMemory, 0xffff, 0, 0}), EINVAL);
  EXPECT_EQ(error({kProcessor | kHint | kMemory, 0, 4, 0}), EINVAL);
  EXPECT_EQ(error({kProcessor | kHint | kMemory, 0, 0, 2}), EINVAL);
  EXPECT_EQ(error({kProcessor | kHint, 0, 0, 0}), EINVAL);
  EXPECT_EQ(error({0, 0, 0, 0}), EINVAL);
  EXPECT_EQ(error({8, 0, 0, 0}), EOPNOTSUPP);
}

TEST_F(LaterFunctions, SayWhatIsNotSupported) {
  errno = 0;
  EXPECT_EQ(ibv_create_comp_cntr(context_, nullptr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  std::uint64_t value = 0;
  EXPECT_EQ(ibv_read_comp_cntr(nullptr, &value), EOPNOTSUPP);
}

}  // namespace
}  // namespace gdr::test
