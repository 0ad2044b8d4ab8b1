// Packet: one RoCEv2 packet as values, checked: what stands in the UDP payload, from the base
// transport header (BTH) up to, and without, the ICRC.
//
//   wire::Packet packet;
//   if (wire::ParseError error = wire::parse(datagram, &packet); error != wire::ParseError::kNone)
//   {
//     count(error);
//   } else if (packet.info->is(wire::kHasReth)) {
//     place(packet.reth.address, packet.payload);
//   }
//
//   std::byte headers[wire::kMostHeaderBytes];
//   std::size_t bytes = wire::write_headers(packet, headers);  // then payload, padding and ICRC
//
// Only the extended headers that packet.info->traits names hold anything. Hot: nothing is cleared
// that need not be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/opcode.h"

namespace gdr::wire {

constexpr std::uint16_t kDefaultPartitionKey = 0xffff;
// Full and limited members of the default partition are in it.
constexpr bool is_default_partition(std::uint16_t key) {
  return ((key ^ kDefaultPartitionKey) & 0x7fff) == 0;
}
constexpr std::uint32_t kPsnMask = 0xff'ffff;
constexpr std::uint32_t kMostPayload = 4096;  // the greatest path MTU

// RDMA extended transport header, 9.3.3.
struct Reth {
  std::uint64_t address;
  std::uint32_t rkey;
  std::uint32_t length;
};

// ACK extended transport header, 9.3.5.
struct Aeth {
  std::uint8_t syndrome;
  std::uint32_t msn;  // 24 bits
};

// AtomicETH, 9.3.6.
struct AtomicEth {
  std::uint64_t address;
  std::uint32_t rkey;
  std::uint64_t swap_or_add;
  std::uint64_t compare;
};

// Datagram extended transport header, 9.3.4.
struct Deth {
  std::uint32_t qkey;
  std::uint32_t source_qp;
};

struct Packet {
  const OpcodeInfo* info;
  std::uint8_t opcode;
  bool solicited;
  bool migrated;
  bool ack_request;
  bool fecn, becn;   // of RoCEv2's BTH: forward and backward congestion notification
  std::uint8_t pad;  // bytes behind the payload: 0 to 3
  std::uint16_t partition_key;
  std::uint32_t destination_qp;
  std::uint32_t psn;

  Reth reth;
  Aeth aeth;
  AtomicEth atomic;
  std::uint64_t atomic_original;  // AtomicAckETH
  std::uint32_t immediate;        // ImmDt: in network order, as ibv_wc has it
  std::uint32_t invalidate_key;   // IETH
  Deth deth;
  std::uint32_t xrc_srq;  // XRCETH

  std::span<const std::byte> payload;  // without padding; borrowed

  Transport transport() const { return transport_of(opcode); }
  Operation operation() const { return operation_of(opcode); }
};

enum class ParseError : std::uint8_t {
  kNone,
  kTooShort,  // for its headers, padding and ICRC
  kUnknownOpcode,
  kWrongVersion,       // of the transport header: not 0
  kUnexpectedPayload,  // or padding, of an opcode that has none
  kTooLong,            // payload above 4096 bytes
};

// `datagram`: the payload of a UDP datagram to port 4791, ICRC included (not checked here). After
// an error `packet` means nothing. Whether payload and padding make whole words, and whether a
// payload is as long as its place in a message asks, is the receiver's to judge.
[[nodiscard]] ParseError parse(std::span<const std::byte> datagram, Packet* packet);

// BTH and extended headers of packet.info; `to` has room for kMostHeaderBytes. How many bytes.
std::size_t write_headers(const Packet& packet, std::byte* to);

// --- Packet sequence numbers: 24 bits that go round (9.7.2).
constexpr std::uint32_t psn_add(std::uint32_t psn, std::uint32_t n) { return (psn + n) & kPsnMask; }
// How far `later` is behind `earlier`, -2^23 to 2^23 - 1; negative: it is before it.
constexpr std::int32_t psn_distance(std::uint32_t earlier, std::uint32_t later) {
  return static_cast<std::int32_t>((later - earlier) << 8) >> 8;
}

// --- AETH syndromes, 9.7.5.2.
enum class Acknowledge : std::uint8_t { kAck = 0, kRnrNak = 1, kReserved = 2, kNak = 3 };
enum class NakCode : std::uint8_t {
  kSequenceError = 0,
  kInvalidRequest = 1,
  kRemoteAccessError = 2,
  kRemoteOperationalError = 3,
  kInvalidRdRequest = 4,
};
constexpr std::uint8_t kNoCredits = 31;  // of an ACK: no end-to-end flow control
constexpr Acknowledge acknowledge_of(std::uint8_t syndrome) {
  return Acknowledge(syndrome >> 5 & 3);
}
// The credit code of an ACK, the timer code of an RNR NAK, the NakCode of a NAK.
constexpr std::uint8_t value_of(std::uint8_t syndrome) { return syndrome & 31; }
constexpr std::uint8_t make_syndrome(Acknowledge kind, std::uint8_t value) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(kind) << 5 | (value & 31));
}

}  // namespace gdr::wire
