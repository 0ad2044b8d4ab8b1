// Filters of a port's socket (classic BPF): which packets the kernel puts into its buffer.
//
//   std::vector<sock_filter> code = wanted_only(rules);        // in a flood: flood_gate.h
//   std::vector<sock_filter> code = no_forged_hosts(rules);    // always, where hosts can be forged
//   apply_filter(socket, code);                                // empty: takes the filter away
//
// A packet that a filter refuses costs its sender's core and no room in the buffer. Cold.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "wire/icrc.h"

namespace gdr::net {

// Where the peer of a connection is, and with it from which UDP ports its packets may come.
enum class PeerPlace : std::uint8_t {
  kBeyond,        // another host: any port. RDMA NICs spread their connections over ports
  kOtherAccount,  // this host: 4791, which is all that another account can be asked for
  kOwnAccount,    // this host, a process of this user: its private port
};

// A queue pair that receives.
struct KnownFlow {
  std::uint32_t number = 0;
  bool connected = false;  // else it takes packets of anybody
  wire::Address source{};  // of a connection
  PeerPlace place = PeerPlace::kBeyond;
  std::uint32_t slot = 0;  // kOwnAccount: the peer's process
  std::uint16_t port = 0;  // 0: any, or not known yet
};

// Sources from which more management datagrams come than can be looked at.
struct ThinnedMads {
  std::vector<wire::Address> sources;
  bool all = false;  // whoever sends them
};

struct PortRules {
  std::uint32_t own_slot = 0;
  std::vector<std::uint32_t> slots;  // of all processes on this address
  std::vector<KnownFlow> flows;      // of this process
  ThinnedMads mads;
};

// Packets that are long enough for RoCEv2, of its version, and for a queue pair that is there: of a
// connection, from where its peer is. For other processes' slots, whatever their queue pair;
// questions (port_sharing.h); and management datagrams, but of thinned sources one in eight.
std::vector<sock_filter> wanted_only(const PortRules& rules);

// All but packets of this host in the name of a peer on another one. Empty: there are none. With
// IPv4 the kernel lets no account send such (EINVAL); with IPv6 any may (IPV6_FREEBIND).
std::vector<sock_filter> no_forged_hosts(const PortRules& rules);

bool apply_filter(int socket, const std::vector<sock_filter>& code);

}  // namespace gdr::net
