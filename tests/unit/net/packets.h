// Packets for tests of ports, and a port that only remembers.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <vector>

#include "net/port.h"
#include "wire/packet.h"

namespace gdr::net {

using Bytes = std::vector<std::byte>;

inline wire::Address ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
}

// A loopback address, another one for each process that runs at the same time.
inline wire::Address address_of_this_test(int last) {
  const int pid = getpid();
  return ipv4(127, static_cast<std::uint8_t>(100 + (pid >> 14 & 63)),
              static_cast<std::uint8_t>(pid >> 6),
              static_cast<std::uint8_t>((pid & 63) * 4 + last));
}

inline wire::Flow flow_between(const wire::Address& source, const wire::Address& destination) {
  return {source, destination, wire::kRocePort, wire::kRocePort};
}

inline wire::Packet packet_for(wire::Operation operation, std::uint32_t number, std::uint32_t psn) {
  wire::Packet packet{};
  packet.opcode = wire::make_opcode(wire::Transport::kReliableConnection, operation);
  packet.info = wire::find_opcode(packet.opcode);
  packet.partition_key = wire::kDefaultPartitionKey;
  packet.destination_qp = number;
  packet.psn = psn;
  return packet;
}

// An RC write in the middle, with its ICRC for that identification.
inline Bytes make_packet(const wire::Flow& flow, std::uint16_t identification, std::uint32_t psn,
                         std::size_t payload = 32) {
  const wire::Packet packet = packet_for(wire::Operation::kWriteMiddle, 0x1234, psn);
  Bytes bytes(wire::kMostHeaderBytes);
  bytes.resize(wire::write_headers(packet, bytes.data()));
  for (std::size_t i = 0; i < payload; ++i) bytes.push_back(static_cast<std::byte>(psn + i * 7));
  const std::uint32_t icrc = wire::icrc_of(flow, identification, bytes);
  const auto* tail = reinterpret_cast<const std::byte*>(&icrc);
  bytes.insert(bytes.end(), tail, tail + sizeof icrc);
  return bytes;
}

// The only packet of its burst.
inline Bytes bytes_of(const wire::Flow& flow, const wire::Packet& packet, const Bytes& payload) {
  Bytes bytes(wire::kMostHeaderBytes);
  bytes.resize(wire::write_headers(packet, bytes.data()));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  const std::uint32_t icrc = wire::icrc_of(flow, 0, bytes);
  const auto* tail = reinterpret_cast<const std::byte*>(&icrc);
  bytes.insert(bytes.end(), tail, tail + sizeof icrc);
  return bytes;
}

// An RC write of 8 bytes, as the only packet of its message.
inline Bytes make_write(const wire::Flow& flow, std::uint32_t number, std::uint32_t psn,
                        std::uint64_t address, std::uint32_t key, std::byte value) {
  wire::Packet packet = packet_for(wire::Operation::kWriteOnly, number, psn);
  packet.ack_request = true;
  packet.reth = {address, key, 8};
  return bytes_of(flow, packet, Bytes(8, value));
}

// Of the first `messages` messages.
inline Bytes make_acknowledge(const wire::Flow& flow, std::uint32_t number, std::uint32_t psn,
                              std::uint32_t messages) {
  wire::Packet packet = packet_for(wire::Operation::kAcknowledge, number, psn);
  packet.aeth = {wire::make_syndrome(wire::Acknowledge::kAck, wire::kNoCredits), messages};
  return bytes_of(flow, packet, {});
}

inline std::uint32_t psn_of(const Bytes& bytes) {
  wire::Packet packet;
  EXPECT_EQ(wire::parse(bytes, &packet), wire::ParseError::kNone);
  return packet.psn;
}

// Whether its ICRC is that of the identification.
inline bool has_icrc_for(const wire::Flow& flow, std::uint16_t identification,
                         const Bytes& packet) {
  std::uint32_t stored;
  std::memcpy(&stored, packet.data() + packet.size() - sizeof stored, sizeof stored);
  return stored == wire::icrc_of(flow, identification, std::span(packet).first(packet.size() - 4));
}

// What a fake port was given.
struct Sent {
  wire::Address destination;
  std::uint8_t traffic_class;
  std::uint32_t packet_bytes;
  Bytes bytes;
  bool congested = false;
};

class FakePort : public Port {
 public:
  explicit FakePort(const wire::Address& address) : address_(address) {}

  int send(const Burst& burst) override {
    if (error != 0) return error;
    sent.push_back({burst.destination, burst.traffic_class, burst.packet_bytes, bytes_of(burst),
                    burst.congested});
    return 0;
  }
  bool receive(Arrival* arrival) override {
    if (arrivals.empty()) return false;
    arriving_ = arrivals.front().bytes;
    *arrival = {.source = arrivals.front().destination,
                .source_port = wire::kRocePort,
                .bytes = arriving_,
                .packet_bytes = arrivals.front().packet_bytes,
                .congested = arrivals.front().congested};
    arrivals.pop_front();
    return true;
  }
  int descriptor() const override { return -1; }
  const wire::Address& address() const override { return address_; }

  std::vector<Sent> sent;
  std::deque<Sent> arrivals;  // `destination` is where they come from
  int error = 0;              // of send()

 private:
  const wire::Address address_;
  Bytes arriving_;
};

// `packets`, of one length but the last, as one burst.
inline int send_burst(Port& port, const wire::Address& destination,
                      const std::vector<Bytes>& packets, std::uint8_t traffic_class = 0,
                      bool congested = false) {
  std::vector<iovec> pieces;
  std::uint32_t bytes = 0;
  for (const Bytes& packet : packets) {
    pieces.push_back({const_cast<std::byte*>(packet.data()), packet.size()});
    bytes += static_cast<std::uint32_t>(packet.size());
  }
  return port.send({.destination = destination,
                    .traffic_class = traffic_class,
                    .congested = congested,
                    .pieces = pieces,
                    .packet_bytes = static_cast<std::uint32_t>(packets.front().size()),
                    .bytes = bytes});
}

}  // namespace gdr::net
