// Device memory: allocation, its copies, and regions made of it.
#include "verbs_fixture.h"

namespace gdr::test {
namespace {

constexpr std::size_t kDeviceBytes = 8192;
constexpr unsigned kZeroBased = kAllAccess | IBV_ACCESS_ZERO_BASED;

class DeviceMemoryTest : public VerbsTest {
 protected:
  ibv_dm* allocate(std::size_t bytes = kDeviceBytes) {
    ibv_alloc_dm_attr attr{};
    attr.length = bytes;
    return ibv_alloc_dm(context_, &attr);
  }
  std::uint64_t most() {
    ibv_device_attr_ex attr{};
    EXPECT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
    return attr.max_dm_size;
  }
};

TEST_F(DeviceMemoryTest, KeepsWhatIsCopiedToIt) {
  ibv_dm* dm = allocate();
  ASSERT_NE(dm, nullptr) << std::strerror(errno);
  std::vector<std::uint8_t> here(kDeviceBytes, 0xa5), back(kDeviceBytes, 0xff);
  EXPECT_EQ(ibv_memcpy_from_dm(back.data(), dm, 0, kDeviceBytes), 0);
  EXPECT_EQ(back, std::vector<std::uint8_t>(kDeviceBytes)) << "zero at first";
  EXPECT_EQ(ibv_memcpy_to_dm(dm, 8, here.data(), 100), 0);
  EXPECT_EQ(ibv_memcpy_from_dm(back.data(), dm, 4, 108), 0);
  EXPECT_EQ(back[3], 0);
  EXPECT_EQ(back[4], 0xa5);
  EXPECT_EQ(back[103], 0xa5);
  EXPECT_EQ(back[104], 0);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(DeviceMemoryTest, RefusesCopiesBeyondItAndInPartsOfWords) {
  ibv_dm* dm = allocate(100);
  std::uint8_t bytes[128] = {};
  for (const auto& [offset, length, error] :
       {std::tuple<std::uint64_t, std::size_t, int>{96, 8, EFAULT},
        {104, 4, EFAULT},
        {~std::uint64_t{3}, 8, EFAULT},
        {2, 4, EINVAL},
        {4, 3, EINVAL},
        {96, 4, 0}}) {
    EXPECT_EQ(ibv_memcpy_to_dm(dm, offset, bytes, length), error) << offset;
    EXPECT_EQ(ibv_memcpy_from_dm(bytes, dm, offset, length), error) << offset;
  }
}

TEST_F(DeviceMemoryTest, IsAsMuchAsReportedAndComesBack) {
  ibv_alloc_dm_attr attr{};
  EXPECT_EQ(ibv_alloc_dm(context_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attr = {.length = 64, .log_align_req = 13, .comp_mask = 0};
  EXPECT_EQ(ibv_alloc_dm(context_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attr = {.length = 64, .log_align_req = 0, .comp_mask = 1};
  EXPECT_EQ(ibv_alloc_dm(context_, &attr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(allocate(most() + 1), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  for (int i = 0; i < 3; ++i) {
    ibv_dm* all = allocate(most());
    ASSERT_NE(all, nullptr);
    EXPECT_EQ(allocate(4), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(ibv_free_dm(all), 0);
  }
}

TEST_F(DeviceMemoryTest, IsARegionCountedFromZero) {
  ibv_dm* dm = allocate();
  std::vector<std::uint8_t> here(64, 0xa5), back(64);
  ibv_mr* local = register_bytes(here);
  ibv_mr* mr = ibv_reg_dm_mr(pd_, dm, 1024, 4096, kZeroBased);
  ASSERT_NE(mr, nullptr) << std::strerror(errno);
  EXPECT_EQ(mr->addr, nullptr);
  EXPECT_EQ(ibv_free_dm(dm), EBUSY);
  ibv_qp *a = create_qp(IBV_QPT_RC), *b = create_qp(IBV_QPT_RC);
  connect(a, b);
  ibv_sge segment = segment_of(local);
  ibv_send_wr request = write_request(&segment, 4032, mr->rkey);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a, &request, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(ibv_memcpy_from_dm(back.data(), dm, 1024 + 4032, 64), 0);
  EXPECT_EQ(back, here);
  request.wr.rdma.remote_addr = 4033;
  ASSERT_EQ(ibv_post_send(a, &request, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kZeroBased),
            IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(DeviceMemoryTest, ARegionOfNoBytesGrantsNone) {
  ibv_mr* mr = ibv_reg_dm_mr(pd_, allocate(), 0, 0, kZeroBased);
  ASSERT_NE(mr, nullptr) << std::strerror(errno);
  std::vector<std::uint8_t> here(4);
  ibv_sge segment = segment_of(register_bytes(here));
  ibv_qp *a = create_qp(IBV_QPT_RC), *b = create_qp(IBV_QPT_RC);
  connect(a, b);
  ibv_send_wr request = write_request(&segment, 0, mr->rkey);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a, &request, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(DeviceMemoryTest, RefusesRegionsThatItDoesNotHold) {
  ibv_dm* dm = allocate();
  EXPECT_EQ(ibv_reg_dm_mr(pd_, dm, 0, kDeviceBytes, kAllAccess), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_dm_mr(pd_, dm, 0, kDeviceBytes + 4, kZeroBased), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_dm_mr(pd_, dm, 4, kDeviceBytes, kZeroBased), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_dm_mr(pd_, dm, 0, 64, kZeroBased | IBV_ACCESS_ON_DEMAND), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_context* elsewhere = open_device(1);
  ibv_pd* foreign = ibv_alloc_pd(elsewhere);
  EXPECT_EQ(ibv_reg_dm_mr(foreign, dm, 0, 64, kZeroBased), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_close_device(elsewhere), 0);
}

}  // namespace
}  // namespace gdr::test
