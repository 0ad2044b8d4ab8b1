#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

// Runs `body` in a fresh process, since the configuration is read once; returns its exit status.
template <typename Body>
int in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

class Device : public SoftGpu {};

TEST(DeviceConfiguration, WrongValueMakesCuInitFail) {
  const Driver& cu = soft_cuda();
  EXPECT_EQ(0, in_child([&] {
              setenv("GDR_SOFT_GPUS", "zero", 1);
              int count = 0;
              if (cu.init(0) != CUDA_ERROR_INVALID_VALUE) return 1;
              if (cu.device_get_count(&count) != CUDA_ERROR_NOT_INITIALIZED) return 2;
              return 0;
            }));
}

TEST(DeviceConfiguration, NumberAndSizeComeFromTheEnvironment) {
  const Driver& cu = soft_cuda();
  EXPECT_EQ(0, in_child([&] {
              setenv("GDR_SOFT_GPUS", "3:256M", 1);
              int count = 0;
              std::size_t bytes = 0;
              if (cu.init(0) != CUDA_SUCCESS) return 1;
              cu.device_get_count(&count);
              cu.device_total_mem(&bytes, 2);
              return count == 3 && bytes == 256u << 20 ? 0 : 2;
            }));
}

TEST(DeviceConfiguration, SizeLimitsAllAllocationsTogether) {
  const Driver& cu = soft_cuda();
  EXPECT_EQ(0, in_child([&] {
              setenv("GDR_SOFT_GPUS", "2:64M", 1);
              CUcontext contexts[2] = {};
              CUdeviceptr first = 0;
              CUdeviceptr second = 0;
              if (cu.init(0) || cu.ctx_create(&contexts[0], 0, 0)) return 1;
              if (cu.mem_alloc(&first, 40 << 20)) return 2;
              if (cu.mem_alloc(&second, 40 << 20) != CUDA_ERROR_OUT_OF_MEMORY) return 3;
              if (cu.mem_alloc_async(&second, 40 << 20, nullptr) != CUDA_ERROR_OUT_OF_MEMORY) {
                return 4;
              }
              // Another device has its own.
              if (cu.ctx_create(&contexts[1], 0, 1) || cu.mem_alloc(&second, 40 << 20)) return 5;
              if (cu.ctx_set_current(contexts[0]) || cu.mem_free(first)) return 6;
              return cu.mem_alloc(&first, 64 << 20) == CUDA_SUCCESS ? 0 : 7;
            }));
}

TEST(DeviceConfiguration, NothingWorksBeforeCuInit) {
  const Driver& cu = soft_cuda();
  EXPECT_EQ(0, in_child([&] {
              int count = 0;
              CUdeviceptr address = 0;
              if (cu.device_get_count(&count) != CUDA_ERROR_NOT_INITIALIZED) return 1;
              if (cu.mem_alloc(&address, 64) != CUDA_ERROR_NOT_INITIALIZED) return 2;
              return 0;
            }));
}

TEST_F(Device, ChildOfForkIsToldThatNothingIsInitialised) {
  const CUdeviceptr address = allocate(4096);
  CUstream stream = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.stream_create(&stream, 0));
  EXPECT_EQ(0, in_child([&] {
              unsigned char byte = 0;
              if (cu.init(0) != CUDA_ERROR_NOT_INITIALIZED) return 1;
              if (cu.memcpy_dtoh(&byte, address, 1) != CUDA_ERROR_NOT_INITIALIZED) return 2;
              if (cu.stream_synchronize(stream) != CUDA_ERROR_NOT_INITIALIZED) return 3;
              if (cu.ctx_synchronize() != CUDA_ERROR_NOT_INITIALIZED) return 4;
              return 0;
            }));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Device, CannotBeMistakenForHardware) {
  char name[64] = {};
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_name(name, sizeof name, 0));
  EXPECT_STREQ(name, "gdrkit software GPU");
  CUuuid first{};
  CUuuid second{};
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_uuid(&first, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_uuid(&second, 1));
  EXPECT_EQ(0, std::memcmp(first.bytes, "gdrkit-soft-gpu", 15));
  EXPECT_NE(0, std::memcmp(&first, &second, sizeof first));
  char bus[32] = {};
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_pci_bus_id(bus, sizeof bus, 1));
  EXPECT_STREQ(bus, "FFFE:02:00.0");
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.device_get_pci_bus_id(bus, 12, 1));
  EXPECT_CU(CUDA_SUCCESS, cu.device_get_pci_bus_id(bus, 13, 1));
  CUdevice device = -1;
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_by_pci_bus_id(&device, bus));
  EXPECT_EQ(device, 1);
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cu.device_get_by_pci_bus_id(&device, "0000:02:00.0"));
}

TEST_F(Device, SaysWhatGpuDirectRdmaNeedsToKnow) {
  auto attribute = [&](CUdevice_attribute number) {
    int value = -1;
    EXPECT_CU(CUDA_SUCCESS, cu.device_get_attribute(&value, number, 0));
    return value;
  };
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING), 100);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY), 0);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED), 0);
  int value = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.device_get_attribute(&value, static_cast<CUdevice_attribute>(100000), 0));
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
            cu.device_get_attribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 7));
}

TEST_F(Device, NamesItsErrors) {
  EXPECT_EQ(cu.describe(CUDA_ERROR_INVALID_VALUE),
            "CUDA_ERROR_INVALID_VALUE (1): invalid argument");
  EXPECT_EQ(cu.describe(static_cast<CUresult>(12345)), "unknown CUresult (12345)");
}

TEST_F(Device, ContextsFormAStackPerThread) {
  CUcontext own = nullptr;
  CUcontext current = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&own, 0, 1));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_get_current(&current));
  EXPECT_EQ(current, own);
  CUdevice device = -1;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_get_device(&device));
  EXPECT_EQ(device, 1);
  std::thread([&] {
    CUcontext other = own;
    EXPECT_CU(CUDA_SUCCESS, cu.ctx_get_current(&other));
    EXPECT_EQ(other, nullptr);
    CUdeviceptr address = 0;
    EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cu.mem_alloc(&address, 64));
  }).join();
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_pop_current(&current));
  EXPECT_EQ(current, own);
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_get_current(&current));
  EXPECT_EQ(current, context);
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(own));
  EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.ctx_destroy(own));
}

TEST_F(Device, MemoryOfADestroyedContextIsGone) {
  CUcontext own = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&own, 0, 0));
  const std::size_t before = free_memory();
  const CUdeviceptr address = allocate(4 << 20);
  EXPECT_LT(free_memory(), before);
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_push_current(own));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_destroy(own));
  EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.mem_free(address));  // own is still below
  CUcontext popped = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_pop_current(&popped));
  EXPECT_EQ(free_memory(), before);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free(address));
}

TEST_F(Device, PrimaryContextLivesWhileItIsRetained) {
  CUcontext again = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.device_primary_ctx_retain(&again, 0));
  EXPECT_EQ(again, context);
  unsigned flags = 0;
  int active = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.device_primary_ctx_release(0));
  ASSERT_CU(CUDA_SUCCESS, cu.device_primary_ctx_get_state(0, &flags, &active));
  EXPECT_EQ(active, 1);
  ASSERT_CU(CUDA_SUCCESS, cu.device_primary_ctx_get_state(1, &flags, &active));
  EXPECT_EQ(active, 0);
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cu.device_primary_ctx_release(1));
}

}  // namespace
}  // namespace gdr::softgpu
