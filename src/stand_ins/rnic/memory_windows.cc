// Memory windows of the region table. A window's key is its index, seven bits that are not to be
// guessed and stay, and eight that whoever binds it chooses (ibv_inc_rkey): a key for each bind.
#include <infiniband/verbs.h>

#include <algorithm>
#include <mutex>

#include "base/random.h"
#include "rnic/region_table.h"

namespace gdr::rnic {
namespace {

constexpr std::uint32_t kRemoteRights =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr std::uint32_t kKeysOfPlace = 1u << (32 - kRegionBits);
constexpr std::uint32_t kBinderKeys = 0x100;  // among which whoever binds it chooses
constexpr std::uint32_t kNeedLocalWrite = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

}  // namespace

Result<std::uint32_t> RegionTable::add_window(bool tied, std::uint32_t protection_domain) {
  const std::lock_guard guard(mutex_);
  windows_.reserve(windows_.size() + 1);
  const Result<std::uint32_t> index = take_index();
  if (!index) return index.error();
  Entry& entry = entry_at(*index);
  const std::uint32_t random =
      kBinderKeys + static_cast<std::uint32_t>(random_u64() % (kKeysOfPlace - kBinderKeys));
  entry.window = *index << (32 - kRegionBits) | random;
  entry.is_window = true;
  entry.tied = tied;
  entry.window_domain = protection_domain;
  windows_.push_back(*index);
  return entry.window;
}

// Under mutex_.
RegionTable::Entry* RegionTable::window_entry(std::uint32_t window) {
  Entry& entry = entry_at(index_of(window));
  return entry.is_window && entry.window == window ? &entry : nullptr;
}

bool RegionTable::is_bound(const Entry& entry) {
  const std::uint32_t key = entry.key.load();
  return key != 0 && segment_.region(index_of(key)).key.load() == key;
}

// Under mutex_.
bool RegionTable::check_bind(const WindowBind& bind, std::uint32_t protection_domain) {
  const Entry* window = window_entry(bind.window);
  if (window == nullptr || window->window_domain != protection_domain) return false;  // C10-72
  if (bind.length == 0) return !window->tied;
  const Entry& region = entry_at(index_of(bind.region));
  if (bind.region == 0 || region.key.load() != bind.region || region.is_window) return false;
  const RegionAttributes& attributes = region.attributes;
  if (attributes.protection_domain != protection_domain) return false;
  if ((attributes.access & IBV_ACCESS_MW_BIND) == 0) return false;  // C10-73
  if ((attributes.access & IBV_ACCESS_ZERO_BASED) != 0) return false;
  const bool writes = (bind.access & kNeedLocalWrite) != 0;
  if (writes && (attributes.access & IBV_ACCESS_LOCAL_WRITE) == 0) return false;  // C10-74
  return bind.address >= attributes.iova && bind.length <= attributes.length &&   // C10-75
         bind.address - attributes.iova <= attributes.length - bind.length;
}

bool RegionTable::may_bind(const WindowBind& bind, std::uint32_t protection_domain) {
  const std::lock_guard guard(mutex_);
  if (!check_bind(bind, protection_domain)) return false;
  const Entry& window = *window_entry(bind.window);
  return !window.tied || !is_bound(window);  // one of type 2 has to be invalidated first
}

void RegionTable::unbind(std::uint32_t window) {
  const std::lock_guard guard(mutex_);
  Entry* entry = window_entry(window);
  if (entry == nullptr) return;
  // Sequentially consistent before the caller looks at the marks of what is in flight.
  segment_.region(index_of(window)).key.store(0);
  entry->key.store(0);
}

bool RegionTable::bind(const WindowBind& bind, std::uint32_t protection_domain,
                       std::uint32_t queue_pair) {
  const std::lock_guard guard(mutex_);
  if (!check_bind(bind, protection_domain)) return false;
  if (bind.length == 0) return true;
  Entry& window = *window_entry(bind.window);
  const Entry& region = entry_at(index_of(bind.region));
  const bool zero_based = (bind.access & IBV_ACCESS_ZERO_BASED) != 0;
  window.attributes = {
      .iova = zero_based ? 0 : bind.address,
      .length = bind.length,
      // The right to write is the owner's, whose service thread may have to do it.
      .access = (bind.access & kRemoteRights) | (region.attributes.access & IBV_ACCESS_LOCAL_WRITE),
      .protection_domain = protection_domain};
  window.backing.address = region.backing.address + (bind.address - region.attributes.iova);
  window.backing.reach = region.backing.reach;
  window.memory = region.memory;
  window.region = bind.region;
  window.queue_pair = window.tied ? queue_pair : 0;
  share(bind.key);
  return true;
}

bool RegionTable::invalidate_window(std::uint32_t key, std::uint32_t protection_domain,
                                    std::uint32_t queue_pair) {
  const std::lock_guard guard(mutex_);
  Entry& entry = entry_at(index_of(key));
  if (key == 0 || entry.key.load() != key || !entry.is_window || !entry.tied) return false;
  if (!is_bound(entry) || entry.queue_pair != queue_pair ||
      entry.attributes.protection_domain != protection_domain) {
    return false;
  }
  segment_.region(index_of(key)).key.store(0);
  entry.key.store(0);
  return true;
}

void RegionTable::unbind_windows_of_queue_pair(std::uint32_t queue_pair) {
  const std::lock_guard guard(mutex_);
  for (const std::uint32_t index : windows_) {
    if (entry_at(index).queue_pair != queue_pair) continue;
    segment_.region(index).key.store(0);
    entry_at(index).key.store(0);
  }
}

void RegionTable::unbind_windows_of_region(std::uint32_t key) {
  const std::lock_guard guard(mutex_);
  for (const std::uint32_t index : windows_) {
    if (entry_at(index).region != key) continue;
    segment_.region(index).key.store(0);
    entry_at(index).key.store(0);
  }
}

void RegionTable::remove_window(std::uint32_t window) {
  const std::lock_guard guard(mutex_);
  Entry* entry = window_entry(window);
  if (entry == nullptr) return;
  entry->is_window = entry->tied = false;
  entry->window = entry->region = entry->queue_pair = 0;
  entry->backing = {};
  entry->memory = nullptr;
  windows_.erase(std::find(windows_.begin(), windows_.end(), index_of(window)));
  free_.push_back(index_of(window));
}

bool is_window_of(Segment& segment, std::uint32_t key, std::uint32_t protection_domain,
                  std::uint32_t queue_pair) {
  const SharedRegion& shared = segment.region(index_of(key));
  return key != 0 && shared.key.load() == key && read_once(shared.queue_pair) == queue_pair &&
         read_once(shared.protection_domain) == protection_domain;
}

void invalidate_window_of(Segment& segment, std::uint32_t key) {
  std::uint32_t present = key;
  segment.region(index_of(key)).key.compare_exchange_strong(present, 0);
}

}  // namespace gdr::rnic
