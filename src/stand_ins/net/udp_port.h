// UdpPort: UDP port 4791 of one address, for packets of RoCEv2 and nothing else.
//
//   Result<std::unique_ptr<UdpPort>> port = UdpPort::open(address);
//   if (!port) return port.error();   // one line: why, and what to change
//
// The socket is never connected and always has "do not fragment": then, and only then, the kernel
// gives a packet the IPv4 identification 0, and 0, 1, 2 ... to the packets of one burst, and the
// ICRC, which covers it, can be computed (measured; Linux 5.10 to 6.12). Several processes of one
// user share the port: see port_sharing.h.
//
// A group's port only receives: what is sent to a multicast address, at one interface. Each process
// that has one open gets a copy of its own.
#pragma once

#include <netinet/in.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/burst_socket.h"
#include "net/port.h"

namespace gdr::net {

class UdpPort : public Port {
 public:
  // EADDRNOTAVAIL, EADDRINUSE, EACCES and what else bind says, with a line to read.
  static Result<std::unique_ptr<UdpPort>> open(const wire::Address& address);

  static Result<std::unique_ptr<UdpPort>> open_group(const wire::Address& group,
                                                     std::uint32_t interface);
  // For a group's port: has the interface take what is sent to the group, or no longer. False: it
  // cannot.
  bool set_member(bool is_member) const;

  int send(const Burst& burst) override;
  bool receive(Arrival* arrival) override;
  int descriptor() const override { return socket_.get(); }
  const wire::Address& address() const override { return address_; }
  // Bytes that may be under way to a socket like this one before it drops some.
  std::uint32_t receive_room() const { return receive_room_; }
  std::uint32_t scope() const { return scope_; }  // of a link-local address
  std::uint32_t interface_mtu() const { return interface_mtu_; }
  // A PrivateSocket's, from which bursts leave that name its port as their source.
  void set_private_socket(int descriptor) { private_sender_.emplace(descriptor); }

 private:
  UdpPort(const wire::Address& address, UniqueFd socket);
  Result<void> configure(bool ipv4);
  bool send_to_groups_by(std::uint32_t interface) const;

  const wire::Address address_;
  UniqueFd socket_;
  std::uint32_t scope_ = 0;
  std::uint32_t interface_mtu_ = 0;
  std::uint32_t receive_room_ = 0;
  BurstSocket sender_;
  std::optional<BurstSocket> private_sender_;
  std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace gdr::net
