#include "peers/peers.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "peers/slots.h"

namespace gdr::peers {

namespace {

// Callers that have not shown themselves: more are sent away.
constexpr std::ptrdiff_t kMostCallers = 256;
// So long a caller may take to prove itself. One that was stopped meanwhile calls again.
constexpr Nanoseconds kCallerPatience = 5 * kSecond;

void wait_for(std::vector<pollfd>& connections, Nanoseconds deadline) {
  const Nanoseconds time = now();
  if (time >= deadline) return;
  const Nanoseconds left = (deadline - time + kMillisecond - 1) / kMillisecond;
  poll(connections.data(), connections.size(), static_cast<int>(left));
}

}  // namespace

void Peers::show(rnic::Segment& segment) {
  own_.segment = segment.descriptor();
  own_.secret = segment.secret();
  set_epoch(segment.header().epoch);
}

// All calls first, and then all answers, so that however many are silent they are waited for once.
void Peers::meet_everyone() {
  const Nanoseconds deadline = now() + kAnswerPatience;
  std::vector<Meeting> open;
  std::vector<std::uint32_t> refused;
  for (const std::uint32_t slot : held_slots()) {
    if (slot == rnic::slot_of(self_)) continue;
    Result<Meeting> meeting = begin(slot, deadline);
    if (!meeting && meeting.error().code == ECONNREFUSED) refused.push_back(slot);
    if (meeting) open.push_back(*std::move(meeting));
  }
  sweep_slots(refused);
  // To call them may have taken long where the processors are busy.
  const Nanoseconds last = now() + kAnswerPatience;
  while (!open.empty() && now() < last) {
    std::vector<pollfd> connections;
    for (const Meeting& meeting : open) {
      connections.push_back({meeting.handshake.connection(), POLLIN, 0});
    }
    wait_for(connections, last);
    std::erase_if(open, [this](Meeting& meeting) {
      const Result<std::shared_ptr<Peer>> met = go_on(meeting);
      return !met || *met != nullptr;
    });
  }
  for (Meeting& meeting : open) keep_waiting(std::move(meeting));
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
  std::vector<Meeting> late;
  {
    const std::lock_guard guard(mutex_);
    late.swap(waiting_);
  }
  // Who is still silent goes back into the list.
  for (Meeting& meeting : late) (void)hear(std::move(meeting), 0);
  return everyone();
}

bool Peers::knows_everyone() {
  (void)everyone_by_now();
  bool all = true;
  for (const std::uint32_t slot : held_slots()) {
    if (slot != rnic::slot_of(self_) && !is_settled(slot)) all = false;
  }
  return all;
}

bool Peers::is_settled(std::uint32_t slot) {
  if (const std::shared_ptr<Peer> peer = known(slot); peer != nullptr && peer->check_alive()) {
    return true;
  }
  {
    const std::shared_lock guard(mutex_);
    const auto called = std::find_if(waiting_.begin(), waiting_.end(),
                                     [&](const Meeting& meeting) { return meeting.slot == slot; });
    if (called != waiting_.end()) return now() - called->waits_since >= kSilencePatience;
  }
  Result<Meeting> meeting = begin(slot, 0);
  if (!meeting) return meeting.error().code != EAGAIN;  // EAGAIN: too many are calling it
  const Result<std::shared_ptr<Peer>> peer = hear(*std::move(meeting), 0);
  return peer || peer.error().code != EAGAIN;
}

Result<Peers::Meeting> Peers::begin(std::uint32_t slot, Nanoseconds deadline) {
  Result<UniqueFd> connection = connect_slot(slot, deadline);
  if (!connection) return connection.error();
  Result<Handshake> handshake = Handshake::call(*std::move(connection), own_);
  if (!handshake) return handshake.error();
  return Meeting{slot, *std::move(handshake)};
}

Result<std::shared_ptr<Peer>> Peers::call(std::uint32_t slot) {
  while (std::optional<Meeting> earlier = take_waiting(slot)) {
    Result<std::shared_ptr<Peer>> peer = hear(*std::move(earlier), 0);
    if (peer || peer.error().code != ECONNRESET) return peer;
    // Whom it called is gone; somebody else may be there now.
  }
  const Nanoseconds deadline = now() + kAnswerPatience;
  Result<Meeting> meeting = begin(slot, deadline);
  if (!meeting) return meeting.error();
  return hear(*std::move(meeting), deadline);
}

std::optional<Peers::Meeting> Peers::take_waiting(std::uint32_t slot) {
  const std::lock_guard guard(mutex_);
  const auto entry = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Meeting& meeting) { return meeting.slot == slot; });
  if (entry == waiting_.end()) return std::nullopt;
  Meeting found = std::move(*entry);
  waiting_.erase(entry);
  return found;
}

// It is watched under the lock: whoever takes the meeting from then on may close its connection.
void Peers::keep_waiting(Meeting meeting) {
  const std::lock_guard guard(mutex_);
  waiting_.push_back(std::move(meeting));
  if (watch_) watch_(waiting_.back().handshake.connection());
}

Result<std::shared_ptr<Peer>> Peers::go_on(Meeting& meeting) {
  const bool had_heard = meeting.handshake.has_heard();
  const Result<bool> done = meeting.handshake.go_on();
  if (!done) return done.error();
  if (meeting.handshake.has_heard() != had_heard) meeting.waits_since = now();
  if (!*done) return std::shared_ptr<Peer>();
  return finish(meeting);
}

