// Flow rules of raw packet queue pairs: which frames that reach a device go to which queue pair.
//
//   Result<FlowMatch> match = flow_match(*ibv_flow_attr);
//   bool mine = matches(*match, device.mac, frame);
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/spin_lock.h"
#include "rnic/segment.h"

namespace gdr::rnic {

// Turns a verbs flow attribute with its specs (Ethernet, IPv4, IPv6, TCP, UDP; normal, all-default,
// multicast-default and sniffer rules) into a match. EINVAL for a malformed one, EOPNOTSUPP for
// specs and actions that are not served.
Result<FlowMatch> flow_match(const ibv_flow_attr& attributes);

// Default rules come behind every normal one; within a type, the priority decides.
std::uint32_t flow_rank(const ibv_flow_attr& attributes);

// Whether the device's port takes the frame (its MAC, multicast, or a rule for everything) and the
// rule matches it. Any bytes may be passed; short ones do not match.
bool matches(const FlowMatch& match, std::span<const std::uint8_t, 6> device_mac,
             std::span<const std::uint8_t> frame);

// IPv4 and UDP/TCP checksums of a received frame, as the offload flag of a completion reports them:
// IBV_WC_IP_CSUM_OK when every one that is present is right.
bool checksums_right(std::span<const std::uint8_t> frame);
// Fills them in: IBV_SEND_IP_CSUM.
void fill_checksums(std::span<std::uint8_t> frame);

// One rule of a table that its owner may be changing: whole, or nothing. Hot.
struct FlowRule {
  std::uint32_t device, queue_pair, context, rank;
  std::uint64_t spread;
  FlowMatch match;
};
std::optional<FlowRule> read_rule(const SharedFlow& flow);

// The same with a copy of the caller's: so that a test can change the rule in the middle of it.
template <typename Copy>
std::optional<FlowRule> read_rule(const SharedFlow& flow, const Copy& copy) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::uint32_t generation = flow.generation.load(std::memory_order_acquire);
    if (generation == 0) break;
    const FlowRule rule = copy(flow);
    std::atomic_thread_fence(std::memory_order_acquire);  // the second look comes after the copy
    if (flow.generation.load(std::memory_order_relaxed) == generation) return rule;
  }
  return std::nullopt;  // one that is just being made or removed takes no frame
}

class FlowTable {
 public:
  explicit FlowTable(Segment& segment) : segment_(segment) {}
  // The rule's index. ENOMEM when the table is full. `context`, `spread`: see QueuePairSettings.
  Result<std::uint32_t> add(const FlowMatch& match, std::uint32_t device, std::uint32_t queue_pair,
                            std::uint32_t rank, std::uint32_t context = 0,
                            std::uint64_t spread = 0);
  void remove(std::uint32_t index);
  void remove_all_of(std::uint32_t queue_pair);

  SpinLock& mutex() { return mutex_; }  // around a fork

 private:
  static constexpr std::uint32_t kNobody = ~0u;
  void withdraw(std::uint32_t index);  // under mutex_
  bool is_used(std::uint32_t index) const { return owners_[index] != kNobody; }

  Segment& segment_;
  SpinLock mutex_;
  // By rule, its queue pair: what is shared may have been written over. Under mutex_.
  std::vector<std::uint32_t> owners_ = std::vector<std::uint32_t>(kFlows, kNobody);
};

}  // namespace gdr::rnic
