#include "net/mad_inbox.h"

#include <mutex>

namespace gdr::net {

MadInbox::Put MadInbox::put(const ArrivedMad& arrived) {
  const std::lock_guard guard(mutex_);
  if (count_ == kRoom) return Put::kNoRoom;
  std::deque<ArrivedMad>& of_source = by_source_[arrived.mad.source];
  if (of_source.size() == kRoomOfSource) return Put::kSourceHasNoRoom;
  if (of_source.empty()) turns_.push_back(arrived.mad.source);
  of_source.push_back(arrived);
  return ++count_ == 1 ? Put::kFirst : Put::kBehindOthers;
}

bool MadInbox::take(ArrivedMad* arrived) {
  const std::lock_guard guard(mutex_);
  if (count_ == 0) return false;
  const auto source = by_source_.find(turns_.front());
  turns_.pop_front();
  *arrived = source->second.front();
  source->second.pop_front();
  --count_;
  if (source->second.empty()) {
    by_source_.erase(source);
  } else {
    turns_.push_back(source->first);
  }
  return true;
}

bool MadInbox::empty() {
  const std::lock_guard guard(mutex_);
  return count_ == 0;
}

}  // namespace gdr::net
