// Memory: what one side of a transfer offers: host pages, cuMemAlloc or VMM device memory. Read and
// written by its owner only through this, since the CPU cannot touch device memory.
//
//   Result<Memory> memory = Memory::allocate(MemoryKind::kDevice, 2 << 20, gpu);
//   memory->write(100, bytes);
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cuda/driver.h"
#include "participants/gpu.h"

namespace gdr::participants {

enum class MemoryKind : std::uint8_t { kHost, kDevice, kDeviceVmm };
enum class Registration : std::uint8_t { kHost, kDmaBuf, kPeerMemory };
constexpr bool is_device(MemoryKind kind) { return kind != MemoryKind::kHost; }

// Pages of host memory. The administrator sets huge pages aside: without enough of them allocate()
// fails, and its message says how many are needed, how many are free and what to type.
enum class Pages : std::uint8_t { kOrdinary, kHuge };

class Memory {
 public:
  // `gpu`'s context is current in this thread. Device memory is rounded up to 2 MiB; an Error's
  // code is then a CUresult.
  static Result<Memory> allocate(MemoryKind kind, std::uint64_t size, const Gpu& gpu,
                                 Pages pages = Pages::kOrdinary);

  // VMM memory of the GPU `location`, used by `gpu`, which makes no context there.
  static Result<Memory> allocate_on(int location, std::uint64_t size, const Gpu& gpu);

  std::uint64_t address() const { return address_; }
  std::uint64_t size() const { return size_; }
  MemoryKind kind() const { return kind_; }
  bool contains(std::uint64_t from, std::uint64_t length) const {
    return from <= size_ && length <= size_ - from;
  }

  Result<void> write(std::uint64_t from, std::span<const std::byte> bytes);
  // After what NICs have written was made visible.
  Result<void> read(std::uint64_t from, std::span<std::byte> bytes) const;

  // A dma-buf descriptor of all of it; an Error's code is a CUresult.
  Result<UniqueFd> export_dmabuf() const;

 private:
  Memory() = default;
  Result<void> allocate_host(std::uint64_t size);
  Result<void> allocate_huge(std::uint64_t size);
  Result<void> allocate_device(std::uint64_t size);
  Result<void> allocate_vmm(std::uint64_t size, int location);
  Error cuda_error(const char* call, cuda::CUresult result) const;

  MemoryKind kind_ = MemoryKind::kHost;
  Gpu gpu_;
  std::uint64_t address_ = 0;
  std::uint64_t size_ = 0;
  std::shared_ptr<void> owner_;  // its deleter gives the memory back
};

}  // namespace gdr::participants
