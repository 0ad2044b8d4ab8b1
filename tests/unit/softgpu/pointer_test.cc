// What each kind of memory answers about its pointers, as the genuine driver did (CUDA 13.0, H200).
#include <optional>

#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

class Pointer : public SoftGpu {
 protected:
  // The attribute of `address`, or nothing where the driver refuses.
  std::optional<std::uint64_t> ask(CUpointer_attribute attribute, CUdeviceptr address) {
    std::uint64_t value = 0;
    const CUresult r = cu.pointer_get_attribute(&value, attribute, address);
    if (r == CUDA_SUCCESS) return value;
    EXPECT_CU(CUDA_ERROR_INVALID_VALUE, r);
    return std::nullopt;
  }
  struct Wanted {
    bool has_context, on_host, ipc, rdma, in_pool;
  };
  void expect(const Wanted& wanted, CUdeviceptr address) {
    const CUdeviceptr inside = address + 9;
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_CONTEXT, inside),
              wanted.has_context ? reinterpret_cast<std::uint64_t>(context) : 0);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside),
              wanted.on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, inside), inside);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_HOST_POINTER, inside),
              wanted.on_host ? std::optional<std::uint64_t>(inside) : std::nullopt);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, inside), 0u);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_IS_MANAGED, inside), 0u);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside), 0u);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, inside), wanted.ipc ? 1u : 0u);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside), address);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside), 100'000u);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MAPPED, inside), 1u);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, inside), 0u);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, inside), wanted.rdma ? 1u : 0u);
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, inside),
              static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
    EXPECT_EQ(ask(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, inside).value_or(0) != 0, wanted.in_pool);
    EXPECT_TRUE(ask(CU_POINTER_ATTRIBUTE_BUFFER_ID, inside));
    EXPECT_FALSE(ask(CU_POINTER_ATTRIBUTE_P2P_TOKENS, inside));
    EXPECT_FALSE(ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 100'000));
  }
};

TEST_F(Pointer, OfAnAllocation) {
  const CUdeviceptr address = allocate(100'000);
  expect({.has_context = true, .on_host = false, .ipc = true, .rdma = true, .in_pool = false},
         address);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
  EXPECT_FALSE(ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
}

TEST_F(Pointer, OfAPool) {
  CUdeviceptr address = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_alloc_async(&address, 100'000, nullptr));
  expect({.has_context = false, .on_host = false, .ipc = false, .rdma = false, .in_pool = true},
         address);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(Pointer, OfPinnedHostMemory) {
  void* pinned = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_host_alloc(&pinned, 100'000, 0));
  expect({.has_context = true, .on_host = true, .ipc = false, .rdma = false, .in_pool = false},
         reinterpret_cast<CUdeviceptr>(pinned));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free_host(pinned));
}

TEST_F(Pointer, OfRegisteredHostMemory) {
  Bytes host(100'000);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_host_register(host.data(), host.size(), 0));
  expect({.has_context = true, .on_host = true, .ipc = false, .rdma = false, .in_pool = false},
         reinterpret_cast<CUdeviceptr>(host.data()));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_host_unregister(host.data()));
}

}  // namespace
}  // namespace gdr::softgpu
