#include "wire/packet.h"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include "reserved_bits.h"

namespace gdr::wire {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Headers of `opcode` with `behind` further bytes, the ICRC among them.
Bytes datagram_of(std::uint8_t opcode, std::size_t behind, std::uint8_t pad = 0) {
  Bytes bytes(find_opcode(opcode)->header_bytes + behind);
  bytes[0] = std::byte{opcode};
  bytes[1] = static_cast<std::byte>(pad << 4);
  return bytes;
}

ParseError parse_of(const Bytes& bytes) {
  Packet packet;
  return parse(bytes, &packet);
}

constexpr std::uint8_t opcode_of(Operation operation) {
  return make_opcode(Transport::kReliableConnection, operation);
}

std::vector<std::uint8_t> all_opcodes() {
  std::vector<std::uint8_t> opcodes;
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    if (find_opcode(static_cast<std::uint8_t>(opcode)) != nullptr) {
      opcodes.push_back(static_cast<std::uint8_t>(opcode));
    }
  }
  return opcodes;
}

TEST(Packet, OfAWriteIsReadFieldByField) {
  const Bytes bytes = bytes_of({
      0x0a, 0xe0, 0x80, 0x01, 0xc0, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef,  // BTH
      0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,                          // RETH: address
      0x11, 0x12, 0x13, 0x14, 0x00, 0x00, 0x00, 0x02,                          // rkey, length
      0xaa, 0xbb, 0x00, 0x00,                                                  // payload, padding
      0xde, 0xad, 0xbe, 0xef                                                   // ICRC
  });
  Packet packet;
  ASSERT_EQ(parse(bytes, &packet), ParseError::kNone);
  EXPECT_EQ(packet.opcode, 0x0a);
  EXPECT_EQ(packet.info, find_opcode(0x0a));
  EXPECT_EQ(packet.transport(), Transport::kReliableConnection);
  EXPECT_EQ(packet.operation(), Operation::kWriteOnly);
  EXPECT_TRUE(packet.solicited);
  EXPECT_TRUE(packet.migrated);
  EXPECT_EQ(packet.pad, 2);
  EXPECT_EQ(packet.partition_key, 0x8001);
  EXPECT_TRUE(packet.fecn);
  EXPECT_TRUE(packet.becn);
  EXPECT_EQ(packet.destination_qp, 0x123456u);
  EXPECT_TRUE(packet.ack_request);
  EXPECT_EQ(packet.psn, 0xabcdefu);
  EXPECT_EQ(packet.reth.address, 0x0102030405060708u);
  EXPECT_EQ(packet.reth.rkey, 0x11121314u);
  EXPECT_EQ(packet.reth.length, 2u);
  ASSERT_EQ(packet.payload.size(), 2u);
  EXPECT_EQ(packet.payload.data(), bytes.data() + 28);
}

TEST(Packet, OfAnXrcAtomicIsReadFieldByField) {
  const Bytes bytes = bytes_of({
      0xb3, 0x40, 0xff, 0xff, 0x3f, 0,  0,  1,  0x7f, 0,  0,  2,   // BTH, its reserved bits set
      0xff, 0x00, 0x04, 0x05,                                      // XRCETH
      1,    2,    3,    4,    5,    6,  7,  8,  9,    10, 11, 12,  // AtomicETH: address, rkey
      13,   14,   15,   16,   17,   18, 19, 20,                    // swap
      21,   22,   23,   24,   25,   26, 27, 28,                    // compare
      0,    0,    0,    0                                          // ICRC
  });
  Packet packet;
  ASSERT_EQ(parse(bytes, &packet), ParseError::kNone);
  EXPECT_FALSE(packet.solicited || packet.fecn || packet.becn || packet.ack_request);
  EXPECT_EQ(packet.destination_qp, 1u);
  EXPECT_EQ(packet.psn, 2u);
  EXPECT_EQ(packet.xrc_srq, 0x000405u);
  EXPECT_EQ(packet.atomic.address, 0x0102030405060708u);
  EXPECT_EQ(packet.atomic.rkey, 0x090a0b0cu);
  EXPECT_EQ(packet.atomic.swap_or_add, 0x0d0e0f1011121314u);
  EXPECT_EQ(packet.atomic.compare, 0x15161718191a1b1cu);
  EXPECT_TRUE(packet.payload.empty());
}

