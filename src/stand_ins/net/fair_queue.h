// FairQueue: what waits to be looked at, by where it came from. Sources take turns, so that one
// that floods delays the others' by one of its own each time; what one source sends keeps its
// order.
//
//   FairQueue<Mad> queue;
//   if (queue.has_room_for(source, kRoom)) queue.push(source, mad);
//   while (std::optional<Mad> mad = queue.take()) ...
//
// No lock of its own, no bound: both are its owner's.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "base/fair_share.h"
#include "wire/icrc.h"

namespace gdr::net {

template <typename T>
class FairQueue {
 public:
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::size_t size_of(const wire::Address& source) const {
    const auto found = by_source_.find(source);
    return found == by_source_.end() ? 0 : found->second.size();
  }
  // For one more, in a queue that is to hold `room` at most.
  bool has_room_for(const wire::Address& source, std::size_t room) const {
    return has_fair_share_left(size_of(source), count_, room);
  }

  void push(const wire::Address& source, T what) {
    std::deque<T>& of_source = by_source_[source];
    if (of_source.empty()) turns_.push_back(source);
    of_source.push_back(std::move(what));
    ++count_;
  }

  std::optional<T> take() {
    if (count_ == 0) return std::nullopt;
    const auto source = by_source_.find(turns_.front());
    turns_.pop_front();
    std::optional<T> taken(std::move(source->second.front()));
    source->second.pop_front();
    --count_;
    if (source->second.empty()) {
      by_source_.erase(source);
    } else {
      turns_.push_back(source->first);
    }
    return taken;
  }

  template <typename Condition>
  void erase_if(const Condition& condition) {
    for (auto& [source, waiting] : by_source_) count_ -= std::erase_if(waiting, condition);
    std::erase_if(by_source_, [](const auto& entry) { return entry.second.empty(); });
    std::erase_if(turns_, [&](const auto& source) { return !by_source_.contains(source); });
  }

 private:
  std::size_t count_ = 0;
  std::map<wire::Address, std::deque<T>> by_source_;  // none is empty
  std::deque<wire::Address> turns_;                   // each of them once
};

}  // namespace gdr::net
