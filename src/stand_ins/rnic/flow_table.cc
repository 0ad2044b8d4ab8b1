#include <atomic>
#include <mutex>

#include "base/random.h"
#include "rnic/flow.h"

namespace gdr::rnic {
namespace {

// Readers copy a rule between two looks at its generation, so a reused slot must not come back
// with the number that it had.
std::uint32_t new_generation() {
  const auto number = static_cast<std::uint32_t>(random_u64());
  return number != 0 ? number : 1;
}

}  // namespace

std::optional<FlowRule> read_rule(const SharedFlow& flow) {
  return read_rule(flow, [](const SharedFlow& shared) {
    return FlowRule{shared.device, shared.queue_pair, shared.context,
                    shared.rank,   shared.spread,     shared.match};
  });
}

Result<std::uint32_t> FlowTable::add(const FlowMatch& match, std::uint32_t device,
                                     std::uint32_t queue_pair, std::uint32_t rank,
                                     std::uint32_t context, std::uint64_t spread) {
  if (device >= kDevices || queue_pair >= kQueuePairs) {
    return Error{EINVAL, "flow rule: no such device or queue pair"};
  }
  const std::lock_guard guard(mutex_);
  std::uint32_t index = 0;
  while (index < kFlows && is_used(index)) ++index;
  if (index == kFlows) {
    return Error{ENOMEM, "flow rule: all " + std::to_string(kFlows) + " of this process are used"};
  }
  SharedFlow& flow = segment_.flow(index);
  std::atomic_thread_fence(std::memory_order_release);  // the fields come after generation's 0
  owners_[index] = queue_pair;
  flow.device = device;
  flow.queue_pair = queue_pair;
  flow.context = context;
  flow.rank = rank;
  flow.spread = spread;
  flow.match = match;
  flow.generation.store(new_generation(), std::memory_order_release);

  std::atomic<std::uint32_t>& end = segment_.header().flow_end;
  if (end.load(std::memory_order_relaxed) <= index) {
    end.store(index + 1, std::memory_order_release);
  }
  return index;
}

void FlowTable::remove(std::uint32_t index) {
  if (index >= kFlows) return;
  const std::lock_guard guard(mutex_);
  withdraw(index);
}

void FlowTable::withdraw(std::uint32_t index) {
  owners_[index] = kNobody;
  segment_.flow(index).generation.store(0, std::memory_order_release);
  // Every frame walks the rules up to the end: keep it low. The shared value is not trusted.
  std::uint32_t end = kFlows;
  while (end > 0 && !is_used(end - 1)) --end;
  segment_.header().flow_end.store(end, std::memory_order_release);
}

void FlowTable::remove_all_of(std::uint32_t queue_pair) {
  const std::lock_guard guard(mutex_);
  for (std::uint32_t index = 0; index < kFlows; ++index) {
    if (owners_[index] == queue_pair) withdraw(index);
  }
}

}  // namespace gdr::rnic