TEST(Packet, OfAnAtomicAcknowledgeIsReadFieldByField) {
  const Bytes bytes = bytes_of({0x12, 0,    0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 2,  //
                                0x1f, 0xfe, 0xdc, 0xba,                          // AETH
                                1,    2,    3,    4,    5, 6, 7, 8,              // AtomicAckETH
                                0,    0,    0,    0});
  Packet packet;
  ASSERT_EQ(parse(bytes, &packet), ParseError::kNone);
  EXPECT_EQ(packet.aeth.syndrome, 0x1f);
  EXPECT_EQ(packet.aeth.msn, 0xfedcbau);
  EXPECT_EQ(packet.atomic_original, 0x0102030405060708u);
}

TEST(Packet, DatagramWithImmediateIsReadFieldByField) {
  const Bytes bytes = bytes_of({0x65, 0,    0xff, 0xff, 0,    0,    0,    1,    0, 0, 0, 2,  //
                                0x80, 0x01, 0x00, 0x00, 0x99, 0x0a, 0x0b, 0x0c,              // DETH
                                0x01, 0x02, 0x03, 0x04, 0x77, 0x77, 0x77, 0x77,  // ImmDt, payload
                                0,    0,    0,    0});
  Packet packet;
  ASSERT_EQ(parse(bytes, &packet), ParseError::kNone);
  EXPECT_EQ(packet.deth.qkey, 0x80010000u);
  EXPECT_EQ(packet.deth.source_qp, 0x0a0b0cu);
  // As ibv_wc has it: the bytes of the wire, as they are.
  EXPECT_EQ(std::memcmp(&packet.immediate, bytes.data() + 20, 4), 0);
  EXPECT_EQ(packet.payload.size(), 4u);
}

TEST(Packet, OfASendWithInvalidateSaysWhichKey) {
  Bytes bytes = datagram_of(opcode_of(Operation::kSendOnlyInvalidate), 4);
  bytes[15] = std::byte{0x2a};
  Packet packet;
  ASSERT_EQ(parse(bytes, &packet), ParseError::kNone);
  EXPECT_EQ(packet.invalidate_key, 0x2au);
}

TEST(Packet, ShorterThanItsHeadersIsRefused) {
  for (const std::uint8_t opcode : all_opcodes()) {
    Bytes bytes = datagram_of(opcode, kIcrcBytes);
    while (!bytes.empty()) {
      bytes.pop_back();
      bytes.shrink_to_fit();  // for the address sanitizer
      ASSERT_EQ(parse_of(bytes), ParseError::kTooShort) << unsigned{opcode} << bytes.size();
    }
  }
}

TEST(Packet, WithoutPayloadIsTakenFromEveryOpcode) {
  for (const std::uint8_t opcode : all_opcodes()) {
    EXPECT_EQ(parse_of(datagram_of(opcode, kIcrcBytes)), ParseError::kNone) << unsigned{opcode};
  }
}

TEST(Packet, PayloadIsAcceptedOnlyWithOpcodesThatMayCarryOne) {
  for (const std::uint8_t opcode : all_opcodes()) {
    const bool may = find_opcode(opcode)->is(kPayload);
    for (const std::size_t payload : {1, 4, 256, 4096}) {
      EXPECT_EQ(parse_of(datagram_of(opcode, payload + kIcrcBytes)),
                may ? ParseError::kNone : ParseError::kUnexpectedPayload)
          << find_opcode(opcode)->name << " with " << payload;
    }
  }
}

TEST(Packet, PaddingIsRefusedForOpcodesWithoutPayload) {
  EXPECT_EQ(parse_of(datagram_of(opcode_of(Operation::kAcknowledge), 3 + kIcrcBytes, 3)),
            ParseError::kUnexpectedPayload);
  EXPECT_EQ(parse_of(datagram_of(opcode_of(Operation::kSendOnly), 3 + kIcrcBytes, 3)),
            ParseError::kNone);
}

TEST(Packet, ShorterThanItsPaddingIsRefused) {
  for (std::uint8_t pad = 1; pad <= 3; ++pad) {
    const std::uint8_t opcode = opcode_of(Operation::kSendLast);
    EXPECT_EQ(parse_of(datagram_of(opcode, kIcrcBytes + pad - 1u, pad)), ParseError::kTooShort);
    EXPECT_EQ(parse_of(datagram_of(opcode, kIcrcBytes + pad, pad)), ParseError::kNone);
  }
}

