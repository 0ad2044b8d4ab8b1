#include "net/mad.h"

#include <cstring>

#include "base/bytes.h"

namespace gdr::net {
namespace {

// The MAD's header, 13.4.2, with the data of connection management behind it.
constexpr std::size_t kBaseVersionAt = 0, kClassAt = 1, kClassVersionAt = 2, kMethodAt = 3;
constexpr std::size_t kTransactionAt = 8, kDataAt = 24;
constexpr std::uint8_t kBaseVersion = 1, kCommunicationManagement = 0x07, kClassVersion = 2;
constexpr std::uint8_t kSend = 0x03;

// 12.6 and 12.11.
constexpr std::uint16_t kRej = 0x12, kDreq = 0x15, kDrep = 0x16, kApr = 0x1a;
constexpr std::size_t kRejReasonAt = kDataAt + 10;
constexpr std::size_t kSidrStatusAt = kDataAt + 4, kSidrServiceIdAt = kDataAt + 12;
constexpr std::uint16_t kInvalidServiceId = 8;
constexpr std::uint8_t kUnsupported = 1;

std::uint8_t byte_at(const Mad& mad, std::size_t at) {
  return static_cast<std::uint8_t>(mad.bytes[at]);
}
std::uint16_t attribute_of(const Mad& mad) { return load_be16(&mad.bytes[kMadAttributeAt]); }
void copy(const Mad& from, std::size_t at, std::size_t bytes, Mad& to, std::size_t to_at) {
  std::memcpy(&to.bytes[to_at], &from.bytes[at], bytes);
}

Mad answer_to(const Mad& request, std::uint16_t attribute) {
  Mad answer{.source = request.destination, .destination = request.source};
  answer.bytes[kBaseVersionAt] = std::byte{kBaseVersion};
  answer.bytes[kClassAt] = std::byte{kCommunicationManagement};
  answer.bytes[kClassVersionAt] = std::byte{kClassVersion};
  answer.bytes[kMethodAt] = std::byte{kSend};
  copy(request, kTransactionAt, 8, answer, kTransactionAt);
  store_be16(&answer.bytes[kMadAttributeAt], attribute);
  return answer;
}

}  // namespace

std::optional<MadRoute> route_of(const Mad& mad) {
  if (byte_at(mad, kBaseVersionAt) != kBaseVersion ||
      byte_at(mad, kClassAt) != kCommunicationManagement ||
      byte_at(mad, kClassVersionAt) != kClassVersion || byte_at(mad, kMethodAt) != kSend) {
    return std::nullopt;
  }
  const std::uint16_t attribute = attribute_of(mad);
  if (attribute == kMadReq || attribute == kMadSidrReq)
    return MadRoute{true, load_be64(&mad.bytes[kMadServiceIdAt])};
  if (attribute == kMadSidrRep) return MadRoute{false, load_be32(&mad.bytes[kMadLocalIdAt])};
  if (attribute > kMadReq && attribute <= kApr) {
    return MadRoute{false, load_be32(&mad.bytes[kMadRemoteIdAt])};
  }
  return std::nullopt;
}

Mad make_refusal(const Mad& request) {
  const bool sidr = attribute_of(request) == kMadSidrReq;
  Mad refusal = answer_to(request, sidr ? kMadSidrRep : kRej);
  if (sidr) {
    copy(request, kMadLocalIdAt, 4, refusal, kMadLocalIdAt);
    refusal.bytes[kSidrStatusAt] = std::byte{kUnsupported};
    copy(request, kMadServiceIdAt, 8, refusal, kSidrServiceIdAt);
  } else {
    // A refused connection has no local id.
    copy(request, kMadLocalIdAt, 4, refusal, kMadRemoteIdAt);
    store_be16(&refusal.bytes[kRejReasonAt], kInvalidServiceId);
  }
  return refusal;
}

std::optional<Mad> make_disconnected(const Mad& request) {
  if (attribute_of(request) != kDreq) return std::nullopt;
  Mad answer = answer_to(request, kDrep);
  copy(request, kMadLocalIdAt, 4, answer, kMadRemoteIdAt);
  copy(request, kMadRemoteIdAt, 4, answer, kMadLocalIdAt);
  return answer;
}

std::vector<std::byte> make_mad_packet(const wire::Flow& flow, std::uint32_t psn, const Mad& mad) {
  wire::Packet packet{};
  packet.opcode =
      wire::make_opcode(wire::Transport::kUnreliableDatagram, wire::Operation::kSendOnly);
  packet.info = wire::find_opcode(packet.opcode);
  packet.partition_key = wire::kDefaultPartitionKey;
  packet.destination_qp = kGeneralServicesQueuePair;
  packet.psn = psn & wire::kPsnMask;
  packet.deth = {kGeneralServicesQkey, kGeneralServicesQueuePair};
  std::vector<std::byte> bytes(kMadPacketBytes + wire::kMostHeaderBytes);
  std::size_t at = wire::write_headers(packet, bytes.data());
  std::memcpy(bytes.data() + at, mad.bytes.data(), kMadBytes);
  at += kMadBytes;
  const std::uint32_t icrc = wire::icrc_of(flow, 0, std::span(bytes).first(at));
  std::memcpy(bytes.data() + at, &icrc, sizeof icrc);
  bytes.resize(at + sizeof icrc);
  return bytes;
}

}  // namespace gdr::net
