#include "proof/hosts/grants.h"

#include "proof/lane.h"
#include "proof/plan.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kMostOfOne = kLargestSize + kLargestOffset + 2 * kGuard;
constexpr std::uint64_t kMostOfAll = 3 * kMostOfOne;
constexpr std::size_t kMostBuffers = 8;
constexpr int kMostQueues = 4;
constexpr std::uint32_t kMostMilliseconds = 6'000;  // a proof waits 5 s for one
constexpr std::uint16_t kPrivatePorts = 49152;      // RFC 6335

}  // namespace

Result<void> Grants::permit(const CreateBuffer& request) const {
  std::uint64_t all = request.size;
  for (const auto& [id, size] : buffers_) all += size;
  const bool is_known = request.memory == MemoryKind::kHost ||
                        request.memory == MemoryKind::kDevice ||
                        request.memory == MemoryKind::kDeviceVmm;
  if (!is_known) return Error{EINVAL, "unknown kind of memory"};
  if (request.size > kMostOfOne || all > kMostOfAll || buffers_.size() >= kMostBuffers) {
    return Error{EDQUOT, "the server grants no more memory to one client"};
  }
  return {};
}

Result<void> Grants::permit(const CreateQueue& request) const {
  if (request.kind > QueueKind::kRaw) return Error{EINVAL, "unknown kind of queue pair"};
  if (queues_ >= kMostQueues) {
    return Error{EDQUOT, "the server grants no more queue pairs to one client"};
  }
  return {};
}

Result<void> Grants::permit(const Steer& request) const {
  const bool own = opened_.has_mac && opened_.ipv4 != 0 && request.mac == opened_.mac &&
                   request.ipv4 == opened_.ipv4;
  if (own && request.udp_port >= kPrivatePorts) return {};
  return Error{EPERM, "the server takes no frames that are for somebody else"};
}

Result<void> Grants::permit(const AwaitReceive& request) const {
  if (request.milliseconds <= kMostMilliseconds) return {};
  return Error{EINVAL, "the server waits no longer than 6 s for a message"};
}

void Grants::note(const CreateBuffer& request, const CreateBuffer::Reply& reply) {
  if (reply.stage == RegistrationStage::kDone) buffers_[reply.buffer] = request.size;
}

void Grants::note(const DestroyBuffer& request, const Nothing&) { buffers_.erase(request.buffer); }

}  // namespace gdr::proof
