// The software GPU's driver in this process, and device memory of each kind of allocator.
//
//   soft_gpu::Memory memory(soft_gpu::Allocator::kVmm, 4 << 20);
//   memory.free();                                  // under whatever is registered in it
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda/driver.h"

namespace gdr::memory::soft_gpu {

// Names a genuine driver that the tests are to use instead, on a machine with a GPU.
constexpr const char* kRealDriver = "GDR_TEST_CUDA";

// Null when the library could not be opened; the tests fail then.
const cuda::Driver* driver();

// Makes the GPU's primary context current, as the runtime API would.
class WithSoftGpu : public testing::Test {
 protected:
  void SetUp() override;
};

enum class Allocator { kMemAlloc, kVmm, kPool };

class Memory {
 public:
  Memory(Allocator allocator, std::uint64_t bytes);
  ~Memory() { free(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::uint64_t address() const { return address_; }
  std::uint64_t size() const { return bytes_; }
  void free();
  void forget() { address_ = 0; }  // it has gone with its context

  // By the application's own synchronous copies.
  void fill(const std::vector<unsigned char>& bytes) const;
  std::vector<unsigned char> read() const;

 private:
  Allocator allocator_;
  std::uint64_t bytes_;
  cuda::CUdeviceptr address_ = 0;
  cuda::CUmemGenericAllocationHandle handle_ = 0;
};

std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed);

}  // namespace gdr::memory::soft_gpu
