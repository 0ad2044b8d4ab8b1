#include "net/mad_inbox.h"

#include <mutex>

namespace gdr::net {

MadInbox::Put MadInbox::put(const ArrivedMad& arrived) {
  const std::lock_guard guard(mutex_);
  if (waiting_.size() == kRoom) return Put::kNoRoom;
  std::size_t& of_source = by_source_[arrived.mad.source];
  if (of_source == kRoomOfSource) return Put::kNoRoom;
  ++of_source;
  waiting_.push_back(arrived);
  return waiting_.size() == 1 ? Put::kFirst : Put::kBehindOthers;
}

bool MadInbox::take(ArrivedMad* arrived) {
  const std::lock_guard guard(mutex_);
  if (waiting_.empty()) return false;
  *arrived = waiting_.front();
  waiting_.pop_front();
  const auto source = by_source_.find(arrived->mad.source);
  if (--source->second == 0) by_source_.erase(source);
  return true;
}

bool MadInbox::empty() {
  const std::lock_guard guard(mutex_);
  return waiting_.empty();
}

}  // namespace gdr::net
