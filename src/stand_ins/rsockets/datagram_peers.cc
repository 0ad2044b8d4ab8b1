#include "rsockets/datagram_peers.h"

namespace gdr::rsockets {

DatagramPeer* DatagramPeers::find(const Name& name) {
  const auto found = found_.find(name);
  if (found == found_.end()) return nullptr;
  all_.splice(all_.begin(), all_, found->second);
  return &all_.front();
}

DatagramPeer& DatagramPeers::at(const Name& name) {
  if (DatagramPeer* known = find(name)) return *known;
  if (found_.size() >= most_) {
    found_.erase(all_.back().name);
    all_.pop_back();
  }
  all_.emplace_front().name = name;
  try {
    found_.emplace(name, all_.begin());
  } catch (...) {
    all_.pop_front();
    throw;
  }
  return all_.front();
}

}  // namespace gdr::rsockets
