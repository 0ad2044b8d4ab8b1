// Messages of connection management (InfiniBand specification 12.6): management datagrams of 256
// bytes, read into one plain value and written from it.
//
//   if (const auto message = cm::read(mad.bytes)) ...       // nothing: no message that we know
//   const cm::Mad bytes = cm::write({.kind = Kind::kRtu, .local_id = ours, .remote_id = theirs});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gdr::cm {

using Gid = std::array<std::uint8_t, 16>;
using Mad = std::array<std::uint8_t, 256>;

// Attribute identifiers (table 98). Alternate paths (LAP, APR) do not exist on RoCE.
enum class Kind : std::uint16_t {
  kReq = 0x10,
  kMra = 0x11,
  kRej = 0x12,
  kRep = 0x13,
  kRtu = 0x14,
  kDreq = 0x15,
  kDrep = 0x16,
  kSidrReq = 0x17,
  kSidrRep = 0x18,
};

enum RejectReason : std::uint16_t {  // table 108
  kRejectTimeout = 4,
  kRejectInvalidServiceId = 8,
  kRejectStaleConnection = 10,
  kRejectConsumerDefined = 28,
  kRejectVendorOption = 35,
};

enum class Subject : std::uint8_t { kReq = 0, kRep = 1, kOther = 2 };  // of a REJ or MRA

inline constexpr std::size_t kMaxPrivateData = 224;

enum SidrStatus : std::uint8_t { kSidrUnsupported = 1, kSidrRejected = 2 };  // table 125

// What REQ and REP say of the queue pair and the path. Numbers as on the wire: timeouts are
// exponents of 4.096 us.
struct Offer {
  std::uint32_t qp_number = 0;
  std::uint32_t starting_psn = 0;
  std::uint32_t qkey = 0;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t rnr_retry_count = 0;
  bool flow_control = false;
  bool srq = false;
  std::uint64_t ca_guid = 0;
  std::uint32_t ece_vendor = 0;       // 24 bits
  std::uint32_t ece_options = 0;      // the attribute modifier
  std::uint8_t target_ack_delay = 0;  // REP

  // REQ
  std::uint8_t transport = 0;  // 0 RC, 1 UC, 3 extended (XRC)
  std::uint8_t extended_transport = 0;
  std::uint8_t retry_count = 0;
  std::uint8_t remote_response_timeout = 0;
  std::uint8_t local_response_timeout = 0;
  std::uint8_t max_cm_retries = 0;
  std::uint8_t path_mtu = 0;  // 1 (256 bytes) to 5 (4096 bytes)
  std::uint8_t local_ack_timeout = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint32_t flow_label = 0;
  Gid local_gid{};
  Gid remote_gid{};
};

struct Message {
  Kind kind{};
  std::uint64_t transaction = 0;
  std::uint32_t local_id = 0;          // the sender's; SIDR: the request identifier
  std::uint32_t remote_id = 0;         // the receiver's
  std::uint64_t service_id = 0;        // REQ, SIDR_REQ, SIDR_REP
  std::uint16_t pkey = 0xffff;         // REQ, SIDR_REQ
  Offer offer{};                       // REQ, REP; SIDR_REP: qp_number, qkey
  Subject subject{};                   // REJ, MRA
  std::uint16_t reason = 0;            // REJ
  std::uint8_t service_timeout = 0;    // MRA
  std::uint32_t remote_qp_number = 0;  // DREQ
  std::uint8_t status = 0;             // SIDR_REP
  std::array<std::uint8_t, kMaxPrivateData> private_data{};
};

// How many bytes of private data a message of that kind carries: always all of them.
std::size_t private_data_bytes(Kind kind);

// Nothing where the class, version, method or attribute is not connection management's.
std::optional<Message> read(std::span<const std::uint8_t, 256> mad);
Mad write(const Message& message);

}  // namespace gdr::cm
