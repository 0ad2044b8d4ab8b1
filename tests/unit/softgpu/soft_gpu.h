// What the tests of the software GPU share: the library by its path, and patterns whose displaced
// bytes show.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cuda/driver.h"

namespace gdr::softgpu {

inline const cuda::Driver& soft_cuda() {
  static const cuda::Driver* driver = [] {
    Result<const cuda::Driver*> loaded = cuda::Driver::load(GDR_SOFT_LIBCUDA);
    if (!loaded) {
      ADD_FAILURE() << loaded.error().message;
      std::abort();
    }
    return *loaded;
  }();
  return *driver;
}

using Bytes = std::vector<unsigned char>;

inline Bytes pattern(std::size_t bytes, std::uint64_t seed) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<unsigned char>(((i + seed) * 0x9e3779b97f4a7c15ull) >> 56);
  }
  return out;
}

#define EXPECT_CU(wanted, call) EXPECT_EQ(static_cast<int>(wanted), static_cast<int>(call))
#define ASSERT_CU(wanted, call) ASSERT_EQ(static_cast<int>(wanted), static_cast<int>(call))

// A context on device 0, current for the test.
class SoftGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_CU(cuda::CUDA_SUCCESS, cu.init(0));
    ASSERT_CU(cuda::CUDA_SUCCESS, cu.device_primary_ctx_retain(&context, 0));
    ASSERT_CU(cuda::CUDA_SUCCESS, cu.ctx_set_current(context));
  }
  void TearDown() override {
    EXPECT_CU(cuda::CUDA_SUCCESS, cu.device_primary_ctx_release(0));
    cu.ctx_set_current(nullptr);
  }

  cuda::CUdeviceptr allocate(std::size_t bytes) {
    cuda::CUdeviceptr address = 0;
    EXPECT_CU(cuda::CUDA_SUCCESS, cu.mem_alloc(&address, bytes));
    return address;
  }
  void write(cuda::CUdeviceptr address, const Bytes& bytes) {
    EXPECT_CU(cuda::CUDA_SUCCESS, cu.memcpy_htod(address, bytes.data(), bytes.size()));
  }
  Bytes read(cuda::CUdeviceptr address, std::size_t bytes) {
    Bytes out(bytes, 0xee);
    EXPECT_CU(cuda::CUDA_SUCCESS, cu.memcpy_dtoh(out.data(), address, bytes));
    return out;
  }
  std::uint64_t buffer_id(cuda::CUdeviceptr address) {
    std::uint64_t id = 0;
    EXPECT_CU(cuda::CUDA_SUCCESS,
              cu.pointer_get_attribute(&id, cuda::CU_POINTER_ATTRIBUTE_BUFFER_ID, address));
    return id;
  }
  std::size_t free_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_CU(cuda::CUDA_SUCCESS, cu.mem_get_info(&free, &total));
    return free;
  }

  // What the driver's table does not hold, by its exported name.
  template <typename Signature>
  static Signature* function(const char* name) {
    void* found = dlsym(dlopen(GDR_SOFT_LIBCUDA, RTLD_NOW), name);
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<Signature*>(found);
  }

  const cuda::Driver& cu = soft_cuda();
  cuda::CUcontext context = nullptr;
};

}  // namespace gdr::softgpu