// What the other side says of itself is here.
Result<std::shared_ptr<Peer>> Peers::finish(Meeting& meeting) {
  Introduction theirs = meeting.handshake.take_introduction();
  if (meeting.slot != 0 && rnic::slot_of(theirs.token) != meeting.slot) {
    return Error{EPROTO, "a slot answered for another"};
  }
  // Known before it is shown this process's segment: the caller may hold a lock here as soon as it
  // has that, and whoever waits for that lock asks whether its holder lives.
  Handshake& handshake = meeting.handshake;
  const int connection = handshake.connection();
  std::shared_ptr<Peer> peer =
      adopt(handshake.take_identity(), std::move(theirs), handshake.take_connection());
  if (peer == nullptr) return Error{EPROTO, "a process could not be met"};
  if (meeting.slot == 0) {
    if (Result<void> shown = handshake.show_too(connection); !shown) return shown.error();
  }
  return peer;
}

// EAGAIN: it has not answered before `deadline`, and is kept.
Result<std::shared_ptr<Peer>> Peers::hear(Meeting meeting, Nanoseconds deadline) {
  while (true) {
    Result<std::shared_ptr<Peer>> peer = go_on(meeting);
    if (!peer || *peer != nullptr) return peer;
    if (now() >= deadline) break;
    std::vector<pollfd> connection{{meeting.handshake.connection(), POLLIN, 0}};
    wait_for(connection, deadline);
  }
  keep_waiting(std::move(meeting));
  return Error{EAGAIN, "a process has not answered yet"};
}

void Peers::answer(UniqueFd connection) {
  Result<Handshake> handshake = Handshake::answer(std::move(connection), own_);
  if (!handshake) return;
  {
    const std::lock_guard guard(mutex_);
    const Nanoseconds latest = now() - kCallerPatience;
    std::erase_if(waiting_, [&](const Meeting& meeting) {
      return meeting.slot == 0 && meeting.began < latest;
    });
    const auto callers = std::count_if(waiting_.begin(), waiting_.end(),
                                       [](const Meeting& meeting) { return meeting.slot == 0; });
    if (callers >= kMostCallers) return;
  }
  keep_waiting({0, *std::move(handshake)});
}

std::shared_ptr<Peer> Peers::go_on_meeting(int connection) {
  std::optional<Meeting> meeting;
  {
    const std::lock_guard guard(mutex_);
    const auto entry = std::find_if(waiting_.begin(), waiting_.end(), [&](const Meeting& one) {
      return one.handshake.connection() == connection;
    });
    if (entry == waiting_.end()) return nullptr;
    meeting = std::move(*entry);
    waiting_.erase(entry);
  }
  Result<std::shared_ptr<Peer>> peer = go_on(*meeting);
  if (!peer) return nullptr;
  if (*peer == nullptr) keep_waiting(*std::move(meeting));
  return *peer;
}

std::shared_ptr<Peer> Peers::adopt(Identity identity, Introduction introduction,
                                   UniqueFd connection) {
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
      Peer::meet(std::move(identity), std::move(introduction), std::move(connection));
  if (!peer) return nullptr;
  {
    const std::lock_guard guard(mutex_);
    std::shared_ptr<Peer>& entry = by_slot_[slot];
    // Two threads may have met it at once. Closing the second connection would look like this
    // process's death to the other side, so the first peer takes it over.
    if (entry != nullptr && entry->token() == token && entry->check_alive()) {
      entry->take_connections(**peer);
      return entry;
    }
    if (entry != nullptr) entry->foreign_memory().let_go();
    if (entry != nullptr && !entry->has_ended()) leaving_.push_back(std::move(entry));
    entry = *peer;
  }
  if (tell_) tell_(**peer);
  return *std::move(peer);
}

std::vector<std::uint32_t> Peers::forget_dead() {
  std::vector<std::uint32_t> slots;
  std::vector<std::shared_ptr<Peer>> ended;  // unmapped after the lock is released
  const std::lock_guard guard(mutex_);
  for (auto entry = by_slot_.begin(); entry != by_slot_.end();) {
    if (entry->second->check_alive()) {
      ++entry;
    } else {
      entry->second->foreign_memory().let_go();
      slots.push_back(entry->first);
      leaving_.push_back(std::move(entry->second));
      entry = by_slot_.erase(entry);
    }
  }
  std::erase_if(leaving_, [&](std::shared_ptr<Peer>& peer) {
    if (!peer->has_ended()) return false;
    ended.push_back(std::move(peer));
    return true;
  });
  return slots;
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

bool Peers::cut_off(rnic::Token token, rnic::HeldFor purpose, Nanoseconds waited) {
  if (const std::shared_ptr<Peer> peer = with(token)) return peer->cut_off(purpose, waited);
  // This process itself, or one that was never met.
  const bool by_gpu = copies_by_gpu_.load(std::memory_order_relaxed);
  return holds_no_more(own_activity_, purpose, waited, by_gpu && purpose == rnic::HeldFor::kCopies,
                       token == self_);
}

bool Peers::has_threads(rnic::Token token) {
  if (token == self_) return true;
  const std::uint32_t slot = rnic::slot_of(token);
  if (slot == 0) return false;
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
  waiting_.clear();
  // The thread that took it has another number here, and may not release it.
  new (&mutex_) std::shared_mutex;
}

}  // namespace gdr::peers
