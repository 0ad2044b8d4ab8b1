// GpuMemory: memory of the stand-in for the GPU driver, mapped at an address of the caller's.
//
//   GpuMemory memory(kAddress, 1 << 20);
//   ibv_mr* region = ibv_reg_mr(pd, memory.data(), memory.bytes(), rights);
//   memory.free();  // under the registration
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace peermem_check {

constexpr std::size_t kGpuPage = 64 << 10;
// Where nothing else of a process is.
constexpr std::uint64_t kAddress = 0x7e0000000000;

class GpuMemory {
 public:
  GpuMemory(std::uint64_t address, std::size_t bytes);
  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  std::uint8_t* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  // May run beside anything that another thread does with it.
  void free() const;

 private:
  std::size_t bytes_;
  std::uint64_t offset_ = 0;
  std::uint8_t* data_ = nullptr;
};

// Returns when that counter of the stand-in ("tables", "callbacks") is no longer 0.
void wait_for_driver(const std::string& counter);

}  // namespace peermem_check
