// Forger: packets in the name of another address of this host, as any account can send them; and of
// any address at all with IPv6.
//
//   Forger forger(an_address_of_nobody, wire::kRocePort);
//   sweep(forger, peer, victim, what_the_victim_told, 1000);
//
// Throws Failure.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "net/socket_address.h"
#include "raw_peer.h"

namespace gdr::test {

struct Told {
  Endpoint endpoint;
  Remote remote;
};

// Packets in the name of another address of this host, as any account can send them.
class Forger {
 public:
  Forger(const wire::Address& bound_to, std::uint16_t port)
      : ipv4_(wire::is_ipv4(bound_to)),
        socket_(socket(ipv4_ ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    if (!ipv4_) {
      const int on = 1;
      require(setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on) == 0,
              "IPV6_FREEBIND");
    }
    net::SocketAddress own = net::socket_address(bound_to, port);
    require(bind(socket_.get(), own.get(), own.length) == 0, "a forger's socket");
    getsockname(socket_.get(), own.get(), &own.length);
    port_ = net::port_of(*own.get());
  }

  void send(const wire::Address& from, const wire::Address& to, const wire::Packet& packet,
            std::size_t payload) {
    Bytes bytes(wire::kMostHeaderBytes);
    bytes.resize(wire::write_headers(packet, bytes.data()));
    bytes.insert(bytes.end(), payload, std::byte{0x77});
    const std::uint32_t icrc = wire::icrc_of({from, to, port_, wire::kRocePort}, 0, bytes);
    bytes.resize(bytes.size() + sizeof icrc);
    std::memcpy(bytes.data() + bytes.size() - sizeof icrc, &icrc, sizeof icrc);
    net::SocketAddress target = net::socket_address(to, wire::kRocePort);
    iovec piece{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_name = target.get();
    message.msg_namelen = target.length;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(in_pktinfo))] = {};
    if (ipv4_) {
      auto* header = reinterpret_cast<cmsghdr*>(control);
      header->cmsg_level = IPPROTO_IP;
      header->cmsg_type = IP_PKTINFO;
      header->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
      in_pktinfo info{};
      std::memcpy(&info.ipi_spec_dst, from.data() + 12, sizeof info.ipi_spec_dst);
      std::memcpy(CMSG_DATA(header), &info, sizeof info);
      message.msg_control = control;
      message.msg_controllen = sizeof control;
    }
    require(sendmsg(socket_.get(), &message, 0) >= 0, "a forged packet leaves");
  }

 private:
  const bool ipv4_;
  const UniqueFd socket_;
  std::uint16_t port_ = 0;
};

// Everything that would end the connection, change its memory or make it believe something, for
// each PSN that may be the next.
inline void sweep(Forger& forger, const wire::Address& from, const wire::Address& to,
                  const Told& target, std::uint32_t psns) {
  constexpr auto kReliable = wire::Transport::kReliableConnection;
  for (std::uint32_t psn = 0; psn < psns; ++psn) {
    wire::Packet write =
        request_packet(kReliable, wire::Operation::kWriteOnly, target.endpoint.number, psn);
    write.reth = {target.remote.address + target.remote.length / 2, target.remote.key, 64};
    forger.send(from, to, write, 64);
    write.reth = {0, 0, 0};
    forger.send(from, to, write, 0);
    write.reth = {target.remote.address, target.remote.key ^ 1, 64};
    forger.send(from, to, write, 64);
    wire::Packet answer =
        request_packet(kReliable, wire::Operation::kAcknowledge, target.endpoint.number, psn);
    answer.ack_request = false;
    answer.aeth = {0x1f, psn};
    forger.send(from, to, answer, 0);
    answer.aeth = {0x62, psn};  // a NAK: remote access error
    forger.send(from, to, answer, 0);
  }
}

}  // namespace gdr::test
