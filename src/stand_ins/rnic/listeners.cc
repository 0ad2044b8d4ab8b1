#include "rnic/listeners.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "rnic/gids.h"

namespace gdr::rnic {
namespace {

constexpr std::uint64_t kStateBits = 3;
// With all that have not answered yet, and with a claim: its process may be stopped.
constexpr Nanoseconds kPatienceWithAll = 5 * kSecond, kPatience = 2 * kSecond;
constexpr auto kTick = std::chrono::microseconds(100);
constexpr auto kLookAgain = std::chrono::milliseconds(1);

// A place that is used again must not come back with the number that it had.
std::uint64_t new_stamp(ListenerState state) {
  return (random_u64() & ~kStateBits) | static_cast<std::uint64_t>(state);
}

std::optional<std::uint32_t> device_with(const SegmentHeader& header,
                                         std::span<const std::uint8_t, 16> address) {
  const std::uint32_t count = std::min(read_once(header.device_count), kDevices);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (find_address(header.devices[i], address)) return i;
  }
  return std::nullopt;
}

// An entry is what a place held at one moment; an empty place has none. read_entry() looks again at
// a place that changes meanwhile, because a claim that becomes a listener must not be taken for
// nobody; but it does not look for ever, because the place's owner may write anything.
struct Entry {
  std::uint32_t device;
  std::uint64_t service_id;
  ListenerState state;
};
std::optional<Entry> read_entry(const SharedListener& shared) {
  constexpr int kMostLooks = 100;
  for (int looks = 0; looks < kMostLooks; ++looks) {
    // This load has one order with the stores of claims, so of two processes one sees the other.
    const std::uint64_t stamp = shared.stamp.load();
    if (stamp == 0) return std::nullopt;
    const Entry entry{read_once(shared.device), read_once(shared.service_id),
                      static_cast<ListenerState>(stamp & kStateBits)};
    std::atomic_thread_fence(std::memory_order_acquire);  // the second look comes after the fields
    if (shared.stamp.load(std::memory_order_relaxed) == stamp) return entry;
  }
  return std::nullopt;
}

template <typename Look>
void for_each_listener(Segment& segment, std::span<const std::uint8_t, 16> address, Look look) {
  const SegmentHeader& header = segment.header();
  const auto device = device_with(header, address);
  if (!device) return;
  // This load has one order with the stores of claims, too, as those of their stamps have.
  const std::uint32_t end = std::min(header.listener_end.load(), kListeners);
  for (std::uint32_t i = 0; i < end; ++i) {
    const std::optional<Entry> entry = read_entry(segment.listener(i));
    if (entry && entry->device == *device) look(entry->service_id, entry->state);
  }
}

}  // namespace

ListenerState find_listener(Segment& segment, std::span<const std::uint8_t, 16> address,
                            std::uint64_t service_id) {
  auto best = ListenerState::kNone;
  for_each_listener(segment, address, [&](std::uint64_t id, ListenerState state) {
    if (id == service_id) best = std::max(best, state);
  });
  return best;
}

std::vector<std::uint64_t> listened_for(Segment& segment,
                                        std::span<const std::uint8_t, 16> address) {
  std::vector<std::uint64_t> ids;
  for_each_listener(segment, address, [&](std::uint64_t id, ListenerState state) {
    if (state == ListenerState::kListens) ids.push_back(id);
  });
  return ids;
}

ListenerTable::Own* ListenerTable::own(std::uint32_t device, std::uint64_t service_id) {
  const auto at = std::find_if(own_.begin(), own_.end(), [&](const Own& place) {
    return place.state != ListenerState::kNone && place.listener.device == device &&
           place.listener.service_id == service_id;
  });
  return at != own_.end() ? &*at : nullptr;
}

// Else the place of what has lingered longest.
ListenerTable::Own* ListenerTable::free_place() {
  const auto free = std::find_if(own_.begin(), own_.end(), [](const Own& place) {
    return place.state == ListenerState::kNone;
  });
  if (free != own_.end()) return &*free;
  if (own_.size() < kListeners) return &own_.emplace_back();
  Own* oldest = nullptr;
  for (Own& place : own_) {
    const bool older = oldest == nullptr || place.changed < oldest->changed;
    if (place.state == ListenerState::kLingers && older) oldest = &place;
  }
  return oldest;
}

