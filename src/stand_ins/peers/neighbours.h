// Neighbours: what brings this process and the others of its host together: whoever is asked for by
// a slot is met, watched, and has its memory opened; and the device is told of them all.
#pragma once

#include "peers/opener.h"
#include "peers/peers.h"
#include "peers/service_thread.h"
#include "rnic/neighbours.h"

namespace gdr::peers {

// Whether the process that a request goes to can be reached.
enum class Presence {
  kThere,
  kSilent,   // it holds its slot and does not answer: stopped, perhaps
  kLeaving,  // it is dead, and its GPU may still be copying
  kGone,     // nobody holds the slot
};

struct KnownPeer {
  std::shared_ptr<Peer> peer;  // null while `slot` is 0
  std::uint32_t slot = 0;      // whose `peer` is; 0: none found yet
};

class Neighbours final : public rnic::Neighbours {
 public:
  Neighbours(Peers& peers, ServiceThread& service, Opener& opener)
      : peers_(peers), service_(service), opener_(opener) {}
  // Once, before the first call of what follows.
  void start(rnic::Adapter& adapter) { adapter_ = &adapter; }

  void receive_posted(std::uint32_t slot) override;
  bool any_segment(const std::function<bool(rnic::Segment&)>& holds) override;
  bool knows_everyone() override { return peers_.knows_everyone(); }
  void settle() override { service_.settle(); }
  std::uint64_t copies_for_others() override { return service_.copies(); }
  void wake_service() override { service_.ring(); }
  void exports_changed() override;

  // The process in that slot, which a request is for: met now if it is not `known`. Hot where it
  // is.
  Presence find(KnownPeer& known, std::uint32_t slot);
  // Has this process's engine thread look at once. Without a look at the shared flags: another
  // process may have written anything there.
  void wake_engine() { wake_sleeper(adapter_->segment().header()); }
  Peers& peers() { return peers_; }
  Opener& opener() { return opener_; }

 private:
  Presence meet(KnownPeer& known, std::uint32_t slot);

  Peers& peers_;
  ServiceThread& service_;
  Opener& opener_;
  rnic::Adapter* adapter_ = nullptr;
};

inline Presence Neighbours::find(KnownPeer& known, std::uint32_t slot) {
  if (slot == 0) return Presence::kGone;
  if (known.slot == slot) {
    if (known.peer->alive()) return Presence::kThere;
    if (!known.peer->has_ended()) return Presence::kLeaving;  // its slot may be another's already
  }
  return meet(known, slot);
}

}  // namespace gdr::peers
