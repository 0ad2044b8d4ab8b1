// Two GPUs in one process, whose memory each of them may keep to itself (cuMemSetAccess).
#include <gtest/gtest.h>

#include "gpu_side.h"

namespace gdr::test {
namespace {

constexpr std::uint64_t kBytes = 4 << 20;
constexpr std::size_t kOffset = 12'345, kLength = (1 << 20) + 77;

// Mapped memory of one GPU, which some may touch.
class Mapped {
 public:
  Mapped(Side& side, int gpu, const std::vector<int>& who) : gpu_(gpu) {
    cuda::CUmemAllocationProp wanted{};
    wanted.type = cuda::CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location = {cuda::CU_MEM_LOCATION_TYPE_DEVICE, gpu};
    wanted.requestedHandleTypes = cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    wanted.allocFlags.gpuDirectRDMACapable = 1;
    bool made = driver_.mem_create(&handle_, kBytes, &wanted, 0) == cuda::CUDA_SUCCESS &&
                driver_.mem_address_reserve(&address_, kBytes, 0, 0, 0) == cuda::CUDA_SUCCESS &&
                driver_.mem_map(address_, kBytes, 0, handle_, 0) == cuda::CUDA_SUCCESS;
    for (const int one : who) {
      const cuda::CUmemAccessDesc access{{cuda::CU_MEM_LOCATION_TYPE_DEVICE, one},
                                         cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      made = made && driver_.mem_set_access(address_, kBytes, &access, 1) == cuda::CUDA_SUCCESS;
    }
    require(made, "memory of GPU " + std::to_string(gpu));
    region_ = ibv_reg_mr(side.domain(), reinterpret_cast<void*>(address_), kBytes,
                         static_cast<int>(kAllAccess));
    require(region_ != nullptr, "it is registered");
  }
  ~Mapped() {
    ibv_dereg_mr(region_);
    driver_.mem_unmap(address_, kBytes);
    driver_.mem_address_free(address_, kBytes);
    driver_.mem_release(handle_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  Remote remote() const { return {address_, kBytes, region_->rkey}; }
  ibv_sge segment(std::size_t offset, std::size_t length) const {
    return {address_ + offset, static_cast<std::uint32_t>(length), region_->lkey};
  }
  void fill(const std::vector<unsigned char>& bytes) const {
    use();
    require(driver_.memcpy_htod(address_, bytes.data(), bytes.size()) == cuda::CUDA_SUCCESS,
            "filled");
  }
  std::vector<unsigned char> read() const {
    use();
    std::vector<unsigned char> bytes(kBytes);
    require(driver_.memcpy_dtoh(bytes.data(), address_, kBytes) == cuda::CUDA_SUCCESS, "read");
    return bytes;
  }

 private:
  void use() const {
    cuda::CUcontext primary = nullptr;
    require(driver_.device_primary_ctx_retain(&primary, gpu_) == cuda::CUDA_SUCCESS &&
                driver_.ctx_set_current(primary) == cuda::CUDA_SUCCESS,
            "a GPU of this process");
  }
  const cuda::Driver& driver_ = *memory::soft_gpu::driver();
  const int gpu_;
  cuda::CUmemGenericAllocationHandle handle_ = 0;
  cuda::CUdeviceptr address_ = 0;
  ibv_mr* region_ = nullptr;
};

struct Access {
  const char* name;
  std::vector<int> to_first, to_second;  // GPUs that may touch the memory of the first, the second
};

class GpuPair : public testing::TestWithParam<Access> {};

TEST_P(GpuPair, ExchangesBytesWhoeverMayTouchTheMemory) {
  Loopback loop;
  int count = 0;
  memory::soft_gpu::driver()->device_get_count(&count);
  if (count < 2) GTEST_SKIP() << "one GPU";
  const Mapped first(loop.side, 0, GetParam().to_first);
  const Mapped second(loop.side, 1, GetParam().to_second);
  std::vector<unsigned char> sent(kBytes), expected(kBytes, 0xee);
  for (std::size_t i = 0; i < kBytes; ++i) sent[i] = pattern(4, i);
  for (const auto& [from, to] : {std::pair{&first, &second}, std::pair{&second, &first}}) {
    from->fill(sent);
    to->fill(expected);
    loop.write(from->segment(0, kLength), to->remote(), kOffset);
    loop.side.expect(IBV_WC_SUCCESS);
    std::vector<unsigned char> wanted = expected;
    std::copy_n(sent.begin(), kLength, wanted.begin() + kOffset);
    EXPECT_EQ(to->read(), wanted);
    loop.read(to->segment(0, kLength), from->remote(), kOffset);
    loop.side.expect(IBV_WC_SUCCESS);
    std::copy_n(sent.begin() + kOffset, kLength, wanted.begin());
    // The later bytes lie over those of the write.
    EXPECT_EQ(to->read(), wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, GpuPair,
                         testing::Values(Access{"EachItsOwn", {0}, {1}},
                                         Access{"TheFirstBoth", {0}, {0, 1}},
                                         Access{"TheSecondBoth", {0, 1}, {1}},
                                         Access{"BothBoth", {0, 1}, {0, 1}}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace gdr::test
