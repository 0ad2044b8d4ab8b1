#include "cm/message.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace gdr::cm {
namespace {

constexpr std::size_t kHeaderBytes = 24;
constexpr std::uint8_t kBaseVersion = 1, kClass = 0x07, kClassVersion = 2, kMethodSend = 3;
constexpr std::uint8_t kTransportExtended = 3;

struct Place {
  std::size_t offset, bytes;  // behind the common header
};

Place private_data_place(Kind kind) {
  switch (kind) {
    case Kind::kReq:
      return {140, 92};
    case Kind::kMra:
      return {10, 222};
    case Kind::kRej:
      return {84, 148};
    case Kind::kRep:
      return {36, 196};
    case Kind::kRtu:
      return {8, 224};
    case Kind::kDreq:
      return {12, 220};
    case Kind::kDrep:
      return {8, 224};
    case Kind::kSidrReq:
      return {16, 216};
    case Kind::kSidrRep:
      return {96, 136};
  }
  return {0, 0};
}

std::uint32_t load_be24(const std::uint8_t* from) { return load_be32(from) >> 8; }
// Three bytes and the one behind them.
void store_be24(std::uint8_t* to, std::uint32_t value, std::uint8_t behind) {
  store_be32(to, value << 8 | behind);
}
std::uint8_t field(unsigned value, unsigned bits, unsigned shift) {
  return static_cast<std::uint8_t>((value & ((1U << bits) - 1)) << shift);
}

void read_request(const std::uint8_t* d, Message& m) {
  Offer& o = m.offer;
  o.ece_vendor = load_be32(d + 4) & 0xffffff;
  m.service_id = load_be64(d + 8);
  o.ca_guid = load_be64(d + 16);
  o.qkey = load_be32(d + 28);
  o.qp_number = load_be24(d + 32);
  o.responder_resources = d[35];
  o.initiator_depth = d[39];
  o.remote_response_timeout = d[43] >> 3;
  o.transport = d[43] >> 1 & 3;
  o.flow_control = d[43] & 1;
  o.starting_psn = load_be24(d + 44);
  o.local_response_timeout = d[47] >> 3;
  o.retry_count = d[47] & 7;
  m.pkey = load_be16(d + 48);
  o.path_mtu = d[50] >> 4;
  o.rnr_retry_count = d[50] & 7;
  o.max_cm_retries = d[51] >> 4;
  o.srq = d[51] & 8;
  o.extended_transport = d[51] & 7;
  std::copy_n(d + 56, 16, o.local_gid.begin());
  std::copy_n(d + 72, 16, o.remote_gid.begin());
  o.flow_label = load_be32(d + 88) >> 12;
  o.traffic_class = d[92];
  o.hop_limit = d[93];
  o.local_ack_timeout = d[95] >> 3;
}

void write_request(const Message& m, std::uint8_t* d) {
  const Offer& o = m.offer;
  store_be32(d + 4, o.ece_vendor & 0xffffff);
  store_be64(d + 8, m.service_id);
  store_be64(d + 16, o.ca_guid);
  store_be32(d + 28, o.qkey);
  store_be24(d + 32, o.qp_number, o.responder_resources);
  store_be24(d + 36, 0, o.initiator_depth);
  store_be24(d + 40, 0,
             field(o.remote_response_timeout, 5, 3) | field(o.transport, 2, 1) |
                 field(o.flow_control, 1, 0));
  store_be24(d + 44, o.starting_psn,
             field(o.local_response_timeout, 5, 3) | field(o.retry_count, 3, 0));
  store_be16(d + 48, m.pkey);
  d[50] = field(o.path_mtu, 4, 4) | field(o.rnr_retry_count, 3, 0);
  d[51] = field(o.max_cm_retries, 4, 4) | field(o.srq, 1, 3) |
          (o.transport == kTransportExtended ? field(o.extended_transport, 3, 0) : 0);
  store_be16(d + 52, 0xffff);  // permissive LIDs: RoCE has none
  store_be16(d + 54, 0xffff);
  std::copy_n(o.local_gid.begin(), 16, d + 56);
  std::copy_n(o.remote_gid.begin(), 16, d + 72);
  store_be32(d + 88, o.flow_label << 12);
  d[92] = o.traffic_class;
  d[93] = o.hop_limit;
  d[95] = field(o.local_ack_timeout, 5, 3);
}

void read_reply(const std::uint8_t* d, Message& m) {
  Offer& o = m.offer;
  o.qkey = load_be32(d + 8);
  o.qp_number = load_be24(d + 12);
  o.starting_psn = load_be24(d + 20);
  o.ece_vendor = static_cast<std::uint32_t>(d[15]) << 16 | d[19] << 8 | d[23];
  o.responder_resources = d[24];
  o.initiator_depth = d[25];
  o.target_ack_delay = d[26] >> 3;
  o.flow_control = d[26] & 1;
  o.rnr_retry_count = d[27] >> 5;
  o.srq = d[27] & 16;
  o.ca_guid = load_be64(d + 28);
}

void write_reply(const Message& m, std::uint8_t* d) {
  const Offer& o = m.offer;
  store_be32(d + 8, o.qkey);
  store_be24(d + 12, o.qp_number, static_cast<std::uint8_t>(o.ece_vendor >> 16));
  store_be24(d + 16, 0, static_cast<std::uint8_t>(o.ece_vendor >> 8));
  store_be24(d + 20, o.starting_psn, static_cast<std::uint8_t>(o.ece_vendor));
  d[24] = o.responder_resources;
  d[25] = o.initiator_depth;
  d[26] = field(o.target_ack_delay, 5, 3) | field(o.flow_control, 1, 0);
  d[27] = field(o.rnr_retry_count, 3, 5) | field(o.srq, 1, 4);
  store_be64(d + 28, o.ca_guid);
}

void read_lookup(const std::uint8_t* d, Message& m) {
  if (m.kind == Kind::kSidrReq) {
    m.pkey = load_be16(d + 4);
    m.service_id = load_be64(d + 8);
    return;
  }
  m.remote_id = m.local_id;  // the request identifier is the receiver's own
  m.status = d[4];
  m.offer.qp_number = load_be24(d + 8);
  m.service_id = load_be64(d + 12);
  m.offer.qkey = load_be32(d + 20);
}

void write_lookup(const Message& m, std::uint8_t* d) {
  if (m.kind == Kind::kSidrReq) {
    store_be16(d + 4, m.pkey);
    store_be64(d + 8, m.service_id);
    return;
  }
  store_be32(d, m.remote_id);
  d[4] = m.status;
  store_be24(d + 8, m.offer.qp_number, 0);
  store_be64(d + 12, m.service_id);
  store_be32(d + 20, m.offer.qkey);
}

bool is_known(std::uint16_t attribute) { return attribute >= 0x10 && attribute <= 0x18; }

}  // namespace

