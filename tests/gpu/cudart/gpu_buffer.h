// A buffer in GPU memory as a program of the CUDA runtime API has it, part of it for registration
// at an odd address; filled and compared byte by byte.
//
//     GpuBuffer buffer;
//     buffer.fill(begin, length, seed);             // the pattern there, kEmpty around it
//     buffer.check(begin, length, seed, "a write")  // throws std::runtime_error with the first
//     wrong byte
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudart_verbs {

constexpr std::size_t kBytes = 5 << 20;
constexpr std::size_t kBefore = 4099, kBehind = 7777;  // not registered, at either end
constexpr unsigned char kEmpty = 0xee;

[[noreturn]] inline void fail(const std::string& why) { throw std::runtime_error(why); }

inline void require(bool condition, const char* call) {
  if (!condition) fail(std::string(call) + ": " + std::strerror(errno));
}

inline void require(cudaError_t result, const char* call) {
  if (result != cudaSuccess) fail(std::string(call) + ": " + cudaGetErrorString(result));
}

__host__ __device__ inline unsigned char pattern(std::uint32_t seed, std::size_t i) {
  const std::uint32_t mixed = (static_cast<std::uint32_t>(i) ^ (seed * 0x9e3779b9u)) * 0x85ebca6bu;
  return static_cast<unsigned char>(mixed >> 24);
}

// The bytes of a buffer that are not what they should be, as the GPU's own kernels see them.
__global__ void count_wrong(const unsigned char* buffer, std::size_t begin, std::size_t length,
                            std::uint32_t seed, unsigned long long* wrong) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < kBytes; i += step) {
    const bool inside = i >= begin && i < begin + length;
    if (buffer[i] != (inside ? pattern(seed, i - begin) : kEmpty)) atomicAdd(wrong, 1ull);
  }
}

class GpuBuffer {
 public:
  GpuBuffer() : bytes_(kBytes) {
    require(cudaMalloc(&memory_, kBytes), "cudaMalloc");
    require(cudaMalloc(&wrong_, sizeof *wrong_), "cudaMalloc");
  }
  ~GpuBuffer() {
    cudaFree(wrong_);
    cudaFree(memory_);
  }

  unsigned char* registered() const { return memory_ + kBefore; }
  static std::size_t registered_bytes() { return kBytes - kBefore - kBehind; }

  // length 0: nothing but kEmpty. What was copied from pageable memory may still be on its way when
  // cudaMemcpy returns.
  void fill(std::size_t begin, std::size_t length, std::uint32_t seed) {
    std::fill(bytes_.begin(), bytes_.end(), kEmpty);
    for (std::size_t i = 0; i < length; ++i) bytes_[begin + i] = pattern(seed, i);
    require(cudaMemcpy(memory_, bytes_.data(), kBytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  // False where this GPU runs no kernels: then copies alone have looked.
  bool check(std::size_t begin, std::size_t length, std::uint32_t seed, const std::string& what) {
    const bool by_kernel = check_by_kernel(begin, length, seed, what);
    require(cudaMemcpy(bytes_.data(), memory_, kBytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (std::size_t i = 0; i < kBytes; ++i) {
      const bool inside = i >= begin && i < begin + length;
      const unsigned char expected = inside ? pattern(seed, i - begin) : kEmpty;
      if (bytes_[i] == expected) continue;
      char text[120];
      std::snprintf(text, sizeof text, ": byte %zu (the message's %lld) is 0x%02x, not 0x%02x", i,
                    static_cast<long long>(i) - static_cast<long long>(begin), bytes_[i], expected);
      fail(what + text);
    }
    return by_kernel;
  }

  int export_dma_buf() const {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    require(cudaGetDriverEntryPointByVersion("cuMemGetHandleForAddressRange", &function, 11070,
                                             cudaEnableDefault, &found),
            "cudaGetDriverEntryPointByVersion");
    if (function == nullptr) fail("the driver has no cuMemGetHandleForAddressRange");
    int descriptor = -1;
    const CUresult result = reinterpret_cast<decltype(&cuMemGetHandleForAddressRange)>(function)(
        &descriptor, reinterpret_cast<CUdeviceptr>(memory_), kBytes,
        CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    if (result != CUDA_SUCCESS) {
      fail("cuMemGetHandleForAddressRange: error " + std::to_string(result));
    }
    return descriptor;
  }

 private:
  bool check_by_kernel(std::size_t begin, std::size_t length, std::uint32_t seed,
                       const std::string& what) {
    require(cudaMemset(wrong_, 0, sizeof *wrong_), "cudaMemset");
    count_wrong<<<64, 256>>>(memory_, begin, length, seed, wrong_);
    const cudaError_t launched = cudaGetLastError();
    if (launched == cudaErrorNotSupported) return false;
    require(launched, "the launch of a kernel");
    unsigned long long wrong = 0;
    require(cudaMemcpy(&wrong, wrong_, sizeof wrong, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (wrong != 0) fail(what + ": a kernel sees " + std::to_string(wrong) + " wrong bytes");
    return true;
  }

  unsigned char* memory_ = nullptr;
  unsigned long long* wrong_ = nullptr;
  std::vector<unsigned char> bytes_;
};

}  // namespace cudart_verbs
