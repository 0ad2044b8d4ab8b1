#include "softgpu/allocation.h"

#include <sys/mman.h>

#include <cstdio>

#include "base/random.h"
#include "softgpu/pool.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

// At most this much is cut from a shared block of 2 MiB; more gets a backing of its own.
constexpr std::uint64_t kMostFromSlab = 1ull << 20;
constexpr std::uint64_t kCheckRoomFrom = 64ull << 20;

struct Cut {
  Device::Slab* slab = nullptr;
  std::uint64_t offset = 0;
};

bool cut_from(Device::Slab& slab, std::uint64_t bytes, std::uint64_t alignment, Cut* cut) {
  for (auto it = slab.free.begin(); it != slab.free.end(); ++it) {
    const auto [begin, length] = *it;
    const std::uint64_t start = round_up(begin, alignment);
    if (start + bytes > begin + length) continue;
    slab.free.erase(it);
    if (start > begin) slab.free[begin] = start - begin;
    if (start + bytes < begin + length) slab.free[start + bytes] = begin + length - start - bytes;
    *cut = {&slab, start};
    return true;
  }
  return false;
}

void return_to(Device::Slab& slab, std::uint64_t offset, std::uint64_t bytes) {
  auto it = slab.free.emplace(offset, bytes).first;
  if (auto next = std::next(it); next != slab.free.end() && offset + it->second == next->first) {
    it->second += next->second;
    slab.free.erase(next);
  }
  if (it != slab.free.begin()) {
    auto before = std::prev(it);
    if (before->first + before->second == it->first) {
      before->second += it->second;
      slab.free.erase(it);
    }
  }
}

CUresult cut_small(Process& process, Device& device, int ordinal, std::uint64_t bytes, Cut* cut) {
  // The hardware's GPU page size: an allocation of this size can be registered with a NIC.
  const std::uint64_t alignment = bytes >= kGpuPage ? kGpuPage : kGranule;
  for (auto& [address, slab] : device.slabs) {
    if (cut_from(slab, bytes, alignment, cut)) return CUDA_SUCCESS;
  }
  auto backing = Backing::create(kBlock, ordinal, kBlock / kGranule);
  if (!backing) return CUDA_ERROR_OUT_OF_MEMORY;
  auto address = process.addresses.take(kBlock, kBlock);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  Device::Slab& slab = device.slabs[*address];
  slab = {*backing, *address, {{0, kBlock}}};
  return cut_from(slab, bytes, alignment, cut) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

}  // namespace

bool host_has_room(std::uint64_t bytes) {
  if (bytes < kCheckRoomFrom) return true;
  FILE* file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return true;
  char line[128];
  unsigned long long available = 0;
  bool found = false;
  while (!found && std::fgets(line, sizeof line, file) != nullptr) {
    found = std::sscanf(line, "MemAvailable: %llu kB", &available) == 1;
  }
  std::fclose(file);
  return !found || bytes / 1024 < available;
}

CUresult allocate(Process& process, int ordinal, std::uint64_t bytes, Range::Kind kind,
                  Context* context, std::shared_ptr<Range>* out) {
  Device& device = process.devices[static_cast<std::size_t>(ordinal)];
  const std::uint64_t total = process.config().bytes;
  if (bytes > total || !host_has_room(bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  auto range = std::make_shared<Range>();
  range->kind = kind;
  range->bytes = bytes;
  range->device = ordinal;
  range->context = context;
  const bool small = bytes <= kMostFromSlab;
  range->held = round_up(bytes, small ? kGranule : kBlock);
  if (device.used + range->held > total) return CUDA_ERROR_OUT_OF_MEMORY;
  if (small) {
    Cut cut;
    if (CUresult r = cut_small(process, device, ordinal, range->held, &cut)) return r;
    range->backing = cut.slab->backing;
    range->offset = cut.offset;
    range->base = cut.slab->address + cut.offset;
  } else {
    auto backing = Backing::create(range->held, ordinal, 1);
    if (!backing) return CUDA_ERROR_OUT_OF_MEMORY;
    auto address = process.addresses.take(range->held, kBlock);
    if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
    range->backing = *backing;
    range->base = *address;
  }
  range->buffer_id = process.next_buffer_id();
  range->identity = random_u64() | 1;
  range->backing->set_ledger(range->offset, range->identity);
  device.used += range->held;
  process.ranges.put(range);
  *out = range;
  return CUDA_SUCCESS;
}

bool can_be_freed(const Range& range) {
  return range.kind == Range::Kind::kAllocated || range.kind == Range::Kind::kPooled ||
         (range.kind == Range::Kind::kImported && range.pool != nullptr);
}

void dispose(Process& process, const Range& range) {
  if (range.kind == Range::Kind::kImported) {
    process.addresses.give_back(range.base - range.offset, range.held);
    return;
  }
  if (range.kind == Range::Kind::kHostAllocated) {
    munmap(reinterpret_cast<void*>(range.base), range.held);
    return;
  }
  if (range.kind != Range::Kind::kAllocated && range.kind != Range::Kind::kPooled) return;
  Device& device = process.devices[static_cast<std::size_t>(range.device)];
  device.used -= range.held;
  range.backing->set_ledger(range.offset, 0);
  if (range.pool != nullptr) range.pool->used -= range.held;
  if (range.bytes > kMostFromSlab) {
    process.addresses.give_back(range.base, range.held);
    return;
  }
  auto slab = device.slabs.find(range.base - range.offset);
  if (slab == device.slabs.end()) return;
  return_to(slab->second, range.offset, range.held);
  const auto& free = slab->second.free;
  if (free.size() == 1 && free.begin()->second == kBlock) {
    process.addresses.give_back(slab->first, kBlock);
    device.slabs.erase(slab);
  }
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): what is left goes with it, after the lock.
void clean_up(Process& process, Process::Leftovers left) {
  for (const Mark& mark : left.marks) mark.wait();
  std::lock_guard guard(process.lock);
  for (const auto& range : left.ranges) dispose(process, *range);
}

}  // namespace gdr::softgpu
