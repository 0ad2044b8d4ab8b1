// AddressSpace: where device addresses come from. One range of the process's address space is
// reserved without access, so that a CPU that touches device memory faults (and process_vm_readv
// gives EFAULT), and so that no host pointer can ever equal a device pointer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace gdr::softgpu {

class AddressSpace {
 public:
  // Reserves up to `bytes`, less where the process's limits allow less; false when nothing can be.
  bool reserve(std::uint64_t bytes);

  // First free range of that alignment (a power of two); `wanted`, if free, is preferred.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment,
                                    std::uint64_t wanted = 0);
  void give_back(std::uint64_t address, std::uint64_t bytes);

  bool contains(std::uint64_t address) const { return address - base_ < bytes_; }

 private:
  std::uint64_t base_ = 0;
  std::uint64_t bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_;  // start -> length
};

}  // namespace gdr::softgpu
