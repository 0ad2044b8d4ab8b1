// RawPeer: a plain UDP port in the place of another RDMA NIC: what a test sends from it is as right
// or as wrong as the test makes it, and what comes to it is what really left.
//
//   RawPeer peer(link.address(1), link.address(0));
//   peer.send(peer.bytes_of(packet, payload));
//   std::optional<wire::Packet> answer = peer.receive(1000);
//
// Throws Failure.
#pragma once

#include <arpa/inet.h>
#include <poll.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/udp_port.h"
#include "process.h"
#include "side.h"
#include "wire/packet.h"

namespace gdr::test {

using Bytes = std::vector<std::byte>;

inline wire::Address mapped(const std::string& ipv4) {
  wire::Address address{};
  address[10] = address[11] = 0xff;
  inet_pton(AF_INET, ipv4.c_str(), address.data() + 12);
  return address;
}

// Where packets of the tests' RC, UC and UD queue pairs go that are connected to a RawPeer at
// `ipv4`: a queue pair of no process.
inline Endpoint raw_endpoint(const std::string& ipv4) {
  Endpoint endpoint{0x123456, {}};
  const wire::Address address = mapped(ipv4);
  std::memcpy(endpoint.gid.raw, address.data(), address.size());
  return endpoint;
}

// One that asks for an acknowledge.
inline wire::Packet request_packet(wire::Transport transport, wire::Operation operation,
                                   std::uint32_t destination_qp, std::uint32_t psn) {
  wire::Packet packet{};
  packet.opcode = wire::make_opcode(transport, operation);
  packet.info = wire::find_opcode(packet.opcode);
  packet.ack_request = true;
  packet.partition_key = wire::kDefaultPartitionKey;
  packet.destination_qp = destination_qp;
  packet.psn = psn;
  return packet;
}

class RawPeer {
 public:
  RawPeer(const std::string& own, const std::string& other) : other_(mapped(other)) {
    auto port = net::UdpPort::open(mapped(own));
    require(static_cast<bool>(port), port ? "" : port.error().message.c_str());
    port_ = *std::move(port);
  }

  // With its ICRC.
  Bytes bytes_of(const wire::Packet& packet, const Bytes& payload) const {
    Bytes bytes(wire::kMostHeaderBytes);
    bytes.resize(wire::write_headers(packet, bytes.data()));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    const wire::Flow flow{port_->address(), other_, wire::kRocePort, wire::kRocePort};
    const std::uint32_t icrc = wire::icrc_of(flow, 0, bytes);
    bytes.resize(bytes.size() + sizeof icrc);
    std::memcpy(bytes.data() + bytes.size() - sizeof icrc, &icrc, sizeof icrc);
    return bytes;
  }

  void send(Bytes bytes) {
    const iovec piece{bytes.data(), bytes.size()};
    const auto size = static_cast<std::uint32_t>(bytes.size());
    require(
        port_->send(
            {.destination = other_, .pieces = {&piece, 1}, .packet_bytes = size, .bytes = size}) ==
            0,
        "a packet leaves");
  }

  // What comes next, packet by packet: several if they left together. None: none came in time.
  std::vector<Bytes> receive_burst(int milliseconds) {
    pollfd wait{port_->descriptor(), POLLIN, 0};
    net::Arrival arrival;
    std::vector<Bytes> packets;
    if (poll(&wait, 1, milliseconds) != 1 || !port_->receive(&arrival)) return packets;
    while (!arrival.bytes.empty()) {
      const auto packet =
          arrival.bytes.first(std::min<std::size_t>(arrival.bytes.size(), arrival.packet_bytes));
      packets.emplace_back(packet.begin(), packet.end());
      arrival.bytes = arrival.bytes.subspan(packet.size());
    }
    return packets;
  }

  // The first packet that arrives next; nothing if none came in time.
  std::optional<wire::Packet> receive(int milliseconds) {
    pollfd wait{port_->descriptor(), POLLIN, 0};
    net::Arrival arrival;
    if (poll(&wait, 1, milliseconds) != 1 || !port_->receive(&arrival)) return std::nullopt;
    wire::Packet packet;
    const auto first =
        arrival.bytes.first(std::min<std::size_t>(arrival.bytes.size(), arrival.packet_bytes));
    require(wire::parse(first, &packet) == wire::ParseError::kNone, "what comes is a packet");
    packet.payload = {};  // lies in the port's buffer
    return packet;
  }

 private:
  const wire::Address other_;
  std::unique_ptr<net::UdpPort> port_;
};

}  // namespace gdr::test
