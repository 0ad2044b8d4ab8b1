// Contexts: their flags, the stack, primary ones, and access between devices.
#include <set>
#include <thread>

#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

class ContextTest : public SoftGpu {};

TEST_F(ContextTest, EveryVersionOfCreateMakesOneWithItsFlags) {
  CUcontext made[3] = {};
  constexpr unsigned kFlags = 4;  // CU_CTX_SCHED_BLOCKING_SYNC
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&made[0], kFlags, 0));
  ASSERT_CU(CUDA_SUCCESS, function<CUresult(CUcontext*, void*, int, unsigned, CUdevice)>(
                              "cuCtxCreate_v3")(&made[1], nullptr, 0, kFlags, 0));
  ASSERT_CU(CUDA_SUCCESS, function<CUresult(CUcontext*, void*, unsigned, CUdevice)>(
                              "cuCtxCreate_v4")(&made[2], nullptr, kFlags, 0));
  std::set<unsigned long long> ids;
  for (CUcontext one : made) {
    ASSERT_CU(CUDA_SUCCESS, cu.ctx_set_current(one));
    unsigned flags = 0;
    EXPECT_CU(CUDA_SUCCESS, function<CUresult(unsigned*)>("cuCtxGetFlags")(&flags));
    EXPECT_EQ(flags, kFlags);
    unsigned long long id = 0;
    EXPECT_CU(CUDA_SUCCESS,
              function<CUresult(CUcontext, unsigned long long*)>("cuCtxGetId")(one, &id));
    ids.insert(id);
    unsigned version = 0;
    EXPECT_CU(CUDA_SUCCESS,
              function<CUresult(CUcontext, unsigned*)>("cuCtxGetApiVersion")(one, &version));
    EXPECT_EQ(version, 3020u);
  }
  EXPECT_EQ(ids.size(), 3u);
  for (CUcontext one : made) EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(one));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ctx_create(&made[0], 4096, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cu.ctx_create(&made[0], 0, 9));
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cu.ctx_destroy(context));  // a primary one
}

TEST_F(ContextTest, SetCurrentReplacesTheTopAndNullTakesItAway) {
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  CUcontext current = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&first, 0, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&second, 0, 1));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_set_current(first));  // context, first, first
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_pop_current(&current));
  EXPECT_EQ(current, first);
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_get_current(&current));
  EXPECT_EQ(current, first);
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_set_current(nullptr));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_get_current(&current));
  EXPECT_EQ(current, context);
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(first));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(second));
  std::thread([&] {
    CUcontext popped = nullptr;
    EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cu.ctx_pop_current(&popped));
    EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cu.ctx_synchronize());
  }).join();
}

TEST_F(ContextTest, DestroyedUnderAnotherThreadIsReportedThere) {
  CUcontext own = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&own, 0, 0));
  CUcontext popped = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_pop_current(&popped));
  std::thread([&] {
    EXPECT_CU(CUDA_SUCCESS, cu.ctx_set_current(own));
    std::thread([&] { EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(own)); }).join();
    CUdeviceptr address = 0;
    EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.mem_alloc(&address, 64));
    EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.ctx_synchronize());
  }).join();
}

TEST_F(ContextTest, LastReleaseOrResetOfAPrimaryContextFreesItsMemory) {
  for (const bool reset : {false, true}) {
    CUcontext primary = nullptr;
    ASSERT_CU(CUDA_SUCCESS, cu.device_primary_ctx_retain(&primary, 1));
    ASSERT_CU(CUDA_SUCCESS, cu.ctx_push_current(primary));
    const std::size_t before = free_memory();
    const CUdeviceptr address = allocate(4 << 20);
    ASSERT_CU(CUDA_SUCCESS,
              reset ? cu.device_primary_ctx_reset(1) : cu.device_primary_ctx_release(1));
    EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.mem_free(address));
    ASSERT_CU(CUDA_SUCCESS, cu.device_primary_ctx_retain(&primary, 1));
    EXPECT_EQ(free_memory(), before);
    EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free(address));
    CUcontext popped = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cu.ctx_pop_current(&popped));
    unsigned flags = 0;
    int active = 0;
    do {
      EXPECT_CU(CUDA_SUCCESS, cu.device_primary_ctx_release(1));
      EXPECT_CU(CUDA_SUCCESS, cu.device_primary_ctx_get_state(1, &flags, &active));
    } while (active != 0);
  }
}

TEST_F(ContextTest, FlagsOfAPrimaryContextMayBeSetBeforeItLives) {
  auto set = function<CUresult(CUdevice, unsigned)>("cuDevicePrimaryCtxSetFlags_v2");
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, set(1, 4096));
  ASSERT_CU(CUDA_SUCCESS, set(1, 4));
  unsigned flags = 0;
  int active = 7;
  ASSERT_CU(CUDA_SUCCESS, cu.device_primary_ctx_get_state(1, &flags, &active));
  EXPECT_EQ(flags, 4u);
  EXPECT_EQ(active, 0);
  ASSERT_CU(CUDA_SUCCESS, set(1, 0));
}

TEST_F(ContextTest, PeerAccessIsCountedOnAndOffOnce) {
  CUcontext other = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&other, 0, 1));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_set_current(context));
  int can = -1;
  ASSERT_CU(CUDA_SUCCESS, cu.device_can_access_peer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  ASSERT_CU(CUDA_SUCCESS, cu.device_can_access_peer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cu.device_can_access_peer(&can, 0, 9));
  ASSERT_CU(CUDA_SUCCESS,
            cu.device_get_p2p_attribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_CU(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cu.ctx_disable_peer_access(other));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_enable_peer_access(other, 0));
  EXPECT_CU(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cu.ctx_enable_peer_access(other, 0));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_disable_peer_access(other));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ctx_enable_peer_access(other, 1));
  EXPECT_CU(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cu.ctx_enable_peer_access(context, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT,
            cu.ctx_enable_peer_access(reinterpret_cast<CUcontext>(&other), 0));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(other));
  EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.ctx_enable_peer_access(other, 0));
}

TEST_F(ContextTest, RdmaWritesCanBeFlushed) {
  EXPECT_CU(CUDA_SUCCESS,
            cu.flush_gpu_direct_rdma_writes(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                            CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
  EXPECT_CU(CUDA_SUCCESS,
            cu.flush_gpu_direct_rdma_writes(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                            CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.flush_gpu_direct_rdma_writes(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                            static_cast<CUflushGPUDirectRDMAWritesScope>(7)));
}

}  // namespace
}  // namespace gdr::softgpu
