#include "rnic/region_table.h"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/random.h"
#include "memory/fault_guard.h"

namespace gdr::rnic {

namespace {

constexpr std::uint32_t kMostRandom = (1u << (32 - kRegionBits)) - 1;
// A place that was given back waits until so many are free, so that a stale key seldom finds a new
// region there. More would only make a program that registers and deregisters touch all of the
// table.
constexpr std::size_t kRestingPlaces = 4096;

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

// Another process may have written anything there.
Reach known_reach(Reach reach) {
  const bool known = reach == Reach::kHost || reach == Reach::kOnDemand || reach == Reach::kNothing;
  return known ? reach : Reach::kServed;
}

// Never 0, not to be guessed from another key, and not the last of its place.
std::uint32_t new_key(std::uint32_t index, std::uint32_t last) {
  std::uint32_t key = last;
  while (key == last) {
    key =
        index << (32 - kRegionBits) | (1 + static_cast<std::uint32_t>(random_u64() % kMostRandom));
  }
  return key;
}

}  // namespace

Backing::Backing(std::unique_ptr<memory::PinnedMemory> pinned)
    : memory(std::move(pinned)),
      address(memory->address()),
      reach(memory->cpu_reachable() ? Reach::kHost : Reach::kServed) {}

Backing Backing::on_demand(std::uint64_t address) {
  Backing backing;
  backing.address = address;
  backing.reach = Reach::kOnDemand;
  return backing;
}

Backing Backing::nothing() {
  Backing backing;
  backing.reach = Reach::kNothing;
  return backing;
}

RegionTable::RegionTable(Segment& segment) : segment_(segment) {}

RegionTable::~RegionTable() {
  for (const std::atomic<Block*>& block : blocks_) delete block.load();
}

Result<std::uint32_t> RegionTable::add(Backing backing, const RegionAttributes& attributes) {
  if (attributes.iova + attributes.length < attributes.iova) {
    return Error{EINVAL, "iova + length wraps"};
  }
  const std::lock_guard guard(mutex_);
  const Result<std::uint32_t> index = take_index();
  if (!index) return index.error();
  Entry& entry = entry_at(*index);
  const std::uint32_t key = new_key(*index, entry.last_key);
  entry.backing = std::move(backing);
  if (entry.backing.reach == Reach::kServed) served_.fetch_add(1);
  publish(key, attributes);
  return key;
}

// Under mutex_.
Result<std::uint32_t> RegionTable::take_index() {
  if (next_ < kRegions && free_.size() < kRestingPlaces) {
    std::atomic<Block*>& block = blocks_[next_ / kBlock];
    if (block.load(std::memory_order_relaxed) == nullptr) block.store(new Block);
    return next_++;
  }
  if (free_.empty()) return Error{ENOMEM, "all keys are in use"};
  const std::uint32_t index = free_.front();  // which has rested longest
  free_.pop_front();
  return index;
}

// The key last, so that whoever finds it finds all of the region.
void RegionTable::publish(std::uint32_t key, const RegionAttributes& attributes) {
  Entry& entry = entry_at(index_of(key));
  entry.attributes = attributes;
  entry.attributes.access |= kUseAsLocalKey;
  entry.memory = entry.backing.memory.get();
  entry.queue_pair = 0;
  share(key);
}

void RegionTable::share(std::uint32_t key) {
  Entry& entry = entry_at(index_of(key));
  const RegionAttributes& attributes = entry.attributes;
  entry.last_key = key;

  SharedRegion& shared = segment_.region(index_of(key));
  shared.protection_domain = attributes.protection_domain;
  shared.access = attributes.access;
  shared.reach = entry.backing.reach;
  shared.iova = attributes.iova;
  shared.length = attributes.length;
  shared.address = entry.backing.address;
  shared.queue_pair = entry.queue_pair;
  show_export(key);
  shared.key.store(key);
  entry.key.store(key);
}

// The identity last, and not while it is another's.
void RegionTable::show_export(std::uint32_t key) {
  Entry& entry = entry_at(index_of(key));
  hide_export(key);
  // Through a window's key its owner copies: it seldom lives long enough to be opened.
  if (entry.memory == nullptr || entry.is_window) return;
  const memory::Exported exported = entry.memory->exported();
  if (exported.kind == memory::Exported::Kind::kNone) return;
  SharedExport& shared = segment_.exported(index_of(key));
  shared.address = exported.address;
  shared.length = exported.length;
  shared.kind = static_cast<std::uint32_t>(exported.kind);
  shared.descriptor = exported.descriptor;
  std::memcpy(shared.handle, exported.handle.data(), sizeof shared.handle);
  std::memcpy(shared.device, exported.device.data(), sizeof shared.device);
  shared.identity.store(exported.identity);
  entry.is_exported = true;
  SegmentHeader& header = segment_.header();
  header.export_end.store(std::max(header.export_end.load(), index_of(key) + 1));
  header.export_changes.fetch_add(1);
}

void RegionTable::hide_export(std::uint32_t key) {
  if (!std::exchange(entry_at(index_of(key)).is_exported, false)) return;
  segment_.exported(index_of(key)).identity.store(0);
  segment_.header().export_changes.fetch_add(1);
}

memory::Exported exported_by(Segment& segment, std::uint32_t region) {
  SharedExport& shared = segment.exported(region);
  memory::Exported exported;
  exported.identity = shared.identity.load();
  if (exported.identity == 0) return {};
  exported.address = read_once(shared.address);
  exported.length = read_once(shared.length);
  exported.descriptor = read_once(shared.descriptor);
  std::memcpy(exported.handle.data(), shared.handle, sizeof shared.handle);
  std::memcpy(exported.device.data(), shared.device, sizeof shared.device);
  const auto kind = static_cast<memory::Exported::Kind>(read_once(shared.kind));
  const bool known =
      kind == memory::Exported::Kind::kIpc || kind == memory::Exported::Kind::kDescriptor;
  if (known && shared.identity.load() == exported.identity) exported.kind = kind;
  return exported;
}

Result<void> RegionTable::invalidate(std::uint32_t key) {
  const std::lock_guard guard(mutex_);
  Entry& entry = entry_at(index_of(key));
  if (key == 0 || entry.key.load() != key || entry.is_window) {
    return Error{EINVAL, "a key that was never issued"};
  }
  for (const std::uint32_t index : windows_) {
    if (entry_at(index).region == key && is_bound(entry_at(index))) {
      return Error{EBUSY, "a memory window is bound to the region"};
    }
  }
  // Sequentially consistent before the caller looks at the marks of what is in flight.
  segment_.region(index_of(key)).key.store(0);
  hide_export(key);
  entry.invalidated_key.store(key);
  entry.key.store(0);
  return {};
}

Backing RegionTable::take(std::uint32_t key) {
  const std::lock_guard guard(mutex_);
  Entry& entry = entry_at(index_of(key));
  if (key == 0 || entry.invalidated_key.load() != key) return {};
  entry.invalidated_key.store(0);
  free_.push_back(index_of(key));
  if (entry.backing.reach == Reach::kServed) served_.fetch_sub(1);
  return std::exchange(entry.backing, {});
}

std::uint32_t RegionTable::reissue(std::uint32_t key, bool under_new_key,
                                   std::optional<Backing>& backing,
                                   const RegionAttributes& attributes) {
  const std::lock_guard guard(mutex_);
  Entry& entry = entry_at(index_of(key));
  entry.invalidated_key.store(0);
  if (under_new_key) key = new_key(index_of(key), key);
  if (backing) {
    if (entry.backing.reach == Reach::kServed) served_.fetch_sub(1);
    std::swap(entry.backing, *backing);
    if (entry.backing.reach == Reach::kServed) served_.fetch_add(1);
  }
  publish(key, attributes);
  return key;
}

RegionError RegionTable::find(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                              std::uint32_t protection_domain, std::uint32_t rights, Place* place) {
  Entry& entry = entry_at(index_of(key));
  if (key == 0 || entry.key.load() != key) return RegionError::kUnknownKey;
  if (entry.is_window && !is_bound(entry)) return RegionError::kUnknownKey;
  const RegionError error = check(entry.attributes, address, length, protection_domain, rights);
  if (error != RegionError::kNone) return error;
  place->address = entry.backing.address + (address - entry.attributes.iova);
  place->memory = entry.memory;
  place->reach = entry.backing.reach;
  place->queue_pair = entry.queue_pair;
  return RegionError::kNone;
}

std::optional<RegionTable::Description> RegionTable::describe(std::uint32_t key) {
  const std::lock_guard guard(mutex_);
  const Entry& entry = entry_at(index_of(key));
  if (key == 0 || entry.key.load() != key || entry.is_window) return std::nullopt;
  return Description{entry.attributes, entry.backing.address, entry.backing.reach};
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
  range->queue_pair = read_once(shared.queue_pair);
  range->reach = known_reach(read_once(shared.reach));
  return RegionError::kNone;
}

KnownRange RegionTable::know(std::uint32_t key, std::uint32_t protection_domain,
                             std::uint32_t rights) {
  Entry& entry = entry_at(index_of(key));
  if (key == 0 || entry.key.load() != key || entry.is_window) return {};
  const RegionAttributes& region = entry.attributes;
  if (check(region, region.iova, 0, protection_domain, rights) != RegionError::kNone) return {};
  const bool is_plain = entry.backing.reach == Reach::kHost &&
                        (entry.memory == nullptr || entry.memory->cpu_reachable());
  if (!is_plain) return {};
  return {key, region.iova, region.length, entry.backing.address};
}

KnownRange know_remote(Segment& segment, std::uint32_t key, std::uint32_t protection_domain,
                       std::uint32_t rights) {
  SharedRegion& shared = segment.region(index_of(key));
  if (key == 0 || shared.key.load() != key) return {};
  const bool may = read_once(shared.protection_domain) == protection_domain &&
                   (read_once(shared.access) & rights) == rights;
  if (!may || known_reach(read_once(shared.reach)) != Reach::kHost ||
      read_once(shared.queue_pair) != 0) {
    return {};
  }
  return {key, read_once(shared.iova), read_once(shared.length), read_once(shared.address)};
}

void RegionTable::place(std::uint32_t key, std::uint64_t address,
                        std::span<const std::byte> bytes) {
  Entry& entry = entry_at(index_of(key));
  // What came before the key became unusable still counts.
  if (key == 0 || (entry.key.load() != key && entry.invalidated_key.load() != key)) return;
  const RegionAttributes& region = entry.attributes;
  if (check(region, address, bytes.size(), region.protection_domain, IBV_ACCESS_LOCAL_WRITE) !=
          RegionError::kNone ||
      entry.is_window || entry.backing.reach != Reach::kHost) {
    return;
  }
  void* const to = reinterpret_cast<void*>(entry.backing.address + (address - region.iova));
  // Its sender has been told that it has arrived. As from a NIC, it goes where nobody can look if
  // the program has unmapped the place.
  (void)memory::copy_if_there(to, bytes.data(), bytes.size());
}

}  // namespace gdr::rnic
