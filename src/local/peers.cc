#include "local/peers.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "local/slots.h"

namespace gdr::local {

void Peers::meet_everyone() {
  for (std::uint32_t slot = 1; slot < rnic::kSlots; ++slot) {
    if (slot != rnic::slot_of(self_)) (void)call(slot);
  }
}

std::shared_ptr<Peer> Peers::known(std::uint32_t slot) const {
  const std::shared_lock guard(mutex_);
  const auto entry = by_slot_.find(slot);
  return entry == by_slot_.end() ? nullptr : entry->second;
}

Result<std::shared_ptr<Peer>> Peers::find(std::uint32_t slot) {
  if (std::shared_ptr<Peer> peer = known(slot); peer != nullptr && peer->check_alive()) return peer;
  Result<std::shared_ptr<Peer>> peer = call(slot);
  if (!peer && is_leaving(slot)) return Error{EBUSY, "a process has not ended yet"};
  return peer;
}

bool Peers::is_leaving(std::uint32_t slot) const {
  const auto leaves = [&](const std::shared_ptr<Peer>& peer) {
    return rnic::slot_of(peer->token()) == slot && !peer->check_alive() && !peer->has_ended();
  };
  const std::shared_lock guard(mutex_);
  const auto entry = by_slot_.find(slot);
  return (entry != by_slot_.end() && leaves(entry->second)) ||
         std::any_of(leaving_.begin(), leaving_.end(), leaves);
}

std::shared_ptr<Peer> Peers::with(rnic::Token token) const {
  const std::shared_lock guard(mutex_);
  const auto entry = by_slot_.find(rnic::slot_of(token));
  if (entry != by_slot_.end() && entry->second->token() == token) return entry->second;
  const auto left = std::find_if(leaving_.begin(), leaving_.end(),
                                 [&](const auto& peer) { return peer->token() == token; });
  return left != leaving_.end() ? *left : nullptr;
}

std::vector<std::shared_ptr<Peer>> Peers::everyone() const {
  const std::shared_lock guard(mutex_);
  std::vector<std::shared_ptr<Peer>> all;
  all.reserve(by_slot_.size());
  for (const auto& [slot, peer] : by_slot_) all.push_back(peer);
  return all;
}

std::vector<std::shared_ptr<Peer>> Peers::everyone_by_now() {
  const auto nobody_is_late = [this] {
    const std::shared_lock guard(mutex_);
    return unanswered_.empty();
  };
  if (!nobody_is_late()) {
    std::unordered_multimap<std::uint32_t, UniqueFd> late;
    {
      const std::lock_guard guard(mutex_);
      late.swap(unanswered_);
    }
    // Who is still silent goes back into the list.
    for (auto& [slot, connection] : late) (void)hear(slot, std::move(connection), Wait::kNo);
  }
  return everyone();
}

// A connection over which this process has said who it is.
Result<UniqueFd> Peers::introduce_to(std::uint32_t slot) {
  Result<UniqueFd> connection = connect_slot(slot);
  if (!connection) return connection.error();
  if (Result<void> sent = send_introduction(connection->get(), self_, segment_, doorbell_); !sent) {
    return sent.error();
  }
  return connection;
}

Result<std::shared_ptr<Peer>> Peers::call(std::uint32_t slot) {
  while (std::optional<UniqueFd> earlier = take_unanswered(slot)) {
    Result<std::shared_ptr<Peer>> peer = hear(slot, *std::move(earlier), Wait::kNo);
    if (peer || peer.error().code != ECONNRESET) return peer;
    // Whom it called is gone; somebody else may be there now.
  }
  Result<UniqueFd> connection = introduce_to(slot);
  if (!connection) return connection.error();
  return hear(slot, *std::move(connection), Wait::kSocketsTime);
}

std::optional<UniqueFd> Peers::take_unanswered(std::uint32_t slot) {
  const std::lock_guard guard(mutex_);
  const auto entry = unanswered_.find(slot);
  if (entry == unanswered_.end()) return std::nullopt;
  return std::move(unanswered_.extract(entry).mapped());
}

// What the other side of a call says of itself.
Result<std::shared_ptr<Peer>> Peers::hear(std::uint32_t slot, UniqueFd connection, Wait wait) {
  Result<int> pid = same_user_peer(connection.get());
  if (!pid) return pid.error();
  Result<Introduction> theirs = receive_introduction(connection.get(), wait);
  if (!theirs) {
    if (theirs.error().code != ECONNRESET) {
      const std::lock_guard guard(mutex_);
      unanswered_.emplace(slot, std::move(connection));
    }
    return theirs.error();
  }
  if (rnic::slot_of(theirs->token) != slot) return Error{EPROTO, "a slot answered for another"};
  std::shared_ptr<Peer> peer = adopt(*pid, *std::move(theirs), std::move(connection));
  if (peer == nullptr) return Error{EPROTO, "a process could not be met"};
  return peer;
}

std::shared_ptr<Peer> Peers::answer(UniqueFd connection) {
  Result<int> pid = same_user_peer(connection.get());
  if (!pid) return nullptr;
  Result<Introduction> theirs = receive_introduction(connection.get());
  if (!theirs) return nullptr;
  // Known before it is answered: the caller may hold a lock here as soon as it has the answer, and
  // whoever waits for that lock asks whether its holder lives.
  const int descriptor = connection.get();
  std::shared_ptr<Peer> peer = adopt(*pid, *std::move(theirs), std::move(connection));
  if (peer == nullptr || !send_introduction(descriptor, self_, segment_, doorbell_)) return nullptr;
  return peer;
}

std::shared_ptr<Peer> Peers::adopt(int pid, Introduction introduction, UniqueFd connection) {
  const std::uint32_t slot = rnic::slot_of(introduction.token);
  {
    const std::shared_lock guard(mutex_);
    const auto entry = by_slot_.find(slot);
    if (entry != by_slot_.end() && entry->second->token() == introduction.token &&
        entry->second->check_alive()) {
      entry->second->keep(std::move(connection));
      return entry->second;
    }
  }
  const rnic::Token token = introduction.token;
  Result<std::shared_ptr<Peer>> peer =
      Peer::meet(pid, std::move(introduction), std::move(connection));
  if (!peer) return nullptr;
  const std::lock_guard guard(mutex_);
  std::shared_ptr<Peer>& entry = by_slot_[slot];
  // Two threads may have met it at once. Closing the second connection would look like this
  // process's death to the other side, so the first peer takes it over.
  if (entry != nullptr && entry->token() == token && entry->check_alive()) {
    entry->take_connections(**peer);
  } else {
    if (entry != nullptr) entry->foreign_memory().let_go();
    if (entry != nullptr && !entry->has_ended()) leaving_.push_back(std::move(entry));
    entry = *peer;
  }
  return entry;
}

void Peers::forget_dead() {
  std::vector<std::shared_ptr<Peer>> ended;  // unmapped after the lock is released
  const std::lock_guard guard(mutex_);
  for (auto entry = by_slot_.begin(); entry != by_slot_.end();) {
    if (entry->second->check_alive()) {
      ++entry;
    } else {
      entry->second->foreign_memory().let_go();
      leaving_.push_back(std::move(entry->second));
      entry = by_slot_.erase(entry);
    }
  }
  std::erase_if(leaving_, [&](std::shared_ptr<Peer>& peer) {
    if (!peer->has_ended()) return false;
    ended.push_back(std::move(peer));
    return true;
  });
}

bool Peers::somebody_has_ended() const {
  const std::shared_lock guard(mutex_);
  return std::any_of(leaving_.begin(), leaving_.end(),
                     [](const auto& peer) { return peer->has_ended(); });
}

bool Peers::alive(rnic::Token token) {
  if (token == self_) return true;
  const std::shared_ptr<Peer> peer = with(token);
  return peer != nullptr ? !peer->has_ended() : has_threads(token);
}

bool Peers::has_threads(rnic::Token token) {
  if (token == self_) return true;
  const std::uint32_t slot = rnic::slot_of(token);
  if (slot == rnic::slot_of(self_)) return false;  // who had this slot before
  if (const std::shared_ptr<Peer> peer = with(token)) return peer->check_alive();
  // A slot has one holder: whoever else is said to hold it is gone, and need not be called.
  if (const std::shared_ptr<Peer> peer = known(slot); peer != nullptr && peer->check_alive()) {
    return false;
  }
  Result<std::shared_ptr<Peer>> peer = call(slot);
  if (peer) return (*peer)->token() == token;
  // Only a slot that nobody holds proves that its former holder is gone.
  return peer.error().code != ECONNREFUSED;
}

void Peers::child_of_fork() {
  for (auto& [slot, peer] : by_slot_) peer->close_in_child();
  for (const std::shared_ptr<Peer>& peer : leaving_) peer->close_in_child();
  unanswered_.clear();
  // The thread that took it has another number here, and may not release it.
  new (&mutex_) std::shared_mutex;
}

}  // namespace gdr::local