std::size_t private_data_bytes(Kind kind) { return private_data_place(kind).bytes; }

std::optional<Message> read(std::span<const std::uint8_t, 256> mad) {
  if (mad[0] != kBaseVersion || mad[1] != kClass || mad[2] != kClassVersion ||
      mad[3] != kMethodSend || !is_known(load_be16(&mad[16]))) {
    return std::nullopt;
  }
  const std::uint8_t* d = mad.data() + kHeaderBytes;
  Message m;
  m.kind = static_cast<Kind>(load_be16(&mad[16]));
  m.transaction = load_be64(&mad[8]);
  m.local_id = load_be32(d);
  m.offer.ece_options = load_be32(&mad[20]);
  switch (m.kind) {
    case Kind::kReq:
      read_request(d, m);
      break;
    case Kind::kSidrReq:
    case Kind::kSidrRep:
      read_lookup(d, m);
      break;
    default:
      m.remote_id = load_be32(d + 4);
  }
  if (m.kind == Kind::kRep) read_reply(d, m);
  if (m.kind == Kind::kRej || m.kind == Kind::kMra) m.subject = static_cast<Subject>(d[8] >> 6);
  if (m.kind == Kind::kRej) m.reason = load_be16(d + 10);
  if (m.kind == Kind::kMra) m.service_timeout = d[9] >> 3;
  if (m.kind == Kind::kDreq) m.remote_qp_number = load_be24(d + 8);
  const Place place = private_data_place(m.kind);
  std::copy_n(d + place.offset, place.bytes, m.private_data.begin());
  return m;
}

Mad write(const Message& m) {
  Mad mad{};
  mad[0] = kBaseVersion;
  mad[1] = kClass;
  mad[2] = kClassVersion;
  mad[3] = kMethodSend;
  store_be64(&mad[8], m.transaction);
  store_be16(&mad[16], static_cast<std::uint16_t>(m.kind));
  std::uint8_t* d = mad.data() + kHeaderBytes;
  store_be32(d, m.local_id);
  switch (m.kind) {
    case Kind::kReq:
      write_request(m, d);
      break;
    case Kind::kSidrReq:
    case Kind::kSidrRep:
      write_lookup(m, d);
      break;
    default:
      store_be32(d + 4, m.remote_id);
  }
  if (m.kind == Kind::kReq || m.kind == Kind::kRep) store_be32(&mad[20], m.offer.ece_options);
  if (m.kind == Kind::kRep) write_reply(m, d);
  if (m.kind == Kind::kRej || m.kind == Kind::kMra) {
    d[8] = field(static_cast<unsigned>(m.subject), 2, 6);
  }
  if (m.kind == Kind::kRej) store_be16(d + 10, m.reason);
  if (m.kind == Kind::kMra) d[9] = field(m.service_timeout, 5, 3);
  if (m.kind == Kind::kDreq) store_be24(d + 8, m.remote_qp_number, 0);
  const Place place = private_data_place(m.kind);
  std::copy_n(m.private_data.begin(), place.bytes, d + place.offset);
  return mad;
}

}  // namespace gdr::cm
