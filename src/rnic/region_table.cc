#include "rnic/region_table.h"

#include <infiniband/verbs.h>

#include <cstring>
#include <mutex>

#include "base/random.h"

namespace gdr::rnic {

struct RegionTable::Entry {
  std::atomic<std::uint32_t> key{0};
  RegionAttributes attributes{};
  std::uint64_t address = 0;
  std::unique_ptr<memory::PinnedMemory> memory;
  std::atomic<std::uint32_t> invalidated_key{0};  // between invalidate and take
};

namespace {

constexpr std::uint32_t index_of(std::uint32_t key) { return key >> (32 - kRegionBits); }

// The order of the checks is that of the specification's responder (C9-88 and following): the key,
// its protection domain, its bounds, its rights.
RegionError check(const RegionAttributes& region, std::uint64_t address, std::uint64_t length,
                  std::uint32_t protection_domain, std::uint32_t rights) {
  if (region.protection_domain != protection_domain) return RegionError::kWrongDomain;
  if (address < region.iova || length > region.length ||
      address - region.iova > region.length - length) {
    return RegionError::kOutOfRange;
  }
  if ((region.access & rights) != rights) return RegionError::kNoRight;
  return RegionError::kNone;
}

}  // namespace

RegionTable::RegionTable(Segment& segment)
    : segment_(segment), entries_(std::make_unique<Entry[]>(kRegions)) {}
RegionTable::~RegionTable() = default;

Result<std::uint32_t> RegionTable::add(std::unique_ptr<memory::PinnedMemory> memory,
                                       const RegionAttributes& attributes) {
  if (attributes.iova + attributes.length < attributes.iova) {
    return Error{EINVAL, "iova + length wraps"};
  }
  const std::lock_guard guard(mutex_);
  std::uint32_t index = 0;
  if (next_ < kRegions) {
    index = next_++;
  } else if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else {
    return Error{ENOMEM, "all keys are in use"};
  }
  // Never 0, and not to be guessed from another key.
  const std::uint32_t key =
      index << (32 - kRegionBits) | (1 + static_cast<std::uint32_t>(random_u64() % 0xffff));
  Entry& entry = entries_[index];
  entry.attributes = attributes;
  entry.address = memory->address();
  entry.memory = std::move(memory);

  SharedRegion& shared = segment_.region(index);
  shared.protection_domain = attributes.protection_domain;
  shared.access = attributes.access;
  shared.reach = entry.memory->cpu_reachable() ? Reach::kHost : Reach::kServed;
  shared.iova = attributes.iova;
  shared.length = attributes.length;
  shared.address = entry.address;
  shared.key.store(key);
  entry.key.store(key);
  return key;
}

Result<void> RegionTable::invalidate(std::uint32_t key) {
  const std::lock_guard guard(mutex_);
  Entry& entry = entries_[index_of(key)];
  if (key == 0 || entry.key.load() != key) return Error{EINVAL, "a key that was never issued"};
  // Sequentially consistent before the caller looks at the marks of what is in flight.
  segment_.region(index_of(key)).key.store(0);
  entry.invalidated_key.store(key);
  entry.key.store(0);
  return {};
}

std::unique_ptr<memory::PinnedMemory> RegionTable::take(std::uint32_t key) {
  const std::lock_guard guard(mutex_);
  Entry& entry = entries_[index_of(key)];
  if (key == 0 || entry.invalidated_key.load() != key) return nullptr;
  entry.invalidated_key.store(0);
  free_.push_back(index_of(key));
  return std::move(entry.memory);
}

RegionError RegionTable::find(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                              std::uint32_t protection_domain, std::uint32_t rights, Place* place) {
  Entry& entry = entries_[index_of(key)];
  if (key == 0 || entry.key.load() != key) return RegionError::kUnknownKey;
  const RegionError error = check(entry.attributes, address, length, protection_domain, rights);
  if (error != RegionError::kNone) return error;
  place->address = entry.address + (address - entry.attributes.iova);
  place->memory = entry.memory.get();
  return RegionError::kNone;
}

RegionError find_remote(Segment& segment, std::uint32_t key, std::uint64_t address,
                        std::uint64_t length, std::uint32_t protection_domain, std::uint32_t rights,
                        RemoteRange* range) {
  SharedRegion& shared = segment.region(index_of(key));
  if (key == 0 || shared.key.load() != key) return RegionError::kUnknownKey;
  const RegionAttributes region{read_once(shared.iova), read_once(shared.length),
                                read_once(shared.access), read_once(shared.protection_domain)};
  const RegionError error = check(region, address, length, protection_domain, rights);
  if (error != RegionError::kNone) return error;
  range->address = read_once(shared.address) + (address - region.iova);
  range->reach = read_once(shared.reach) == Reach::kHost ? Reach::kHost : Reach::kServed;
  return RegionError::kNone;
}

void RegionTable::place(std::uint32_t key, std::uint64_t address,
                        std::span<const std::byte> bytes) {
  Entry& entry = entries_[index_of(key)];
  // What came before the key became unusable still counts.
  if (key == 0 || (entry.key.load() != key && entry.invalidated_key.load() != key)) return;
  const RegionAttributes& region = entry.attributes;
  if (check(region, address, bytes.size(), region.protection_domain, IBV_ACCESS_LOCAL_WRITE) !=
          RegionError::kNone ||
      !entry.memory->cpu_reachable()) {
    return;
  }
  std::memcpy(reinterpret_cast<void*>(entry.address + (address - region.iova)), bytes.data(),
              bytes.size());
}

}  // namespace gdr::rnic