TEST(Packet, LongerThanTheGreatestPathMtuIsRefused) {
  const std::uint8_t opcode = opcode_of(Operation::kWriteMiddle);
  EXPECT_EQ(parse_of(datagram_of(opcode, 4096 + kIcrcBytes)), ParseError::kNone);
  EXPECT_EQ(parse_of(datagram_of(opcode, 4097 + kIcrcBytes)), ParseError::kTooLong);
  // Padding is no payload.
  EXPECT_EQ(parse_of(datagram_of(opcode, 4096 + 3 + kIcrcBytes, 3)), ParseError::kNone);
  EXPECT_EQ(parse_of(datagram_of(opcode, 65507)), ParseError::kTooLong);
}

TEST(Packet, OfAnotherVersionIsRefused) {
  Bytes bytes = datagram_of(opcode_of(Operation::kSendOnly), kIcrcBytes);
  for (unsigned version = 1; version < 16; ++version) {
    bytes[1] = static_cast<std::byte>(version);
    EXPECT_EQ(parse_of(bytes), ParseError::kWrongVersion);
  }
}

TEST(Packet, OfAnUnknownOpcodeIsRefused) {
  Bytes bytes(64);
  bytes[0] = std::byte{0xff};
  EXPECT_EQ(parse_of(bytes), ParseError::kUnknownOpcode);
}

TEST(Packet, IsWrittenAsItWasRead) {
  std::mt19937 random(1);
  for (const std::uint8_t opcode : all_opcodes()) {
    const OpcodeInfo& info = *find_opcode(opcode);
    for (int round = 0; round < 100; ++round) {
      const std::uint8_t pad = info.is(kPayload) ? random() % 4 : 0;
      Bytes bytes = datagram_of(opcode, pad + kIcrcBytes);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      bytes[0] = std::byte{opcode};
      bytes[1] = (bytes[1] & std::byte{0xc0}) | static_cast<std::byte>(pad << 4);

      Packet packet;
      ASSERT_EQ(parse(bytes, &packet), ParseError::kNone);
      std::byte written[kMostHeaderBytes];
      ASSERT_EQ(write_headers(packet, written), info.header_bytes);
      bytes.resize(info.header_bytes);
      clear_reserved_bits(bytes, info);
      ASSERT_EQ(Bytes(written, written + info.header_bytes), bytes) << info.name;
    }
  }
}

TEST(Packet, WritesNothingBeyondItsHeaders) {
  for (const std::uint8_t opcode : all_opcodes()) {
    const Bytes bytes = datagram_of(opcode, kIcrcBytes);
    Packet packet;
    ASSERT_EQ(parse(bytes, &packet), ParseError::kNone);
    Bytes room(packet.info->header_bytes, std::byte{0x5a});
    room.shrink_to_fit();  // for the address sanitizer
    EXPECT_EQ(write_headers(packet, room.data()), room.size());
  }
}

TEST(Packet, NumbersThatAreTooWideDoNotTouchTheirNeighbours) {
  const Bytes bytes =
      datagram_of(make_opcode(Transport::kUnreliableDatagram, Operation::kSendOnly), kIcrcBytes);
  Packet packet;
  ASSERT_EQ(parse(bytes, &packet), ParseError::kNone);
  packet.destination_qp = 0xff00'0001;
  packet.psn = 0xff00'0002;
  packet.deth.source_qp = 0xff00'0003;
  std::byte headers[kMostHeaderBytes];
  write_headers(packet, headers);
  EXPECT_EQ(headers[4], std::byte{0});
  EXPECT_EQ(headers[8], std::byte{0});
  EXPECT_EQ(headers[16], std::byte{0});
}

TEST(Psn, GoesRound) {
  EXPECT_EQ(psn_add(0xffffff, 1), 0u);
  EXPECT_EQ(psn_add(5, 0xffffff), 4u);
  EXPECT_EQ(psn_distance(0xffffff, 0), 1);
  EXPECT_EQ(psn_distance(0, 0xffffff), -1);
  EXPECT_EQ(psn_distance(0, 0x7fffff), 0x7fffff);
  EXPECT_EQ(psn_distance(0, 0x800000), -0x800000);
  EXPECT_EQ(psn_distance(7, 7), 0);
}

TEST(Syndrome, IsMadeAndTakenApart) {
  const std::uint8_t nak = make_syndrome(Acknowledge::kNak, 2);
  EXPECT_EQ(nak, 0x62);
  EXPECT_EQ(acknowledge_of(nak), Acknowledge::kNak);
  EXPECT_EQ(NakCode(value_of(nak)), NakCode::kRemoteAccessError);
  EXPECT_EQ(make_syndrome(Acknowledge::kAck, kNoCredits), 0x1f);
  EXPECT_EQ(make_syndrome(Acknowledge::kRnrNak, 12), 0x2c);
}

}  // namespace
}  // namespace gdr::wire
