#include "soft_gpu.h"

#include <dlfcn.h>

#include <cstdlib>

namespace gdr::memory::soft_gpu {
namespace {

constexpr cuda::CUdevice kDevice = 0;

// In the application's way: opened globally, by path, before anybody asks for it by name.
const cuda::Driver* open_driver() {
  const char* real = getenv(kRealDriver);
  if (dlopen(real != nullptr ? real : GDR_SOFT_CUDA, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  const cuda::Driver* found = cuda::Driver::already_loaded();
  if (found == nullptr || found->init(0) != cuda::CUDA_SUCCESS) {
    ADD_FAILURE() << "the software GPU's driver does not start";
    return nullptr;
  }
  cuda::CUcontext primary = nullptr;
  EXPECT_EQ(found->device_primary_ctx_retain(&primary, kDevice), cuda::CUDA_SUCCESS);
  return found;
}

}  // namespace

const cuda::Driver* driver() {
  static const cuda::Driver* const opened = open_driver();
  return opened;
}

void WithSoftGpu::SetUp() {
  ASSERT_NE(driver(), nullptr);
  cuda::CUcontext primary = nullptr;
  ASSERT_EQ(driver()->device_primary_ctx_retain(&primary, kDevice), cuda::CUDA_SUCCESS);
  ASSERT_EQ(driver()->ctx_set_current(primary), cuda::CUDA_SUCCESS);
}

Memory::Memory(Allocator allocator, std::uint64_t bytes) : allocator_(allocator), bytes_(bytes) {
  const cuda::Driver& cuda = *driver();
  if (allocator == Allocator::kMemAlloc) {
    EXPECT_EQ(cuda.mem_alloc(&address_, bytes), cuda::CUDA_SUCCESS);
    return;
  }
  if (allocator == Allocator::kPool) {
    EXPECT_EQ(cuda.mem_alloc_async(&address_, bytes, nullptr), cuda::CUDA_SUCCESS);
    EXPECT_EQ(cuda.ctx_synchronize(), cuda::CUDA_SUCCESS);
    return;
  }
  cuda::CUmemAllocationProp wanted{};
  wanted.type = cuda::CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {cuda::CU_MEM_LOCATION_TYPE_DEVICE, kDevice};
  wanted.requestedHandleTypes = cuda::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  wanted.allocFlags.gpuDirectRDMACapable = 1;
  const cuda::CUmemAccessDesc access{wanted.location, cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_EQ(cuda.mem_create(&handle_, bytes, &wanted, 0), cuda::CUDA_SUCCESS);
  EXPECT_EQ(cuda.mem_address_reserve(&address_, bytes, 0, 0, 0), cuda::CUDA_SUCCESS);
  EXPECT_EQ(cuda.mem_map(address_, bytes, 0, handle_, 0), cuda::CUDA_SUCCESS);
  EXPECT_EQ(cuda.mem_set_access(address_, bytes, &access, 1), cuda::CUDA_SUCCESS);
}

void Memory::free() {
  if (address_ == 0) return;
  const cuda::Driver& cuda = *driver();
  if (allocator_ == Allocator::kMemAlloc) {
    EXPECT_EQ(cuda.mem_free(address_), cuda::CUDA_SUCCESS);
  } else if (allocator_ == Allocator::kPool) {
    EXPECT_EQ(cuda.mem_free_async(address_, nullptr), cuda::CUDA_SUCCESS);
    EXPECT_EQ(cuda.ctx_synchronize(), cuda::CUDA_SUCCESS);
  } else {
    EXPECT_EQ(cuda.mem_unmap(address_, bytes_), cuda::CUDA_SUCCESS);
    EXPECT_EQ(cuda.mem_address_free(address_, bytes_), cuda::CUDA_SUCCESS);
    EXPECT_EQ(cuda.mem_release(handle_), cuda::CUDA_SUCCESS);
  }
  address_ = 0;
}

void Memory::fill(const std::vector<unsigned char>& bytes) const {
  EXPECT_EQ(driver()->memcpy_htod(address_, bytes.data(), bytes.size()), cuda::CUDA_SUCCESS);
}

std::vector<unsigned char> Memory::read() const {
  std::vector<unsigned char> bytes(bytes_);
  EXPECT_EQ(driver()->memcpy_dtoh(bytes.data(), address_, bytes_), cuda::CUDA_SUCCESS);
  return bytes;
}

std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
  std::vector<unsigned char> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    made[i] = static_cast<unsigned char>((i + seed) * 2654435761u >> 13);
  }
  return made;
}

}  // namespace gdr::memory::soft_gpu
