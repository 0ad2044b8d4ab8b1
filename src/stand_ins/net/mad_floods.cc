#include "net/mad_floods.h"

namespace gdr::net {

void MadFloods::add(const wire::Address& source, Nanoseconds time) {
  const std::lock_guard guard(mutex_);
  const bool room = sources_.size() < kMostSources || sources_.contains(source);
  if (room) {
    sources_[source] = time;
  } else {
    all_until_ = time + kKept;
  }
}

void MadFloods::add_all(Nanoseconds time) {
  const std::lock_guard guard(mutex_);
  all_until_ = time + kKept;
}

ThinnedMads MadFloods::present(Nanoseconds time) {
  const std::lock_guard guard(mutex_);
  std::erase_if(sources_, [&](const auto& known) { return time - known.second > kKept; });
  ThinnedMads thinned;
  thinned.all = time < all_until_;
  for (const auto& known : sources_) thinned.sources.push_back(known.first);
  return thinned;
}

}  // namespace gdr::net
