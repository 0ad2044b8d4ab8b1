// Multicast groups: which of a process's UD queue pairs receive what is sent to a group's GID.
//
//   Result<bool> joined = table.attach(group, queue_pair);   // false: it was a member already
//   for_each_member(segment, [](const Member& member) { ... });
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/spin_lock.h"
#include "rnic/segment.h"

namespace gdr::rnic {

using GroupId = std::array<std::uint8_t, 16>;

// The number that datagrams to a group carry (C10-11).
constexpr std::uint32_t kMulticastQueuePair = 0xff'ffff;

// An IPv6 multicast address, or an IPv4 one in its mapped form (annex A17).
bool is_multicast(const GroupId& gid);

// One entry of a table that its owner may be changing: whole, or nothing.
struct Member {
  std::uint32_t queue_pair;
  GroupId group;
};
std::optional<Member> read_member(const SharedMember& member);

// Those of a process.
template <typename Take>
void for_each_member(Segment& segment, const Take& take) {
  const std::uint32_t end = std::min(segment.header().member_end.load(), kMembers);
  for (std::uint32_t i = 0; i < end; ++i) {
    if (const std::optional<Member> member = read_member(segment.member(i))) take(*member);
  }
}

class MemberTable {
 public:
  explicit MemberTable(Segment& segment) : segment_(segment) {}
  // Whether it is a new member. ENOMEM when the table is full.
  Result<bool> attach(const GroupId& group, std::uint32_t queue_pair);
  // EINVAL for one that is none.
  Result<void> detach(const GroupId& group, std::uint32_t queue_pair);
  // Whether it was one of any.
  bool detach_all_of(std::uint32_t queue_pair);

  SpinLock& mutex() { return mutex_; }  // around a fork

 private:
  std::size_t find(const GroupId& group, std::uint32_t queue_pair) const;  // own_.size(): nowhere
  void withdraw(std::size_t index);

  Segment& segment_;
  SpinLock mutex_;
  // By place: what is shared may have been written over. Under mutex_.
  std::vector<std::optional<Member>> own_;
};

}  // namespace gdr::rnic
