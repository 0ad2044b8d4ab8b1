// PrivateSocket: a UDP socket whose port no other account of this host can send from.
//
//   Result<PrivateSocket> socket = PrivateSocket::open(address, scope, secret);
//
// A source address says nothing within a host: any account may have the kernel write any of the
// host's own addresses into its datagrams (IP_PKTINFO), and binds port 4791 of some other address
// of the host, of which 127.0.0.0/8 has many. A port that is held on all addresses at once, and not
// shared, is another matter: the kernel lets nobody else bind it, on any address. So what stays
// within the host leaves from such a port, and processes of one user read each other's in their
// segments, which no other account can (port_sharing.h).
//
// Two sockets have the port: one holds it on all addresses and does nothing else, the other one is
// bound to the address that packets leave from. With the first alone each send would have to name
// its source (IP_PKTINFO), which costs the kernel more.
//
// What arrives at it are strays, which begin with the secret; the kernel drops all else.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"
#include "wire/icrc.h"

namespace gdr::net {

class PrivateSocket {
 public:
  PrivateSocket() = default;
  // For packets from `address`, with the options that UdpPort's have. `scope`: the interface of a
  // link-local address. The secret's low 16 bits are replaced by the port: what is then its name.
  static Result<PrivateSocket> open(const wire::Address& address, std::uint32_t scope,
                                    std::uint64_t secret);

  int descriptor() const { return descriptor_.get(); }
  std::uint16_t port() const { return static_cast<std::uint16_t>(name_); }
  std::uint64_t name() const { return name_; }

 private:
  UniqueFd everywhere_;  // holds the port on all addresses
  UniqueFd descriptor_;
  std::uint64_t name_ = 0;
};

}  // namespace gdr::net
