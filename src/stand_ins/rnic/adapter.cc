#include "rnic/adapter.h"

#include <endian.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/environment.h"
#include "base/random.h"
#include "rnic/gids.h"

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
  Result<std::unique_ptr<memory::PinnedMemory>> pinned = memory::PinnedMemory::pin(
      address, attributes.length, (attributes.access & IBV_ACCESS_LOCAL_WRITE) != 0);
  if (!pinned) return pinned.error();
  return Backing(*std::move(pinned));
}

// A name that is relative would name another folder after chdir().
std::string port_folder() {
  const std::string folder = environment(ports::kPortsVariable).value_or("");
  return folder.starts_with('/') ? folder : std::string();
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

// The first index from `from` on, going round at `size`, for which is_free; `size` when none is.
template <typename IsFree>
std::uint32_t free_index(std::uint32_t from, std::uint32_t size, IsFree is_free) {
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t at = (from + i) % size;
    if (is_free(at)) return at;
  }
  return size;
}

}  // namespace

Result<std::unique_ptr<Adapter>> Adapter::create(Token token,
                                                 std::vector<DeviceConfiguration> devices,
                                                 Neighbours& neighbours, Liveness& liveness) {
  Result<std::unique_ptr<Segment>> segment = Segment::create(token, devices);
  if (!segment) return segment.error();
  return std::unique_ptr<Adapter>(
      new Adapter(token, std::move(devices), *std::move(segment), neighbours, liveness));
}

Adapter::Adapter(Token token, std::vector<DeviceConfiguration> devices,
                 std::unique_ptr<Segment> segment, Neighbours& neighbours, Liveness& liveness)
    : token_(token),
      devices_(std::move(devices)),
      segment_(std::move(segment)),
      port_files_(port_folder()),
      neighbours_(neighbours),
      liveness_(liveness),
      regions_(*segment_),
      flows_(*segment_),
      members_(*segment_),
      listeners_(*segment_, neighbours),
      xrc_domains_(*segment_, token, neighbours),
      next_queue_pair_(static_cast<std::uint32_t>(random_u64() % kQueuePairs)),
      next_srq_(static_cast<std::uint32_t>(random_u64() % kSrqs)),
      held_locks_(token, liveness) {
  ports_.fill(&uncounted_);
  for (std::size_t i = 0; i < devices_.size() && i < ports_.size(); ++i) {
    ports_[i] = &port_files_.port(devices_[i].name, be64toh(devices_[i].guid()));
  }
}

ports::Port& Adapter::port_of(const SharedDevice& device) {
  DeviceConfiguration configuration;
  configuration.name.assign(device.name, strnlen(device.name, sizeof device.name));
  std::copy(std::begin(device.mac), std::end(device.mac), configuration.mac.begin());
  return port_files_.port(configuration.name, be64toh(configuration.guid()));
}

std::uint32_t Adapter::allocate_protection_domain() {
  const std::lock_guard guard(mutex_);
  if (next_domain_ == 0) ++next_domain_;
  return next_domain_++;
}

Result<std::shared_ptr<CompletionQueue>> Adapter::create_completion_queue(
    CompletionQueueSettings settings) {
  const std::lock_guard guard(mutex_);
  const std::optional<std::uint32_t> index = take_completion_queue_index();
  if (!index) return Error{ENOMEM, "all completion queues are in use"};
  Result<std::unique_ptr<CompletionQueue>> queue =
      CompletionQueue::create(*segment_, regions_, *index, std::move(settings), token_, liveness_);
  if (!queue) {
    free_completion_queues_.push_back(*index);
    return queue.error();
  }
  completion_queues_[*index].queue = *std::move(queue);
  return completion_queues_[*index].queue;
}

// One that was given back, the last first, so that few pages of the table are touched. One that a
// queue pair still holds on to lives on in its shared place, and is passed over.
std::optional<std::uint32_t> Adapter::take_completion_queue_index() {
  const auto is_free = [this](std::uint32_t at) {
    return segment_->completion_queue(at).generation.load() == 0;
  };
  const auto place =
      std::find_if(free_completion_queues_.rbegin(), free_completion_queues_.rend(), is_free);
  if (place != free_completion_queues_.rend()) {
    const std::uint32_t index = *place;
    free_completion_queues_.erase(std::next(place).base());
    return index;
  }
  if (next_completion_queue_ == kCompletionQueues) return std::nullopt;
  return next_completion_queue_++;
}

void Adapter::watch_overrun(CompletionQueue& queue, std::shared_ptr<EventQueue> events,
                            void* verbs_object) {
  const std::lock_guard guard(mutex_);
  WatchedQueue& place = completion_queues_[queue.index()];
  place.events = std::move(events);
  place.verbs_object = verbs_object;
}

void Adapter::destroy_completion_queue(CompletionQueue& queue) {
  const std::lock_guard guard(mutex_);
  if (completion_queues_.erase(queue.index()) != 0) {
    free_completion_queues_.push_back(queue.index());
  }
}

Result<std::shared_ptr<QueuePair>> Adapter::create_queue_pair(const QueuePairSettings& settings) {
  const std::lock_guard guard(mutex_);
  // Numbers come round late, so that a stale one does not find a new queue pair.
  const std::uint32_t index = free_index(next_queue_pair_, kQueuePairs, [this](std::uint32_t at) {
    return at >= 2 && !queue_pairs_.contains(at);
  });
  if (index == kQueuePairs) return Error{ENOMEM, "all queue pairs are in use"};
  auto queue_pair = std::make_shared<QueuePair>(*this, index, settings);
  if (Result<void> allocated = queue_pair->allocate(); !allocated) return allocated.error();
  queue_pairs_[index] = queue_pair;
  next_queue_pair_ = index + 1;
  return queue_pair;
}

