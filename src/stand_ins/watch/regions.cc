#include "watch/regions.h"

#include <cstring>

#include "watch/process.h"
#include "watch/table.h"

namespace gdr::watch {
namespace {

using ledger::Memory;

// By device and key: the memory in the low byte, above it the number of the record plus 1.
constinit Table<1 << 18> regions{};

std::uint64_t table_key(std::uint32_t device, std::uint32_t key) {
  return (std::uint64_t{device} + 1) << 32 | key;
}

}  // namespace

void note_region(std::uint32_t device, const ibv_mr* region, const Registration& how,
                 const GpuPlace& place) {
  ledger::Ledger* all = ledger();
  if (all == nullptr || device == ledger::kNone) return;
  const Memory memory = place.is_gpu ? Memory::kGpu : Memory::kHost;
  ledger::Region* record = ledger::claim_region(*all);
  if (record != nullptr) {
    record->process = process_number();
    record->device = device;
    record->way = static_cast<std::uint32_t>(how.way);
    record->memory = static_cast<std::uint32_t>(memory);
    record->managed = place.is_managed ? 1 : 0;
    record->error = static_cast<std::uint32_t>(how.error);
    constexpr unsigned kRemote =
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    record->remote = (how.access & kRemote) != 0 ? 1 : 0;
    record->address = how.address;
    record->bytes = how.bytes;
    std::memcpy(record->gpu, place.bus, sizeof record->gpu);
    ledger::publish(record->state);
  }
  if (region == nullptr) return;
  const std::uint64_t number = record == nullptr ? 0 : record - all->region + 1;
  regions.insert(table_key(device, region->lkey),
                 number << 8 | (static_cast<std::uint64_t>(memory) + 1));
}

NotedRegion forget_region(std::uint32_t device, const ibv_mr& region) {
  const std::uint64_t key = table_key(device, region.lkey);
  return {key, regions.remove(key)};
}

void restore_region(const NotedRegion& region) {
  if (region.value != 0) regions.insert(region.key, region.value);
}

void note_released(const NotedRegion& region) {
  ledger::Ledger* all = ledger();
  const std::uint64_t number = region.value >> 8;
  if (all == nullptr || number == 0) return;
  all->region[number - 1].released.store(1, std::memory_order_relaxed);
}

Memory memory_of(std::uint32_t device, std::uint32_t key) {
  const std::uint64_t found = regions.find(table_key(device, key));
  return found == 0 ? Memory::kOther : static_cast<Memory>((found & 0xff) - 1);
}

}  // namespace gdr::watch
