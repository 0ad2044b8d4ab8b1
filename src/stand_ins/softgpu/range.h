// Range: a stretch of addresses the driver knows, device memory or pinned host memory; and Span:
// what a pointer and a length turn into when something is copied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/driver_abi.h"
#include "softgpu/backing.h"
#include "softgpu/device_config.h"

namespace gdr::softgpu {

class Context;
class Pool;

// Physical memory of the VMM calls; alive while a handle or a mapping names it.
struct PhysicalMemory {
  std::shared_ptr<Backing> backing;
  cuda::CUmemAllocationProp properties{};
  std::uint64_t bytes = 0;
  std::uint64_t handle = 0;
  int handles = 1;  // references that cuMemRelease must give back
  bool imported = false;
};

struct Range {
  enum class Kind { kAllocated, kPooled, kMapped, kImported, kHostAllocated, kHostRegistered };

  Kind kind = Kind::kAllocated;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;  // what was asked for
  std::uint64_t held = 0;   // what it occupies in the address space
  int device = 0;
  Context* context = nullptr;        // whose end frees it; null for mappings
  std::shared_ptr<Backing> backing;  // null for host memory
  std::uint64_t offset = 0;          // of `base` in the backing
  std::uint64_t buffer_id = 0;       // never given twice
  std::uint64_t identity = 0;        // what the ledger holds; unpredictable
  std::shared_ptr<Pool> pool;
  std::shared_ptr<PhysicalMemory> physical;
  std::array<unsigned char, kMostDevices> access{};  // of mappings, by device
  // For a mapping: the reservation around it.
  std::uint64_t reserved_base = 0;
  std::uint64_t reserved_bytes = 0;
  unsigned host_flags = 0;
  int opened = 1;    // how often an imported handle was opened
  int exporter = 0;  // the process whose handle it was
  bool sync_memops = false;

  bool on_host() const { return kind == Kind::kHostAllocated || kind == Kind::kHostRegistered; }
  std::uint64_t end() const { return base + bytes; }
  // A mapping nobody was granted access to is not yet an address for copies or for questions.
  bool accessible() const {
    return kind != Kind::kMapped || access != std::array<unsigned char, kMostDevices>{};
  }
};

// Where the bytes of an operand really are.
struct Piece {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<Backing> keep;  // host memory: null, the application's to keep
};
struct Span {
  std::vector<Piece> pieces;
  bool pageable = false;   // host memory the driver does not know
  bool on_device = false;  // at least one piece
  int device = -1;
  bool sync_memops = false;
};

}  // namespace gdr::softgpu
