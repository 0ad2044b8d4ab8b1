#include "peers/neighbours.h"

#include <algorithm>
#include <cerrno>

namespace gdr::peers {

void Neighbours::receive_posted(std::uint32_t slot) {
  if (slot == rnic::slot_of(peers_.self())) {
    wake_engine();
  } else if (const std::shared_ptr<Peer> peer = peers_.known(slot)) {
    peer->wake_engine();
  }
}

bool Neighbours::any_segment(const std::function<bool(rnic::Segment&)>& holds) {
  const std::vector<std::shared_ptr<Peer>> others = peers_.everyone_by_now();
  return std::any_of(others.begin(), others.end(), [&](const std::shared_ptr<Peer>& peer) {
    return peer->check_alive() && holds(peer->segment());
  });
}

void Neighbours::exports_changed() {
  for (const std::shared_ptr<Peer>& peer : peers_.everyone()) peer->tell_of_exports();
  opener_.try_again();
}

Presence Neighbours::meet(KnownPeer& known, std::uint32_t slot) {
  known = {};
  Result<std::shared_ptr<Peer>> peer = peers_.find(slot);
  if (!peer) {
    switch (peer.error().code) {
      case EAGAIN:
        return Presence::kSilent;
      case EBUSY:
        return Presence::kLeaving;
      default:
        return Presence::kGone;
    }
  }
  known.slot = slot;
  known.peer = *std::move(peer);
  known.peer->set_connected_to();
  opener_.look();
  return Presence::kThere;
}

}  // namespace gdr::peers
