#include "wire/printer.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/bytes.h"

namespace gdr::wire {
namespace {

// A packet of that opcode with small numbers in all its fields.
Packet packet_of(std::uint8_t opcode) {
  Packet packet{};
  packet.opcode = opcode;
  packet.info = find_opcode(opcode);
  packet.partition_key = kDefaultPartitionKey;
  packet.destination_qp = 0xc012;
  packet.psn = 0xa07;
  packet.reth = {0x7f0000001000, 0x1234, 65536};
  packet.aeth = {make_syndrome(Acknowledge::kAck, kNoCredits), 5};
  packet.atomic = {0x7f0000001000, 0x1234, 6, 7};
  packet.atomic_original = 8;
  store_be32(&packet.immediate, 0x01020304);
  packet.invalidate_key = 0x99;
  packet.deth = {0x80010000, 0x12};
  packet.xrc_srq = 0x34;
  return packet;
}

TEST(Printer, SaysWhatAWriteSays) {
  Packet packet = packet_of(0x06);
  const std::vector<std::byte> payload(4096);
  packet.payload = payload;
  EXPECT_EQ(describe(packet),
            "RC RDMA Write First  qp 0x00c012  psn 0x000a07  va 0x7f0000001000  rkey 0x00001234  "
            "dmalen 65536  4096 bytes");
}

TEST(Printer, SaysWhatIsUnusualInTheBaseHeader) {
  Packet packet = packet_of(0x04);
  packet.partition_key = 0x7fff;
  packet.solicited = packet.ack_request = packet.fecn = packet.becn = true;
  packet.pad = 3;
  EXPECT_EQ(describe(packet),
            "RC Send Only  qp 0x00c012  psn 0x000a07  pkey 0x7fff  solicited  ack request  fecn  "
            "becn  0 bytes  pad 3");
}

TEST(Printer, SaysWhatAnAcknowledgeMeans) {
  Packet packet = packet_of(0x11);
  const auto text_of = [&packet](Acknowledge kind, std::uint8_t value) {
    packet.aeth.syndrome = make_syndrome(kind, value);
    return describe(packet);
  };
  const std::string start = "RC Acknowledge  qp 0x00c012  psn 0x000a07  ";
  EXPECT_EQ(text_of(Acknowledge::kAck, kNoCredits), start + "ack  msn 0x000005");
  EXPECT_EQ(text_of(Acknowledge::kAck, 3), start + "ack  credit code 3  msn 0x000005");
  EXPECT_EQ(text_of(Acknowledge::kAck, 30), start + "ack  credit code 30  msn 0x000005");
  EXPECT_EQ(text_of(Acknowledge::kRnrNak, 12),
            start + "receiver not ready, timer code 12  msn 0x000005");
  EXPECT_EQ(text_of(Acknowledge::kNak, 0), start + "nak: PSN sequence error (0)  msn 0x000005");
  EXPECT_EQ(text_of(Acknowledge::kNak, 30), start + "nak: reserved code (30)  msn 0x000005");
  EXPECT_EQ(text_of(Acknowledge::kReserved, 1), start + "reserved syndrome 0x41  msn 0x000005");
}

TEST(Printer, SaysWhatTheOtherExtensionsSay) {
  EXPECT_EQ(describe(packet_of(0xb3)),
            "XRC Compare Swap  qp 0x00c012  psn 0x000a07  srq 0x000034  va 0x7f0000001000  "
            "rkey 0x00001234  swap 0x6  compare 0x7");
  EXPECT_EQ(describe(packet_of(0x14)),
            "RC Fetch Add  qp 0x00c012  psn 0x000a07  va 0x7f0000001000  rkey 0x00001234  add 0x6");
  EXPECT_EQ(describe(packet_of(0x12)),
            "RC Atomic Acknowledge  qp 0x00c012  psn 0x000a07  ack  msn 0x000005  original 0x8");
  EXPECT_EQ(describe(packet_of(0x65)),
            "UD Send Only Immediate  qp 0x00c012  psn 0x000a07  qkey 0x80010000  "
            "source qp 0x000012  immediate 0x01020304  0 bytes");
  EXPECT_EQ(describe(packet_of(0x17)),
            "RC Send Only Invalidate  qp 0x00c012  psn 0x000a07  invalidate 0x00000099  0 bytes");
  EXPECT_EQ(describe(packet_of(kCongestionNotification)), "CNP  qp 0x00c012  psn 0x000a07");
}

TEST(Printer, HasALineForEveryOpcodeAndError) {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const auto* info = find_opcode(static_cast<std::uint8_t>(opcode));
    if (info == nullptr) continue;
    const std::string text = describe(packet_of(static_cast<std::uint8_t>(opcode)));
    EXPECT_EQ(text.find(info->name), 0u);
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  for (const ParseError error :
       {ParseError::kTooShort, ParseError::kUnknownOpcode, ParseError::kWrongVersion,
        ParseError::kUnexpectedPayload, ParseError::kTooLong}) {
    EXPECT_FALSE(describe(error).empty());
    EXPECT_NE(describe(error), describe(ParseError::kNone));
  }
}

}  // namespace
}  // namespace gdr::wire
