// MemberSet: some of a run's members. Thousands come and go in each step of a round, so that it is
// a flag for each of them.
//
//   MemberSet waiting(members);
//   waiting.insert(3);
//   if (waiting.erase(3) && waiting.is_empty()) go_on();
#pragma once

#include <cstddef>
#include <vector>

#include "fabric/collector/roster.h"

namespace gdr::fabric {

class MemberSet {
 public:
  explicit MemberSet(std::size_t members) : is_in_(members) {}

  bool is_empty() const { return count_ == 0; }
  bool contains(MemberId member) const { return is_in_[member]; }
  void insert(MemberId member) {
    if (!is_in_[member]) ++count_;
    is_in_[member] = true;
  }
  // Whether it was there.
  bool erase(MemberId member) {
    const bool was_in = is_in_[member];
    if (was_in) --count_;
    is_in_[member] = false;
    return was_in;
  }
  void clear() {
    is_in_.assign(is_in_.size(), false);
    count_ = 0;
  }
  // In their order.
  std::vector<MemberId> all() const {
    std::vector<MemberId> members;
    for (MemberId member = 0; member < is_in_.size(); ++member) {
      if (is_in_[member]) members.push_back(member);
    }
    return members;
  }

 private:
  std::vector<bool> is_in_;
  std::size_t count_ = 0;
};

}  // namespace gdr::fabric
