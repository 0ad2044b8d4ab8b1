#include "peers/slots.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/random.h"
#include "peers/identity.h"
#include "peers/rendezvous.h"
#include "rnic/shared.h"

namespace gdr::peers {
namespace {

// Where this process's slots are, left when it exits. A child of fork has none.
struct Claimed {
  std::mutex mutex;
  pid_t owner = 0;
  std::vector<std::pair<MeetingPlace, std::uint32_t>> slots;
};
Claimed& claimed() {
  static Claimed* const present = new Claimed;
  return *present;
}

void leave_all() {
  const Claimed& present = claimed();
  if (present.owner != getpid()) return;
  for (const auto& [place, slot] : present.slots) place.leave(slot);
}

void leave_at_exit(const MeetingPlace& place, std::uint32_t slot) {
  Claimed& present = claimed();
  const std::lock_guard guard(present.mutex);
  if (present.owner != getpid()) {
    present.slots.clear();
    present.owner = getpid();
  }
  present.slots.emplace_back(place, slot);
  static const int registered = std::atexit(leave_all);
  (void)registered;
}

// Looked for once a second: folders may come and go, and calls may be many.
std::vector<MeetingPlace> places_now() {
  static std::mutex mutex;
  // Never destroyed: threads look for others while the process ends.
  static auto& found = *new std::vector<MeetingPlace>;
  static pid_t finder = 0;  // a child of fork may be in another namespace
  static Nanoseconds found_at = 0;
  // In a child of fork another thread of the parent's may hold it for ever.
  const std::unique_lock guard(mutex, std::try_to_lock);
  if (!guard) return places();
  const Nanoseconds time = coarse_now();
  if (finder != getpid() || time - found_at > kSecond) {
    found = places();
    finder = getpid();
    found_at = time;
  }
  return found;
}

// Whether a process of this user's has that slot in another place than the first.
bool is_held_elsewhere(const std::vector<MeetingPlace>& all, std::size_t own, std::uint32_t slot) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == own) continue;
    const Result<UniqueFd> somebody = all[i].call(slot, 0);
    if (somebody && identify(somebody->get())) return true;
  }
  return false;
}

// The first place that can be had; abstract names always can.
Result<Slot> claim_in(const std::vector<MeetingPlace>& all, std::size_t own, std::uint32_t slot) {
  Result<UniqueFd> listener = all[own].listen_at(slot);
  if (!listener) return listener.error();
  if (is_held_elsewhere(all, own, slot)) {
    all[own].leave(slot);
    return Error{EADDRINUSE, "the slot is held elsewhere"};
  }
  leave_at_exit(all[own], slot);
  return Slot{slot, *std::move(listener)};
}

}  // namespace

Result<Slot> claim_slot() {
  const std::vector<MeetingPlace> all = places_now();
  // From a random place on: a new process should not step into a dead one's slot at once.
  const auto first = static_cast<std::uint32_t>(random_u64() % (rnic::kSlots - 1));
  for (std::size_t place = 0; place < all.size(); ++place) {
    for (std::uint32_t i = 0; i < rnic::kSlots - 1; ++i) {
      Result<Slot> slot = claim_in(all, place, 1 + (first + i) % (rnic::kSlots - 1));
      if (slot) return slot;
      if (slot.error().code == EADDRINUSE) continue;
      // A folder may be on a file system that is full or read-only.
      if (all[place].is_folder() && slot.error().code != EMFILE) break;
      return slot.error();
    }
  }
  return Error{ENOSPC, "1023 processes of this user already use the software NIC"};
}

Result<UniqueFd> connect_slot(std::uint32_t number, Nanoseconds deadline) {
  const std::vector<MeetingPlace> all = places_now();
  for (const MeetingPlace& place : all) {
    // Names that anybody can take are not waited for where there are others.
    const bool waits = place.is_folder() || all.size() == 1;
    Result<UniqueFd> connection = place.call(number, waits ? deadline : 0);
    if (connection && !place.is_folder() && !identify(connection->get())) continue;
    if (connection || (waits && connection.error().code == EAGAIN)) return connection;
    if (connection.error().code == EMFILE || connection.error().code == ENFILE) return connection;
  }
  return Error{ECONNREFUSED, "nobody holds this slot"};
}

void sweep_slots(const std::vector<std::uint32_t>& refused) {
  for (const MeetingPlace& place : places_now()) {
    place.sweep(refused);
    place.sweep_others();
  }
}

std::vector<std::uint32_t> held_slots() {
  std::vector<std::uint32_t> found;
  for (const MeetingPlace& place : places_now()) {
    const std::vector<std::uint32_t> there = place.slots();
    found.insert(found.end(), there.begin(), there.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace gdr::peers
