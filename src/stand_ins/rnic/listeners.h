// Listeners: which process takes connection requests for a service id, at each device's address.
//
//   Result<void> added = table.add({.device = 0, .service_id = id, .owner = 7});  // or EADDRINUSE
//   std::optional<ListenerTable::Found> own = table.find(0, id);  // whose it is in this process
//   ListenerState state = find_listener(their_segment, address, id);
//   table.remove({.device = 0, .service_id = id, .owner = 7});
//
// Two processes may ask for one service id at the same time. Each first publishes a claim and then
// looks at the others', so at least one sees the other's. Who sees the claim of a process with a
// lower token gives way; who sees one of a higher token waits until that is decided. For that each
// first meets whoever is there: see Neighbours::knows_everyone.
//
// A removed listener lingers: a request that it had been told of may be repeated, and must come to
// it again and not be refused. It keeps nobody else from listening, and its place is given away
// when places run out.
//
// Threads: any. Cold.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "rnic/neighbours.h"
#include "rnic/segment.h"

namespace gdr::rnic {

enum class ListenerState : std::uint8_t { kNone, kLingers, kClaims, kListens };

struct Listener {
  std::uint32_t device = 0;
  std::uint64_t service_id = 0;
  std::uint64_t owner = 0;  // whose it is within the process; never 0
};

// What the process of that segment does about requests to the address.
ListenerState find_listener(Segment& segment, std::span<const std::uint8_t, 16> address,
                            std::uint64_t service_id);

// The service ids for which it listens there.
std::vector<std::uint64_t> listened_for(Segment& segment,
                                        std::span<const std::uint8_t, 16> address);

class ListenerTable {
 public:
  ListenerTable(Segment& segment, Neighbours& neighbours)
      : segment_(segment), neighbours_(neighbours) {}
  // EADDRINUSE: somebody listens for it. ENOMEM: the table is full.
  Result<void> add(const Listener& listener);
  // EINVAL: it does not listen.
  Result<void> remove(const Listener& listener);
  // Also what lingers.
  void remove_all_of(std::uint64_t owner);
  // Who takes such a request in this process: listens for it, or lingers.
  struct Found {
    std::uint64_t owner;
    bool lingers;
  };
  std::optional<Found> find(std::uint32_t device, std::uint64_t service_id);

  std::mutex& mutex() { return mutex_; }  // around a fork

 private:
  struct Own {
    Listener listener;
    ListenerState state = ListenerState::kNone;
    std::uint64_t changed = 0;  // the lowest has lingered longest
  };
  Own* own(std::uint32_t device, std::uint64_t service_id);
  Own* free_place();
  void set(Own& place, const Listener& listener, ListenerState state);
  void await_everyone();
  enum class Rival { kNone, kUndecided, kPresent };
  Rival look_for_rival(const Listener& listener);

  Segment& segment_;
  Neighbours& neighbours_;
  std::mutex mutex_;
  // By place: what is shared may have been written over. Under mutex_.
  std::vector<Own> own_;
  std::uint64_t changes_ = 0;
};

}  // namespace gdr::rnic
