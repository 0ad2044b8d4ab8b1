#include "rnic/multicast.h"

#include <algorithm>
#include <mutex>

#include "base/random.h"
#include "rnic/adapter.h"

namespace gdr::rnic {
namespace {

// As for flow rules: a place that is used again must not come back with the number that it had.
std::uint32_t new_generation() {
  const auto number = static_cast<std::uint32_t>(random_u64());
  return number != 0 ? number : 1;
}

}  // namespace

bool is_multicast(const GroupId& gid) {
  if (gid[0] == 0xff) return true;
  const bool mapped =
      std::all_of(gid.begin(), gid.begin() + 10, [](auto byte) { return byte == 0; }) &&
      gid[10] == 0xff && gid[11] == 0xff;
  return mapped && (gid[12] & 0xf0) == 0xe0;
}

std::optional<Member> read_member(const SharedMember& member) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::uint32_t generation = member.generation.load(std::memory_order_acquire);
    if (generation == 0) break;
    Member copy{read_once(member.queue_pair), {}};
    std::copy(std::begin(member.group), std::end(member.group), copy.group.begin());
    std::atomic_thread_fence(std::memory_order_acquire);  // the second look comes after the copy
    if (member.generation.load(std::memory_order_relaxed) == generation) return copy;
  }
  return std::nullopt;  // one that is just joining or leaving takes no datagram
}

std::size_t MemberTable::find(const GroupId& group, std::uint32_t queue_pair) const {
  const auto at = std::find_if(own_.begin(), own_.end(), [&](const std::optional<Member>& member) {
    return member && member->queue_pair == queue_pair && member->group == group;
  });
  return static_cast<std::size_t>(at - own_.begin());
}

Result<bool> MemberTable::attach(const GroupId& group, std::uint32_t queue_pair) {
  const std::lock_guard guard(mutex_);
  if (find(group, queue_pair) < own_.size()) return false;
  const auto free = std::find(own_.begin(), own_.end(), std::nullopt);
  const auto index = static_cast<std::uint32_t>(free - own_.begin());
  if (index == kMembers) {
    return Error{ENOMEM, "multicast: all " + std::to_string(kMembers) + " memberships are used"};
  }
  if (index == own_.size()) own_.emplace_back();
  own_[index] = Member{queue_pair, group};
  SharedMember& shared = segment_.member(index);
  std::atomic_thread_fence(std::memory_order_release);  // the fields come after generation's 0
  shared.queue_pair = queue_pair;
  std::copy(group.begin(), group.end(), std::begin(shared.group));
  shared.generation.store(new_generation(), std::memory_order_release);
  segment_.header().member_end.store(static_cast<std::uint32_t>(own_.size()),
                                     std::memory_order_release);
  return true;
}

Result<void> MemberTable::detach(const GroupId& group, std::uint32_t queue_pair) {
  const std::lock_guard guard(mutex_);
  const std::size_t index = find(group, queue_pair);
  if (index == own_.size()) return Error{EINVAL, "multicast: the queue pair is not a member"};
  withdraw(index);
  return {};
}

void MemberTable::withdraw(std::size_t index) {
  own_[index].reset();
  segment_.member(static_cast<std::uint32_t>(index)).generation.store(0, std::memory_order_release);
  while (!own_.empty() && !own_.back()) own_.pop_back();
  segment_.header().member_end.store(static_cast<std::uint32_t>(own_.size()),
                                     std::memory_order_release);
}

bool MemberTable::detach_all_of(std::uint32_t queue_pair) {
  const std::lock_guard guard(mutex_);
  bool any = false;
  for (std::size_t i = own_.size(); i-- > 0;) {
    if (i >= own_.size() || !own_[i] || own_[i]->queue_pair != queue_pair) continue;
    withdraw(i);
    any = true;
  }
  return any;
}

Result<bool> Adapter::join(const GroupId& group, QueuePair& queue_pair) {
  Result<bool> joined = members_.attach(group, queue_pair.index());
  if (joined && *joined && beyond_ != nullptr) beyond_->groups_changed();
  return joined;
}

Result<void> Adapter::leave(const GroupId& group, QueuePair& queue_pair) {
  Result<void> left = members_.detach(group, queue_pair.index());
  if (left && beyond_ != nullptr) beyond_->groups_changed();
  return left;
}

void Adapter::leave_all(QueuePair& queue_pair) {
  if (members_.detach_all_of(queue_pair.index()) && beyond_ != nullptr) beyond_->groups_changed();
}

}  // namespace gdr::rnic
