// GroupPorts: the ports at which this process takes what other hosts send to multicast groups.
//
//   groups.update(wanted, wrap);          // the groups that it has members in now
//   for (const GroupPort& group : groups.all()) group.port->receive(&arrival);
//
// A port is kept once it is open, and leaves its group when it has no member any more. Members of
// groups beyond kMostGroups take what comes from this host only.
//
// Threads: update() one at a time, all() any.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "net/udp_port.h"

namespace gdr::net {

constexpr std::size_t kMostGroups = 64;

struct GroupPort {
  std::uint32_t device = 0;
  std::unique_ptr<Port> port;           // its address is the group's
  const UdpPort* membership = nullptr;  // within it
  bool is_member = false;               // of update()'s caller
};

class GroupPorts {
 public:
  struct Wanted {
    std::uint32_t device, interface;
    wire::Address group;
    bool operator==(const Wanted&) const = default;
  };
  using Wrap = std::function<Result<std::unique_ptr<Port>>(std::unique_ptr<Port>)>;

  // Those that are new are open from here on. Returns their descriptors.
  std::vector<int> update(std::span<const Wanted> wanted, const Wrap& wrap);
  std::span<GroupPort> all() { return {groups_.data(), count_.load(std::memory_order_acquire)}; }
  void close_all();

 private:
  GroupPort* find(const Wanted& wanted);
  GroupPort* open(const Wanted& wanted, const Wrap& wrap);

  std::array<GroupPort, kMostGroups> groups_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace gdr::net
