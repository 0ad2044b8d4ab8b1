#include "wire/opcode.h"

#include <array>

namespace gdr::wire {
namespace {

// One row for each operation; the columns are the transports that have it (null: a packet of that
// transport with this operation does not exist). Names are Wireshark's.
struct Row {
  Operation operation;
  std::uint32_t traits;  // without what the transport itself adds
  const char *reliable, *unreliable, *datagram, *extended;
};

constexpr std::uint32_t kSendTraits = kRequest | kSend | kPayload;
constexpr std::uint32_t kWriteTraits = kRequest | kWrite | kPayload;
constexpr std::uint32_t kOnly = kFirst | kLast;
constexpr std::uint32_t kImmediate = kHasImmediate | kHasImmDt;
constexpr std::uint32_t kInvalidation = kInvalidate | kHasIeth;

constexpr Row kRows[] = {
    {Operation::kSendFirst, kSendTraits | kFirst,  //
     "RC Send First", "UC Send First", nullptr, "XRC Send First"},
    {Operation::kSendMiddle, kSendTraits,  //
     "RC Send Middle", "UC Send Middle", nullptr, "XRC Send Middle"},
    {Operation::kSendLast, kSendTraits | kLast,  //
     "RC Send Last", "UC Send Last", nullptr, "XRC Send Last"},
    {Operation::kSendLastImmediate, kSendTraits | kLast | kImmediate,  //
     "RC Send Last Immediate", "UC Send Last Immediate", nullptr, "XRC Send Last Immediate"},
    {Operation::kSendOnly, kSendTraits | kOnly,  //
     "RC Send Only", "UC Send Only", "UD Send Only", "XRC Send Only"},
    {Operation::kSendOnlyImmediate, kSendTraits | kOnly | kImmediate,  //
     "RC Send Only Immediate", "UC Send Only Immediate", "UD Send Only Immediate",
     "XRC Send Only Immediate"},
    {Operation::kWriteFirst, kWriteTraits | kFirst | kHasReth,  //
     "RC RDMA Write First", "UC RDMA Write First", nullptr, "XRC RDMA Write First"},
    {Operation::kWriteMiddle, kWriteTraits,  //
     "RC RDMA Write Middle", "UC RDMA Write Middle", nullptr, "XRC RDMA Write Middle"},
    {Operation::kWriteLast, kWriteTraits | kLast,  //
     "RC RDMA Write Last", "UC RDMA Write Last", nullptr, "XRC RDMA Write Last"},
    {Operation::kWriteLastImmediate, kWriteTraits | kLast | kImmediate,  //
     "RC RDMA Write Last Immediate", "UC RDMA Write Last Immediate", nullptr,
     "XRC RDMA Write Last Immediate"},
    {Operation::kWriteOnly, kWriteTraits | kOnly | kHasReth,  //
     "RC RDMA Write Only", "UC RDMA Write Only", nullptr, "XRC RDMA Write Only"},
    {Operation::kWriteOnlyImmediate, kWriteTraits | kOnly | kHasReth | kImmediate,
     "RC RDMA Write Only Immediate", "UC RDMA Write Only Immediate", nullptr,
     "XRC RDMA Write Only Immediate"},
    {Operation::kReadRequest, kRequest | kRead | kOnly | kHasReth,  //
     "RC RDMA Read Request", nullptr, nullptr, "XRC RDMA Read Request"},
    {Operation::kReadResponseFirst, kRead | kPayload | kFirst | kHasAeth,
     "RC RDMA Read Response First", nullptr, nullptr, "XRC RDMA Read Response First"},
    {Operation::kReadResponseMiddle, kRead | kPayload,  //
     "RC RDMA Read Response Middle", nullptr, nullptr, "XRC RDMA Read Response Middle"},
    {Operation::kReadResponseLast, kRead | kPayload | kLast | kHasAeth,
     "RC RDMA Read Response Last", nullptr, nullptr, "XRC RDMA Read Response Last"},
    {Operation::kReadResponseOnly, kRead | kPayload | kOnly | kHasAeth,
     "RC RDMA Read Response Only", nullptr, nullptr, "XRC RDMA Read Response Only"},
    {Operation::kAcknowledge, kOnly | kHasAeth,  //
     "RC Acknowledge", nullptr, nullptr, "XRC Acknowledge"},
    {Operation::kAtomicAcknowledge, kAtomic | kOnly | kHasAeth | kHasAtomicAckEth,
     "RC Atomic Acknowledge", nullptr, nullptr, "XRC Atomic Acknowledge"},
    {Operation::kCompareSwap, kRequest | kAtomic | kOnly | kHasAtomicEth,  //
     "RC Compare Swap", nullptr, nullptr, "XRC Compare Swap"},
    {Operation::kFetchAdd, kRequest | kAtomic | kOnly | kHasAtomicEth,  //
     "RC Fetch Add", nullptr, nullptr, "XRC Fetch Add"},
    {Operation::kSendLastInvalidate, kSendTraits | kLast | kInvalidation, "RC Send Last Invalidate",
     nullptr, nullptr, "XRC Send Last Invalidate"},
    {Operation::kSendOnlyInvalidate, kSendTraits | kOnly | kInvalidation, "RC Send Only Invalidate",
     nullptr, nullptr, "XRC Send Only Invalidate"},
};

struct Header {
  std::uint32_t trait, bytes;
};
constexpr Header kHeaders[] = {
    {kHasXrceth, kXrcethBytes},
    {kHasDeth, kDethBytes},
    {kHasReth, kRethBytes},
    {kHasAtomicEth, kAtomicEthBytes},
    {kHasAeth, kAethBytes},
    {kHasAtomicAckEth, kAtomicAckEthBytes},
    {kHasImmDt, kImmDtBytes},
    {kHasIeth, kIethBytes},
    {kHasCnpPadding, kCnpPaddingBytes},
};

constexpr std::uint32_t header_bytes_of(std::uint32_t traits) {
  std::uint32_t bytes = kBthBytes;
  for (const Header& header : kHeaders) {
    if ((traits & header.trait) != 0) bytes += header.bytes;
  }
  return bytes;
}

constexpr std::array<OpcodeInfo, 256> make_table() {
  std::array<OpcodeInfo, 256> table{};
  const auto add = [&table](std::uint8_t opcode, const char* name, std::uint32_t traits) {
    if (name != nullptr) table[opcode] = {name, traits, header_bytes_of(traits)};
  };
  for (const Row& row : kRows) {
    add(make_opcode(Transport::kReliableConnection, row.operation), row.reliable, row.traits);
    add(make_opcode(Transport::kUnreliableConnection, row.operation), row.unreliable, row.traits);
    add(make_opcode(Transport::kUnreliableDatagram, row.operation), row.datagram,
        row.traits | kHasDeth);
    // Annex A14: every request names the shared receive queue, whether it takes a receive or not.
    add(make_opcode(Transport::kExtendedReliable, row.operation), row.extended,
        row.traits | ((row.traits & kRequest) != 0 ? kHasXrceth : 0));
  }
  add(kCongestionNotification, "CNP", kOnly | kHasCnpPadding);
  return table;
}

constexpr std::array<OpcodeInfo, 256> kTable = make_table();

constexpr const OpcodeInfo& of(Transport transport, Operation operation) {
  return kTable[make_opcode(transport, operation)];
}
constexpr std::uint32_t count_of(Transport transport) {
  std::uint32_t count = 0;
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    if (transport_of(static_cast<std::uint8_t>(opcode)) == transport) {
      count += kTable[opcode].name != nullptr ? 1 : 0;
    }
  }
  return count;
}
constexpr std::uint32_t longest() {
  std::uint32_t bytes = 0;
  for (const OpcodeInfo& info : kTable)
    bytes = info.header_bytes > bytes ? info.header_bytes : bytes;
  return bytes;
}

static_assert(count_of(Transport::kReliableConnection) == 23);
static_assert(count_of(Transport::kUnreliableConnection) == 12);
static_assert(count_of(Transport::kUnreliableDatagram) == 2);
static_assert(count_of(Transport::kExtendedReliable) == 23);
static_assert(count_of(Transport::kCongestion) == 1);
static_assert(longest() == 44 && longest() <= kMostHeaderBytes);

static_assert(of(Transport::kReliableConnection, Operation::kWriteOnlyImmediate).header_bytes ==
              32);
static_assert(of(Transport::kReliableConnection, Operation::kAtomicAcknowledge).header_bytes == 24);
static_assert(of(Transport::kReliableConnection, Operation::kReadResponseMiddle).header_bytes ==
              12);
static_assert(of(Transport::kUnreliableDatagram, Operation::kSendOnlyImmediate).header_bytes == 24);
static_assert(of(Transport::kExtendedReliable, Operation::kSendMiddle).header_bytes == 16);
static_assert(of(Transport::kExtendedReliable, Operation::kCompareSwap).header_bytes == 44);
static_assert(of(Transport::kExtendedReliable, Operation::kAcknowledge).header_bytes == 16);
static_assert(kTable[kCongestionNotification].header_bytes == 28);

}  // namespace

const OpcodeInfo* find_opcode(std::uint8_t opcode) {
  const OpcodeInfo& info = kTable[opcode];
  return info.name != nullptr ? &info : nullptr;
}

}  // namespace gdr::wire