// Who looks finds the listener in its state before or in that after, never nobody.
void ListenerTable::set(Own& place, const Listener& listener, ListenerState state) {
  const bool is_known = place.state != ListenerState::kNone &&
                        place.listener.device == listener.device &&
                        place.listener.service_id == listener.service_id;
  place = {listener, state, ++changes_};
  const auto index = static_cast<std::uint32_t>(&place - own_.data());
  SharedListener& shared = segment_.listener(index);
  if (state == ListenerState::kNone) return shared.stamp.store(0);
  if (!is_known) {
    shared.stamp.store(0);
    std::atomic_thread_fence(std::memory_order_release);  // the fields come after the 0
    shared.device = listener.device;
    shared.service_id = listener.service_id;
    segment_.header().listener_end.store(static_cast<std::uint32_t>(own_.size()));
  }
  shared.stamp.store(new_stamp(state));
}

ListenerTable::Rival ListenerTable::look_for_rival(const Listener& listener) {
  auto found = Rival::kNone;
  const Token token = segment_.header().token;
  const auto& address =
      segment_.header().devices[listener.device % kDevices].addresses[kOwnAddress];
  neighbours_.any_segment([&](Segment& segment) {
    const ListenerState state = find_listener(segment, address, listener.service_id);
    const bool waits = state == ListenerState::kClaims && read_once(segment.header().token) > token;
    if (waits) found = Rival::kUndecided;
    const bool rival = !waits && state >= ListenerState::kClaims;
    if (rival) found = Rival::kPresent;
    return rival;
  });
  return found;
}

// Whoever has not been met may listen, or claim as well: of two that each met the other only after
// they had looked, both would listen.
void ListenerTable::await_everyone() {
  const Nanoseconds deadline = now() + kPatienceWithAll;
  while (!neighbours_.knows_everyone() && now() < deadline) std::this_thread::sleep_for(kLookAgain);
}

// The lock is not held while others are looked at: they may have to be waited for.
Result<void> ListenerTable::add(const Listener& listener) {
  const Error taken{EADDRINUSE, "somebody listens for this service id on this device"};
  std::unique_lock guard(mutex_);
  Own* place = own(listener.device, listener.service_id);
  if (place != nullptr && place->state != ListenerState::kLingers) return taken;
  if (place == nullptr) place = free_place();
  if (place == nullptr) {
    return Error{ENOMEM, "all " + std::to_string(kListeners) + " listeners are used"};
  }
  set(*place, listener, ListenerState::kClaims);
  const auto index = static_cast<std::size_t>(place - own_.data());
  guard.unlock();
  await_everyone();
  const Nanoseconds deadline = now() + kPatience;
  Rival rival = look_for_rival(listener);
  while (rival == Rival::kUndecided && now() < deadline) {
    std::this_thread::sleep_for(kTick);
    rival = look_for_rival(listener);
  }
  const bool alone = rival == Rival::kNone;
  guard.lock();
  set(own_[index], listener, alone ? ListenerState::kListens : ListenerState::kNone);
  if (!alone) return taken;
  return {};
}

Result<void> ListenerTable::remove(const Listener& listener) {
  const std::lock_guard guard(mutex_);
  Own* place = own(listener.device, listener.service_id);
  if (place == nullptr || place->state != ListenerState::kListens ||
      place->listener.owner != listener.owner) {
    return Error{EINVAL, "it does not listen for this service id"};
  }
  set(*place, listener, ListenerState::kLingers);
  return {};
}

void ListenerTable::remove_all_of(std::uint64_t owner) {
  const std::lock_guard guard(mutex_);
  for (Own& place : own_) {
    if (place.state != ListenerState::kNone && place.listener.owner == owner) {
      set(place, {}, ListenerState::kNone);
    }
  }
}

std::optional<ListenerTable::Found> ListenerTable::find(std::uint32_t device,
                                                        std::uint64_t service_id) {
  const std::lock_guard guard(mutex_);
  const Own* place = own(device, service_id);
  if (place == nullptr || place->state == ListenerState::kClaims) return std::nullopt;
  return Found{place->listener.owner, place->state == ListenerState::kLingers};
}

}  // namespace gdr::rnic
