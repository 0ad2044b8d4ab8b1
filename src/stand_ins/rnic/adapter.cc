#include "rnic/adapter.h"

#include <endian.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "base/environment.h"
#include "base/random.h"
#include "rnic/gids.h"

namespace gdr::rnic {
namespace {

// A name that is relative would name another folder after chdir().
std::string port_folder() {
  const std::string folder = environment(ports::kPortsVariable).value_or("");
  return folder.starts_with('/') ? folder : std::string();
}

// The first index from `from` on, going round at `size`, for which is_free.
template <typename IsFree>
std::optional<std::uint32_t> free_index(std::uint32_t from, std::uint32_t size, IsFree is_free) {
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t at = (from + i) % size;
    if (is_free(at)) return at;
  }
  return std::nullopt;
}

// An index that find() gives for one more object of the table, under its mutex. That of a destroyed
// object is taken for as long as somebody holds on to it, such as the service thread while it looks
// through all of them: that is soon over, and waited for.
template <typename Table, typename Find>
std::optional<std::uint32_t> await_index(std::unique_lock<std::mutex>& guard, const Table& table,
                                         std::size_t most, Find find) {
  constexpr Nanoseconds kNap = 50 * kMicrosecond, kPatience = 200 * kMillisecond;
  std::optional<std::uint32_t> index = find();
  for (Nanoseconds napped = 0; !index && table.size() < most && napped < kPatience;
       napped += kNap) {
    guard.unlock();
    usleep(kNap / kMicrosecond);
    guard.lock();
    index = find();
  }
  return index;
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
  std::unique_lock guard(mutex_);
  const std::optional<std::uint32_t> index =
      await_index(guard, completion_queues_, kCompletionQueues,
                  [this] { return take_completion_queue_index(); });
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

// One that was given back, the last first, so that few pages of the table are touched. One that
// somebody still holds on to lives on in its shared place, and is passed over.
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
  const std::optional<std::uint32_t> index =
      free_index(next_queue_pair_, kQueuePairs,
                 [this](std::uint32_t at) { return at >= 2 && !queue_pairs_.contains(at); });
  if (!index) return Error{ENOMEM, "all queue pairs are in use"};
  auto queue_pair = std::make_shared<QueuePair>(*this, *index, settings);
  if (Result<void> allocated = queue_pair->allocate(); !allocated) return allocated.error();
  queue_pairs_[*index] = queue_pair;
  next_queue_pair_ = *index + 1;
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
  std::unique_lock guard(mutex_);
  const std::optional<std::uint32_t> index = await_index(guard, srqs_, kSrqs, [this] {
    return free_index(next_srq_, kSrqs, [this](std::uint32_t at) {
      return !srqs_.contains(at) && segment_->srq(at).generation.load() == 0;
    });
  });
  if (!index) return Error{ENOMEM, "all shared receive queues are in use"};
  auto srq = std::make_shared<Srq>(*this, *index, settings);
  if (Result<void> allocated = srq->allocate(); !allocated) return allocated.error();
  srqs_[*index] = srq;
  next_srq_ = *index + 1;
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

bool Adapter::is_beyond(std::span<const std::uint8_t, 16> gid) {
  if (beyond_ == nullptr) return false;
  return beyond_->takes_everything() || !is_here(gid);
}

bool Adapter::is_here(std::span<const std::uint8_t, 16> gid) {
  const auto has_it = [&](Segment& segment) { return has_address(segment.header(), gid); };
  return has_it(*segment_) || neighbours_.any_segment(has_it);
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