void Adapter::destroy_queue_pair(QueuePair& queue_pair) {
  if (queue_pair.type() == IBV_QPT_RAW_PACKET) flows_.remove_all_of(queue_pair.index());
  if (queue_pair.type() == IBV_QPT_UD) leave_all(queue_pair);
  queue_pair.destroy();
  regions_.unbind_windows_of_queue_pair(queue_pair.number());
  const std::lock_guard guard(mutex_);
  queue_pairs_.erase(queue_pair.index());
  ++destroyed_queue_pairs_;
}

Result<std::shared_ptr<Srq>> Adapter::create_srq(const SrqSettings& settings) {
  const std::lock_guard guard(mutex_);
  const std::uint32_t index = free_index(next_srq_, kSrqs, [this](std::uint32_t at) {
    return !srqs_.contains(at) && segment_->srq(at).generation.load() == 0;
  });
  if (index == kSrqs) return Error{ENOMEM, "all shared receive queues are in use"};
  auto srq = std::make_shared<Srq>(*this, index, settings);
  if (Result<void> allocated = srq->allocate(); !allocated) return allocated.error();
  srqs_[index] = srq;
  next_srq_ = index + 1;
  return srq;
}

void Adapter::destroy_srq(Srq& srq) {
  srq.close();
  const std::lock_guard guard(mutex_);
  srqs_.erase(srq.index());
}

std::vector<std::shared_ptr<Srq>> Adapter::srqs_now() {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<Srq>> present;
  present.reserve(srqs_.size());
  for (const auto& [index, srq] : srqs_) present.push_back(srq);
  return present;
}

std::shared_ptr<QueuePair> Adapter::queue_pair(std::uint32_t number) {
  const std::lock_guard guard(mutex_);
  const auto place = queue_pairs_.find(index_of_qp(number));
  return slot_of_qp(number) == slot_of(token_) && place != queue_pairs_.end() ? place->second
                                                                              : nullptr;
}

std::vector<std::shared_ptr<QueuePair>> Adapter::queue_pairs_now() {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<QueuePair>> present;
  present.reserve(queue_pairs_.size());
  for (const auto& [index, queue_pair] : queue_pairs_) present.push_back(queue_pair);
  return present;
}

std::vector<std::shared_ptr<CompletionQueue>> Adapter::completion_queues_now() {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<CompletionQueue>> present;
  present.reserve(completion_queues_.size());
  for (const auto& [index, place] : completion_queues_) present.push_back(place.queue);
  return present;
}

Result<std::uint32_t> Adapter::register_memory(std::uint64_t address,
                                               const RegionAttributes& attributes) {
  if (Result<void> checked = check_attributes(attributes); !checked) return checked.error();
  Result<Backing> backing = back(address, attributes);
  if (!backing) return backing.error();
  return add_region(*std::move(backing), attributes);
}

Result<std::uint32_t> Adapter::add_region(Backing backing, const RegionAttributes& attributes) {
  const ToldOfExports told(regions_, neighbours_);
  if (backing.reach == Reach::kServed && beyond_ != nullptr) {
    beyond_->serves_memory_of(backing.memory->client());
  }
  return regions_.add(std::move(backing), attributes);
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

bool Adapter::is_beyond(std::span<const std::uint8_t, 16> gid) {
  if (beyond_ == nullptr) return false;
  return beyond_->takes_everything() || !is_here(gid);
}

bool Adapter::is_here(std::span<const std::uint8_t, 16> gid) {
  const auto has_it = [&](Segment& segment) { return has_address(segment.header(), gid); };
  return has_it(*segment_) || neighbours_.any_segment(has_it);
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

Result<std::uint32_t> Adapter::create_flow(QueuePair& queue_pair, const ibv_flow_attr& attributes) {
  if (queue_pair.type() != IBV_QPT_RAW_PACKET) {
    return Error{EINVAL, "flow rules belong to raw packet queue pairs"};
  }
  Result<FlowMatch> match = flow_match(attributes);
  if (!match) return match.error();
  return flows_.add(*match, queue_pair.settings().device, queue_pair.index(), flow_rank(attributes),
                    queue_pair.settings().context, queue_pair.settings().spread);
}

void Adapter::complete(CompletionQueue& queue, const SharedCompletion& completion) {
  const Push push = queue.push(completion, false);
  // It raises the event.
  if (push == Push::kOverrun || push == Push::kHeld) neighbours_.wake_service();
}

void Adapter::prepare_fork() {
  mutex_.lock();
  regions_.mutex().lock();
  flows_.mutex().lock();
  members_.mutex().lock();
  listeners_.mutex().lock();
  xrc_domains_.mutex().lock();
}

void Adapter::parent_of_fork() {
  xrc_domains_.mutex().unlock();
  listeners_.mutex().unlock();
  members_.mutex().unlock();
  flows_.mutex().unlock();
  regions_.mutex().unlock();
  mutex_.unlock();
}

void Adapter::child_of_fork() {
  forked_.store(true);
  for (const auto& [index, queue_pair] : queue_pairs_) queue_pair->child_of_fork();
  for (const auto& [index, place] : completion_queues_) place.queue->child_of_fork();
  for (const auto& [index, srq] : srqs_) srq->child_of_fork();
  parent_of_fork();
}

// Of many objects few are in use at any moment: only those are counted on to stay.
std::vector<std::shared_ptr<QueuePair>> Adapter::busy_queue_pairs() {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<QueuePair>> busy;
  for (const auto& [index, queue_pair] : queue_pairs_) {
    const bool is_idle = present_holding(queue_pair->shared().responder) == 0 &&
                         (is_forked() || carrier_->is_settled(*queue_pair));
    if (!is_idle) busy.push_back(queue_pair);
  }
  return busy;
}

}  // namespace gdr::rnic
