// Opcode: what a RoCE packet is, and the one table that holds what each opcode means (InfiniBand
// specification 9.2.1, table 38; XRC: annex A14; congestion notification: annex A17).
//
//   const wire::OpcodeInfo* info = wire::find_opcode(bytes[0]);
//   if (info == nullptr) return ParseError::kUnknownOpcode;
//   if (info->is(wire::kRead | wire::kRequest)) ...
#pragma once

#include <cstdint>

namespace gdr::wire {

enum class Transport : std::uint8_t {
  kReliableConnection = 0,    // RC
  kUnreliableConnection = 1,  // UC
  kUnreliableDatagram = 3,    // UD
  kCongestion = 4,            // CNP
  kExtendedReliable = 5,      // XRC
};

// The lower five bits of an opcode, alike in RC, UC, UD and XRC.
enum class Operation : std::uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImmediate = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImmediate = 0x05,
  kWriteFirst = 0x06,
  kWriteMiddle = 0x07,
  kWriteLast = 0x08,
  kWriteLastImmediate = 0x09,
  kWriteOnly = 0x0a,
  kWriteOnlyImmediate = 0x0b,
  kReadRequest = 0x0c,
  kReadResponseFirst = 0x0d,
  kReadResponseMiddle = 0x0e,
  kReadResponseLast = 0x0f,
  kReadResponseOnly = 0x10,
  kAcknowledge = 0x11,
  kAtomicAcknowledge = 0x12,
  kCompareSwap = 0x13,
  kFetchAdd = 0x14,
  kSendLastInvalidate = 0x16,
  kSendOnlyInvalidate = 0x17,
};

constexpr std::uint8_t kCongestionNotification = 0x81;  // the whole opcode of a CNP

constexpr std::uint8_t make_opcode(Transport transport, Operation operation) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(transport) << 5 |
                                   static_cast<unsigned>(operation));
}
constexpr Transport transport_of(std::uint8_t opcode) { return Transport(opcode >> 5); }
constexpr Operation operation_of(std::uint8_t opcode) { return Operation(opcode & 31); }

// OpcodeInfo::traits
constexpr std::uint32_t kRequest = 1u << 0;  // else a response
constexpr std::uint32_t kFirst = 1u << 1;    // an Only packet is first and last
constexpr std::uint32_t kLast = 1u << 2;
constexpr std::uint32_t kSend = 1u << 3;
constexpr std::uint32_t kWrite = 1u << 4;
constexpr std::uint32_t kRead = 1u << 5;     // a read request or one of its responses
constexpr std::uint32_t kAtomic = 1u << 6;   // an atomic request or its acknowledge
constexpr std::uint32_t kPayload = 1u << 7;  // may carry bytes
constexpr std::uint32_t kInvalidate = 1u << 8;
constexpr std::uint32_t kHasImmediate = 1u << 9;
// Which extended headers follow the BTH, in this order on the wire.
constexpr std::uint32_t kHasXrceth = 1u << 16;
constexpr std::uint32_t kHasDeth = 1u << 17;
constexpr std::uint32_t kHasReth = 1u << 18;
constexpr std::uint32_t kHasAtomicEth = 1u << 19;
constexpr std::uint32_t kHasAeth = 1u << 20;
constexpr std::uint32_t kHasAtomicAckEth = 1u << 21;
constexpr std::uint32_t kHasImmDt = 1u << 22;
constexpr std::uint32_t kHasIeth = 1u << 23;
constexpr std::uint32_t kHasCnpPadding = 1u << 24;  // 16 reserved bytes

constexpr std::uint32_t kBthBytes = 12;
constexpr std::uint32_t kRethBytes = 16;
constexpr std::uint32_t kAethBytes = 4;
constexpr std::uint32_t kAtomicEthBytes = 28;
constexpr std::uint32_t kAtomicAckEthBytes = 8;
constexpr std::uint32_t kImmDtBytes = 4;
constexpr std::uint32_t kIethBytes = 4;
constexpr std::uint32_t kDethBytes = 8;
constexpr std::uint32_t kXrcethBytes = 4;
constexpr std::uint32_t kCnpPaddingBytes = 16;
constexpr std::uint32_t kIcrcBytes = 4;
// Room for any packet's headers; the longest are an XRC atomic's, 44 bytes.
constexpr std::uint32_t kMostHeaderBytes = 48;

struct OpcodeInfo {
  const char* name;  // as Wireshark says it: "RC RDMA Write First"
  std::uint32_t traits;
  std::uint32_t header_bytes;  // BTH and extended headers; derived from traits

  // All of these.
  constexpr bool is(std::uint32_t wanted) const { return (traits & wanted) == wanted; }
};

// Null: no packet that this device knows.
const OpcodeInfo* find_opcode(std::uint8_t opcode);

}  // namespace gdr::wire
