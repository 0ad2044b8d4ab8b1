// Raw frames between GPU memory and GPU memory: every step of them is the engine thread's.
#include "cable_fixture.h"
#include "cuda/driver.h"

namespace gdr::test {
namespace {

constexpr std::size_t kSlot = 256;  // of the GPU buffer, one a frame

class GpuCableTest : public CableTest {
 protected:
  void SetUp() override {
    setenv("GDR_SOFT_GPUS", "1", 1);
    Result<const cuda::Driver*> driver = cuda::Driver::load(GDR_SOFT_CUDA);
    ASSERT_TRUE(driver) << driver.error().message;
    driver_ = *driver;
    ASSERT_EQ(driver_->init(0), cuda::CUDA_SUCCESS);
    cuda::CUcontext context = nullptr;
    ASSERT_EQ(driver_->device_primary_ctx_retain(&context, 0), cuda::CUDA_SUCCESS);
    ASSERT_EQ(driver_->ctx_set_current(context), cuda::CUDA_SUCCESS);
    ASSERT_EQ(driver_->mem_alloc(&memory_, 16 * kSlot), cuda::CUDA_SUCCESS);
    CableTest::SetUp();
    UdpRule rule = rule_for_port(4000);
    ASSERT_NE(ibv_create_flow(receiver_, &rule.attr), nullptr) << std::strerror(errno);
    far_gpu_ = ibv_reg_mr(far_pd_, reinterpret_cast<void*>(memory_), 16 * kSlot, kAllAccess);
    ASSERT_NE(far_gpu_, nullptr) << std::strerror(errno);
  }

  void receive_into_gpu(std::uint64_t slot) {
    ibv_sge into{memory_ + slot * kSlot, kSlot, far_gpu_->lkey};
    ibv_recv_wr receive{};
    receive.sg_list = &into;
    receive.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(receiver_, &receive, &bad), 0);
  }
  std::vector<std::uint8_t> slot(std::uint64_t number) {
    std::vector<std::uint8_t> bytes(kSlot);
    EXPECT_EQ(driver_->memcpy_dtoh(bytes.data(), memory_ + number * kSlot, kSlot),
              cuda::CUDA_SUCCESS);
    return bytes;
  }

  const cuda::Driver* driver_ = nullptr;
  cuda::CUdeviceptr memory_ = 0;
  ibv_mr* far_gpu_ = nullptr;
};

TEST_F(GpuCableTest, BringsEveryFrameOfAListIntoGpuMemory) {
  constexpr int kFrames = 5;
  for (int i = 0; i < kFrames; ++i) receive_into_gpu(i);
  std::vector<std::uint8_t> frame = frame_to_port(4000);
  ibv_mr* mr = register_bytes(frame);
  ibv_sge segment = segment_of(mr);
  ibv_send_wr requests[kFrames];
  for (int i = 0; i < kFrames; ++i) {
    requests[i] = write_request(&segment, 0, 0);
    requests[i].opcode = IBV_WR_SEND;
    requests[i].next = i + 1 < kFrames ? &requests[i + 1] : nullptr;
  }
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(sender_, requests, &bad), 0);
  for (int i = 0; i < kFrames; ++i) {
    ASSERT_EQ(wait_for_completion(far_cq_).status, IBV_WC_SUCCESS) << "frame " << i;
  }
  // The first one filled the receive that the fixture had posted in host memory.
  for (int i = 0; i < kFrames - 1; ++i) {
    EXPECT_EQ(std::memcmp(slot(i).data(), frame.data(), frame.size()), 0) << "frame " << i;
  }
}

TEST_F(GpuCableTest, BringsAFrameFromGpuMemoryIntoGpuMemory) {
  receive_into_gpu(0);
  std::vector<std::uint8_t> frame = frame_to_port(4000);
  const cuda::CUdeviceptr source = memory_ + 8 * kSlot;
  ASSERT_EQ(driver_->memcpy_htod(source, frame.data(), frame.size()), cuda::CUDA_SUCCESS);
  ibv_mr* near_gpu = ibv_reg_mr(pd_, reinterpret_cast<void*>(source), kSlot, kAllAccess);
  ASSERT_NE(near_gpu, nullptr) << std::strerror(errno);
  for (int i = 0; i < 2; ++i) {  // the first one fills the fixture's receive in host memory
    ibv_sge segment{source, static_cast<std::uint32_t>(frame.size()), near_gpu->lkey};
    ibv_send_wr request = write_request(&segment, 0, 0);
    request.opcode = IBV_WR_SEND;
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(sender_, &request, &bad), 0);
    ASSERT_EQ(wait_for_completion(far_cq_).status, IBV_WC_SUCCESS);
  }
  EXPECT_EQ(std::memcmp(slot(0).data(), frame.data(), frame.size()), 0);
}

}  // namespace
}  // namespace gdr::test
