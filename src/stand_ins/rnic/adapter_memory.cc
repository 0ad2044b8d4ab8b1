// The memory of an adapter: registering it, and waiting for what still copies from or to it.
#include <infiniband/verbs.h>

#include "memory/fault_guard.h"
#include "rnic/adapter.h"

namespace gdr::rnic {
namespace {

constexpr std::uint32_t kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_ON_DEMAND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_MW_BIND;

Result<void> check_attributes(const RegionAttributes& attributes) {
  if (attributes.length == 0) return Error{EINVAL, "a region of no bytes"};
  if ((attributes.access & ~kRights) != 0) return Error{EINVAL, "no right that a key can carry"};
  // Remote writers need the owner's own right to write (C10-11).
  if ((attributes.access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0 &&
      (attributes.access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    return Error{EINVAL, "remote write or atomic access without local write access"};
  }
  return {};
}

Result<Backing> back(std::uint64_t address, const RegionAttributes& attributes) {
  if (address + attributes.length < address) return Error{EINVAL, "address + length wraps"};
  if ((attributes.access & IBV_ACCESS_ON_DEMAND) != 0) {
    return Backing::on_demand(address);
  }
  // The program may unmap it before it deregisters it: UCX does with the receive buffers of a UD
  // queue pair, which datagrams still come to.
  memory::catch_faults();
  Result<std::unique_ptr<memory::PinnedMemory>> pinned = memory::PinnedMemory::pin(
      address, attributes.length, (attributes.access & IBV_ACCESS_LOCAL_WRITE) != 0);
  if (!pinned) return pinned.error();
  return Backing(*std::move(pinned));
}

// Tells the other processes if what they may open has changed while it lived.
class ToldOfExports {
 public:
  ToldOfExports(const RegionTable& regions, Neighbours& neighbours)
      : regions_(regions), neighbours_(neighbours), before_(regions.export_changes()) {}
  ~ToldOfExports() {
    if (regions_.export_changes() != before_) neighbours_.exports_changed();
  }
  ToldOfExports(const ToldOfExports&) = delete;
  ToldOfExports& operator=(const ToldOfExports&) = delete;

 private:
  const RegionTable& regions_;
  Neighbours& neighbours_;
  const std::uint32_t before_;
};

}  // namespace

Result<std::uint32_t> Adapter::register_memory(std::uint64_t address,
                                               const RegionAttributes& attributes) {
  if (Result<void> checked = check_attributes(attributes); !checked) return checked.error();
  Result<Backing> backing = back(address, attributes);
  if (!backing) return backing.error();
  return add_region(*std::move(backing), attributes);
}

Result<std::uint32_t> Adapter::add_region(Backing backing, const RegionAttributes& attributes) {
  const ToldOfExports told(regions_, neighbours_);
  memory::PeerMemoryClient* const client =
      backing.reach == Reach::kServed ? &backing.memory->client() : nullptr;
  Result<std::uint32_t> key = regions_.add(std::move(backing), attributes);
  // Behind it: whoever connects meanwhile sees the region, or is seen.
  if (key && client != nullptr && beyond_ != nullptr) beyond_->serves_memory_of(*client);
  return key;
}

Result<std::uint32_t> Adapter::register_dmabuf(memory::DmaBuf buffer,
                                               const RegionAttributes& attributes) {
  if (Result<void> checked = check_attributes(attributes); !checked) return checked.error();
  Result<std::unique_ptr<memory::PinnedMemory>> memory =
      memory::PinnedMemory::pin_dmabuf(buffer, attributes.length, attributes.iova,
                                       (attributes.access & IBV_ACCESS_LOCAL_WRITE) != 0);
  if (!memory) return memory.error();
  return add_region(Backing(*std::move(memory)), attributes);
}

Result<void> Adapter::deregister(std::uint32_t key) {
  const ToldOfExports told(regions_, neighbours_);
  if (Result<void> known = regions_.invalidate(key); !known) return known.error();
  wait_for_copies();
  regions_.take(key);
  return {};
}

Result<std::uint32_t> Adapter::reregister(std::uint32_t key, const Reregistration& wanted) {
  const RegionAttributes& attributes = wanted.attributes;
  if (Result<void> checked = check_attributes(attributes); !checked) return checked.error();
  if (attributes.iova + attributes.length < attributes.iova) {
    return Error{EINVAL, "iova + length wraps"};
  }
  std::optional<Backing> backing;
  if (wanted.address) {
    Result<Backing> other = back(*wanted.address, attributes);
    if (!other) return other.error();
    backing = *std::move(other);
  }
  const ToldOfExports told(regions_, neighbours_);
  if (Result<void> known = regions_.invalidate(key); !known) return known.error();
  wait_for_copies();
  return regions_.reissue(key, wanted.under_new_key, backing, attributes);
}

// What began before a key became unusable is marked in one of four places: a queue pair's
// responder lock (others' requests against it), its send side, a shared receive queue (XRC requests
// that name it), or this process's service thread.
void Adapter::wait_for_copies() {
  const std::vector<std::shared_ptr<QueuePair>> busy = busy_queue_pairs();
  const auto wait_for_holders = [&] {
    for (const auto& queue_pair : busy) {
      wait_for_present_holder(queue_pair->shared().responder, liveness_);
    }
  };
  wait_for_holders();
  for (const auto& srq : srqs_now()) {
    wait_for_present_holder(srq->shared().consumer, liveness_);
  }
  settle(busy);
  // A send side that had found its memory before may have begun copies that it marks so, too.
  wait_for_holders();
  std::vector<std::shared_ptr<CompletionQueue>> filled;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [index, place] : completion_queues_) {
      if (!place.queue->is_idle()) filled.push_back(place.queue);
    }
  }
  for (const auto& queue : filled) queue->place_carried();
}

void Adapter::settle(std::span<const std::shared_ptr<QueuePair>> queue_pairs) {
  if (is_forked()) return;
  for (const auto& queue_pair : queue_pairs) carrier_->settle(*queue_pair);
  neighbours_.settle();
}

void Adapter::destroy_window(std::uint32_t window) {
  regions_.unbind(window);
  wait_for_copies();
  regions_.remove_window(window);
}

std::vector<CopyInProgress> Adapter::copies_in_progress() {
  std::vector<CopyInProgress> found;
  const std::lock_guard guard(mutex_);
  const auto look_at = [&](const std::shared_ptr<const void>& owner, SharedLock& lock) {
    if (const std::uint64_t holding = present_holding(lock))
      found.push_back({owner, &lock, holding});
  };
  for (const auto& [index, queue_pair] : queue_pairs_) {
    look_at(queue_pair, queue_pair->shared().responder);
  }
  for (const auto& [index, srq] : srqs_) look_at(srq, srq->shared().consumer);
  return found;
}

}  // namespace gdr::rnic
