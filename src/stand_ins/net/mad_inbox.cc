#include "net/mad_inbox.h"

#include <mutex>

namespace gdr::net {

MadInbox::Put MadInbox::put(const ArrivedMad& arrived) {
  const std::lock_guard guard(mutex_);
  if (waiting_.size() == kRoom) return Put::kNoRoom;
  if (!waiting_.has_room_for(arrived.mad.source, kRoom)) return Put::kSourceHasNoRoom;
  waiting_.push(arrived.mad.source, arrived);
  return waiting_.size() == 1 ? Put::kFirst : Put::kBehindOthers;
}

bool MadInbox::take(ArrivedMad* arrived) {
  const std::lock_guard guard(mutex_);
  std::optional<ArrivedMad> next = waiting_.take();
  if (next) *arrived = *next;
  return next.has_value();
}

bool MadInbox::empty() {
  const std::lock_guard guard(mutex_);
  return waiting_.empty();
}

}  // namespace gdr::net
