#include "wire/opcode.h"

#include <gtest/gtest.h>

#include <string>

namespace gdr::wire {
namespace {

constexpr std::uint32_t kExtensions = kHasXrceth | kHasDeth | kHasReth | kHasAtomicEth | kHasAeth |
                                      kHasAtomicAckEth | kHasImmDt | kHasIeth | kHasCnpPadding;

const OpcodeInfo* find(Transport transport, Operation operation) {
  return find_opcode(make_opcode(transport, operation));
}

// Applies to every opcode that there is.
template <typename Check>
void for_each_opcode(Check check) {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const OpcodeInfo* info = find_opcode(static_cast<std::uint8_t>(opcode));
    if (info == nullptr) continue;
    SCOPED_TRACE(info->name);
    check(static_cast<std::uint8_t>(opcode), *info);
  }
}

TEST(Opcode, IsWhatTheSpecificationNumbers) {
  EXPECT_STREQ(find_opcode(0x00)->name, "RC Send First");
  EXPECT_STREQ(find_opcode(0x0a)->name, "RC RDMA Write Only");
  EXPECT_STREQ(find_opcode(0x11)->name, "RC Acknowledge");
  EXPECT_STREQ(find_opcode(0x17)->name, "RC Send Only Invalidate");
  EXPECT_STREQ(find_opcode(0x2b)->name, "UC RDMA Write Only Immediate");
  EXPECT_STREQ(find_opcode(0x64)->name, "UD Send Only");
  EXPECT_STREQ(find_opcode(0x65)->name, "UD Send Only Immediate");
  EXPECT_STREQ(find_opcode(0x81)->name, "CNP");
  EXPECT_STREQ(find_opcode(0xac)->name, "XRC RDMA Read Request");
  EXPECT_STREQ(find_opcode(0xb4)->name, "XRC Fetch Add");
}

TEST(Opcode, OfATransportThatIsNotSupportedIsUnknown) {
  for (const unsigned opcode : {0x40, 0x44, 0x80, 0x82, 0xc0, 0xe0, 0xff}) {
    EXPECT_EQ(find_opcode(static_cast<std::uint8_t>(opcode)), nullptr) << opcode;
  }
}

TEST(Opcode, ReservedBySpecificationIsUnknown) {
  for (const unsigned operation : {0x15, 0x18, 0x1f}) {
    for (const unsigned transport : {0x00, 0x20, 0x60, 0xa0}) {
      EXPECT_EQ(find_opcode(static_cast<std::uint8_t>(transport | operation)), nullptr);
    }
  }
}

TEST(Opcode, OfAnUnreliableConnectionHasNoResponses) {
  for (unsigned operation = 0; operation < 32; ++operation) {
    const OpcodeInfo* info = find(Transport::kUnreliableConnection, Operation(operation));
    if (info == nullptr) continue;
    EXPECT_TRUE(info->is(kRequest) && (info->is(kSend) || info->is(kWrite))) << info->name;
    EXPECT_FALSE(info->is(kInvalidate)) << info->name;
  }
  EXPECT_EQ(find(Transport::kUnreliableConnection, Operation::kReadRequest), nullptr);
  EXPECT_EQ(find(Transport::kUnreliableConnection, Operation::kSendOnlyInvalidate), nullptr);
}

TEST(Opcode, OfADatagramIsOnePacketAndNamesItsSender) {
  for (unsigned operation = 0; operation < 32; ++operation) {
    const OpcodeInfo* info = find(Transport::kUnreliableDatagram, Operation(operation));
    if (info == nullptr) continue;
    EXPECT_TRUE(info->is(kSend | kFirst | kLast | kHasDeth)) << info->name;
  }
  EXPECT_EQ(find(Transport::kUnreliableDatagram, Operation::kSendFirst), nullptr);
  EXPECT_EQ(find(Transport::kUnreliableDatagram, Operation::kWriteOnly), nullptr);
}

TEST(Opcode, OfXrcIsThatOfRcWithTheQueueInRequests) {
  for (unsigned operation = 0; operation < 32; ++operation) {
    const OpcodeInfo* rc = find(Transport::kReliableConnection, Operation(operation));
    const OpcodeInfo* xrc = find(Transport::kExtendedReliable, Operation(operation));
    ASSERT_EQ(rc == nullptr, xrc == nullptr) << operation;
    if (rc == nullptr) continue;
    const std::uint32_t added = rc->is(kRequest) ? kHasXrceth : 0;
    EXPECT_EQ(xrc->traits, rc->traits | added) << rc->name;
    EXPECT_EQ(xrc->header_bytes, rc->header_bytes + (added != 0 ? kXrcethBytes : 0)) << rc->name;
    EXPECT_EQ("X" + std::string(rc->name), xrc->name);
  }
}

TEST(Opcode, NameSaysWhatItsTraitsSay) {
  for_each_opcode([](std::uint8_t opcode, const OpcodeInfo& info) {
    const std::string name = info.name;
    const auto says = [&name](const char* word) { return name.find(word) != std::string::npos; };
    EXPECT_EQ(info.is(kSend), says("Send"));
    EXPECT_EQ(info.is(kWrite), says("Write"));
    EXPECT_EQ(info.is(kRead), says("Read"));
    EXPECT_EQ(info.is(kAtomic), says("Atomic") || says("Swap") || says("Fetch"));
    EXPECT_EQ(info.is(kHasImmediate | kHasImmDt), says("Immediate"));
    EXPECT_EQ(info.is(kInvalidate | kHasIeth), says("Invalidate"));
    EXPECT_EQ(info.is(kRequest), !says("Response") && !says("Acknowledge") && !says("CNP"));
    const bool alone = says("Only") || !info.is(kPayload);
    EXPECT_EQ(info.is(kFirst), says("First") || alone);
    EXPECT_EQ(info.is(kLast), says("Last") || alone);
    EXPECT_EQ(transport_of(opcode) == Transport::kUnreliableDatagram, info.is(kHasDeth));
  });
}

TEST(Opcode, HeadersAreBthAndItsExtensionsAndFitTheRoomForThem) {
  for_each_opcode([](std::uint8_t, const OpcodeInfo& info) {
    EXPECT_GE(info.header_bytes, kBthBytes);
    EXPECT_LE(info.header_bytes, kMostHeaderBytes);
    EXPECT_EQ(info.header_bytes % 4, 0u);
    EXPECT_EQ(info.header_bytes == kBthBytes, (info.traits & kExtensions) == 0);
  });
}

}  // namespace
}  // namespace gdr::wire
