#include "wire/packet.h"

#include "base/bytes.h"

namespace gdr::wire {
namespace {

// Base transport header, 9.2.
constexpr std::size_t kFlagsAt = 1;         // solicited event, migration, pad count, version
constexpr std::size_t kPartitionKeyAt = 2;  // and behind it FECN, BECN, six reserved bits
constexpr std::size_t kCongestionAt = 4;
constexpr std::size_t kDestinationAt = 4;  // with the byte of congestion above it
constexpr std::size_t kPsnAt = 8;          // with the acknowledge request bit above it

constexpr unsigned kSolicitedBit = 0x80;
constexpr unsigned kMigratedBit = 0x40;
constexpr unsigned kPadShift = 4;
constexpr unsigned kVersionMask = 0x0f;
constexpr unsigned kFecnBit = 0x80;
constexpr unsigned kBecnBit = 0x40;
constexpr std::uint32_t kAckRequestBit = 0x8000'0000;
constexpr std::uint32_t kMask24 = 0xff'ffff;  // queue pair numbers, PSN, MSN

constexpr std::uint32_t kAnyExtension = kHasXrceth | kHasDeth | kHasReth | kHasAtomicEth |
                                        kHasAeth | kHasAtomicAckEth | kHasImmDt | kHasIeth;

unsigned byte_at(const std::byte* bytes, std::size_t index) {
  return std::to_integer<unsigned>(bytes[index]);
}

void read_bth(const std::byte* at, Packet* packet) {
  const unsigned flags = byte_at(at, kFlagsAt);
  const unsigned congestion = byte_at(at, kCongestionAt);
  const std::uint32_t sequence = load_be32(at + kPsnAt);
  packet->solicited = (flags & kSolicitedBit) != 0;
  packet->migrated = (flags & kMigratedBit) != 0;
  packet->pad = static_cast<std::uint8_t>(flags >> kPadShift & 3);
  packet->partition_key = load_be16(at + kPartitionKeyAt);
  packet->fecn = (congestion & kFecnBit) != 0;
  packet->becn = (congestion & kBecnBit) != 0;
  packet->destination_qp = load_be32(at + kDestinationAt) & kMask24;
  packet->ack_request = (sequence & kAckRequestBit) != 0;
  packet->psn = sequence & kPsnMask;
}

// The caller has seen that info->header_bytes bytes are there.
void read_extensions(const std::byte* at, Packet* packet) {
  const std::uint32_t traits = packet->info->traits;
  if ((traits & kHasXrceth) != 0) {
    packet->xrc_srq = load_be32(at) & kMask24;
    at += kXrcethBytes;
  }
  if ((traits & kHasDeth) != 0) {
    packet->deth = {load_be32(at), load_be32(at + 4) & kMask24};
    at += kDethBytes;
  }
  if ((traits & kHasReth) != 0) {
    packet->reth = {load_be64(at), load_be32(at + 8), load_be32(at + 12)};
    at += kRethBytes;
  }
  if ((traits & kHasAtomicEth) != 0) {
    packet->atomic = {load_be64(at), load_be32(at + 8), load_be64(at + 12), load_be64(at + 20)};
    at += kAtomicEthBytes;
  }
  if ((traits & kHasAeth) != 0) {
    packet->aeth = {std::to_integer<std::uint8_t>(at[0]), load_be32(at) & kMask24};
    at += kAethBytes;
  }
  if ((traits & kHasAtomicAckEth) != 0) {
    packet->atomic_original = load_be64(at);
    at += kAtomicAckEthBytes;
  }
  if ((traits & kHasImmDt) != 0) {
    std::memcpy(&packet->immediate, at, sizeof packet->immediate);
    at += kImmDtBytes;
  }
  if ((traits & kHasIeth) != 0) packet->invalidate_key = load_be32(at);
}

void write_bth(const Packet& packet, std::byte* to) {
  const unsigned flags = (packet.solicited ? kSolicitedBit : 0) |
                         (packet.migrated ? kMigratedBit : 0) | (packet.pad & 3u) << kPadShift;
  const unsigned congestion = (packet.fecn ? kFecnBit : 0) | (packet.becn ? kBecnBit : 0);
  to[0] = std::byte{packet.opcode};
  to[kFlagsAt] = static_cast<std::byte>(flags);
  store_be16(to + kPartitionKeyAt, packet.partition_key);
  store_be32(to + kDestinationAt, congestion << 24 | (packet.destination_qp & kMask24));
  store_be32(to + kPsnAt, (packet.ack_request ? kAckRequestBit : 0) | (packet.psn & kPsnMask));
}

void write_extensions(const Packet& packet, std::byte* to) {
  const std::uint32_t traits = packet.info->traits;
  if ((traits & kHasXrceth) != 0) {
    store_be32(to, packet.xrc_srq & kMask24);
    to += kXrcethBytes;
  }
  if ((traits & kHasDeth) != 0) {
    store_be32(to, packet.deth.qkey);
    store_be32(to + 4, packet.deth.source_qp & kMask24);
    to += kDethBytes;
  }
  if ((traits & kHasReth) != 0) {
    store_be64(to, packet.reth.address);
    store_be32(to + 8, packet.reth.rkey);
    store_be32(to + 12, packet.reth.length);
    to += kRethBytes;
  }
  if ((traits & kHasAtomicEth) != 0) {
    store_be64(to, packet.atomic.address);
    store_be32(to + 8, packet.atomic.rkey);
    store_be64(to + 12, packet.atomic.swap_or_add);
    store_be64(to + 20, packet.atomic.compare);
    to += kAtomicEthBytes;
  }
  if ((traits & kHasAeth) != 0) {
    store_be32(to, std::uint32_t{packet.aeth.syndrome} << 24 | (packet.aeth.msn & kMask24));
    to += kAethBytes;
  }
  if ((traits & kHasAtomicAckEth) != 0) {
    store_be64(to, packet.atomic_original);
    to += kAtomicAckEthBytes;
  }
  if ((traits & kHasImmDt) != 0) {
    std::memcpy(to, &packet.immediate, sizeof packet.immediate);
    to += kImmDtBytes;
  }
  if ((traits & kHasIeth) != 0) {
    store_be32(to, packet.invalidate_key);
    to += kIethBytes;
  }
  if ((traits & kHasCnpPadding) != 0) std::memset(to, 0, kCnpPaddingBytes);
}

}  // namespace

ParseError parse(std::span<const std::byte> datagram, Packet* packet) {
  if (datagram.size() < kBthBytes + kIcrcBytes) return ParseError::kTooShort;
  const std::byte* bytes = datagram.data();
  packet->opcode = std::to_integer<std::uint8_t>(bytes[0]);
  packet->info = find_opcode(packet->opcode);
  if (packet->info == nullptr) return ParseError::kUnknownOpcode;
  // 9.2: the version of this specification is 0; a packet of another is dropped in silence.
  if ((byte_at(bytes, kFlagsAt) & kVersionMask) != 0) return ParseError::kWrongVersion;
  read_bth(bytes, packet);

  const std::size_t header_bytes = packet->info->header_bytes;
  const std::size_t around = header_bytes + packet->pad + kIcrcBytes;
  if (datagram.size() < around) return ParseError::kTooShort;
  const std::size_t payload_bytes = datagram.size() - around;
  const std::uint32_t traits = packet->info->traits;
  // Padding, too, is only ever behind a payload.
  if ((traits & kPayload) == 0 && payload_bytes + packet->pad != 0) {
    return ParseError::kUnexpectedPayload;
  }
  if (payload_bytes > kMostPayload) return ParseError::kTooLong;

  if ((traits & kAnyExtension) != 0) read_extensions(bytes + kBthBytes, packet);
  packet->payload = datagram.subspan(header_bytes, payload_bytes);
  return ParseError::kNone;
}

std::size_t write_headers(const Packet& packet, std::byte* to) {
  write_bth(packet, to);
  if (packet.info->header_bytes != kBthBytes) write_extensions(packet, to + kBthBytes);
  return packet.info->header_bytes;
}

}  // namespace gdr::wire
