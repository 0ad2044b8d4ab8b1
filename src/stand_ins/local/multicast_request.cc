// UD to a multicast group: one copy of the datagram, with its header, to each member of the group
// on the segment, in every process of this host. Other hosts get a packet: see net/group_ports.h.
#include "local/requester.h"
#include "rnic/datagram_header.h"

namespace gdr::local {
namespace {

void collect_from(rnic::Segment& segment, const rnic::GroupId& group, const auto& take) {
  rnic::for_each_member(segment, [&](const rnic::Member& member) {
    if (member.group == group) take(member.queue_pair);
  });
}

}  // namespace

// Its payload is in `from`.
Advance begin_multicast(Requester& requester) {
  const rnic::AddressVector& address = requester.request().address;
  if (!address.has_gid || !rnic::is_multicast(address.destination_gid)) {
    return requester.break_off(IBV_WC_SUCCESS);
  }
  Group& group = make_group(requester, rnic::kGrhBytes);
  rnic::fill_network_header(
      address, address.source_gid, address.destination_gid, requester.request().total_bytes,
      std::span<std::uint8_t, rnic::kGrhBytes>(group.bytes.data(), rnic::kGrhBytes));
  return requester.move();
}

void find_members(Requester& requester, Group& group) {
  const rnic::GroupId& id = requester.request().address.destination_gid;
  const rnic::QueuePair& own = requester.queue_pair;
  collect_from(requester.adapter.segment(), id, [&](std::uint32_t index) {
    const bool is_blocked = own.settings().block_multicast_loopback && index == own.index();
    if (!is_blocked) group.receivers.emplace_back(requester.adapter, nullptr, index);
  });
  group.peers = requester.neighbours.peers().everyone_by_now();
  for (const std::shared_ptr<peers::Peer>& peer : group.peers) {
    collect_from(peer->segment(), id, [&](std::uint32_t index) {
      group.receivers.emplace_back(requester.adapter, peer.get(), index);
    });
  }
}

}  // namespace gdr::local
