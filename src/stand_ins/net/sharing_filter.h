// The filter by which the kernel picks one of the sockets that share a port (classic BPF,
// SO_ATTACH_REUSEPORT_CBPF): the place, in the group, of the process that a packet is for.
//
//   std::vector<sock_filter> code = member_of_packet(members, listeners);
//
// A packet is for the process whose slot is in its destination queue pair's number. One for queue
// pair 1 is a management datagram: an answer goes by the slot in the id that it answers to, a
// request by its service id. So a process that is stopped keeps nothing from the others. Questions
// (port_sharing.h) name a place. All else goes where the kernel's own hash of the source says.
// Cold.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

namespace gdr::net {

struct MemberPlace {
  std::uint32_t slot, place;
};
struct ListenerPlace {
  std::uint64_t service_id;
  std::uint32_t place;
};

// What a filter has room for, of 4096 instructions. What is left out is handed over by whoever gets
// it.
constexpr std::uint32_t kMostMemberPlaces = 1000;
constexpr std::uint32_t kMostListenerPlaces = 400;

std::vector<sock_filter> member_of_packet(std::span<const MemberPlace> members,
                                          std::span<const ListenerPlace> listeners);

}  // namespace gdr::net
