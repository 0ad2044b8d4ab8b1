// DatagramPeers: with whom a datagram socket talks, and how each is reached. Anybody can make us
// know him by one UDP packet, so there is a limit: who was not heard of for longest is forgotten,
// and has to announce his queue pair again. No I/O.
//
//   DatagramPeers peers(1024);
//   DatagramPeer& peer = peers.at(name);      // until the next call of at()
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>

#include "rsockets/name.h"

namespace gdr::rsockets {

class DatagramEndpoint;

struct DestroyAddressHandle {
  void operator()(ibv_ah* handle) const { ibv_destroy_ah(handle); }
};
using AddressHandle = std::unique_ptr<ibv_ah, DestroyAddressHandle>;

struct DatagramPeer {
  using Clock = std::chrono::steady_clock;

  Name name;
  DatagramEndpoint* endpoint = nullptr;  // of ours, towards it
  std::optional<std::uint32_t> queue_pair;
  Address device{};      // where its queue pair is
  AddressHandle handle;  // towards that; made when it is first needed
  Clock::time_point heard{}, asked{};
};

class DatagramPeers {
 public:
  explicit DatagramPeers(std::size_t most) : most_(most) {}

  // A new one where there is none yet.
  DatagramPeer& at(const Name& name);
  // Null: not known.
  DatagramPeer* find(const Name& name);
  std::size_t size() const { return found_.size(); }

 private:
  std::size_t most_;
  std::list<DatagramPeer> all_;  // the one of the latest at() or find() first
  std::map<Name, std::list<DatagramPeer>::iterator> found_;
};

}  // namespace gdr::rsockets
