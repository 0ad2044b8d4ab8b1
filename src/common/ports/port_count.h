// What a port of the software NIC counts: the numbers behind the files of
// /sys/class/infiniband/NAME/ports/1/counters and hw_counters (attributes.h).
//
//   port.add(PortCount::kXmitPackets, 3);
#pragma once

#include <cstdint>

namespace gdr::ports {

enum class PortCount : std::uint32_t {
  // On the wire, or as it would be there: whole frames, from the Ethernet header to the ICRC.
  kXmitBytes,
  kXmitPackets,
  kRcvBytes,
  kRcvPackets,
  kXmitMulticast,
  kRcvMulticast,
  // Messages between processes of one host, over IPv4, whose packets are one request and one
  // acknowledge: beside the bytes, one addition says what would take five. What more there is of
  // packets is in the numbers above.
  kSentWrites,
  kSentSends,
  kTakenWrites,
  kTakenSends,
  // Messages by any path.
  kMoreSends,  // that completed, beside kSentSends
  kMoreReceives,
  kMoreWriteRequests,
  kReadRequests,
  kAtomicRequests,
  kXmitDiscards,  // the kernel took them not
  kRcvErrors,     // dropped on arrival
  kWrongIcrc,
  // Reliable transports count these.
  kOutOfSequence,
  kDuplicateRequest,
  kRnrNakSent,
  kRnrNakReceived,
  kSequenceNakReceived,
  kAckTimeout,
  kOutOfBuffer,  // no receive was posted
  kCnpHandled,
  kCnpSent,
  kEcnMarked,
  // Completions with an error.
  kRequesterErrors,
  kRequesterFlushes,
  kRetriesExceeded,
  kRnrRetriesExceeded,
  kRemoteInvalidRequests,
  kRemoteAccessErrors,
  kResponderErrors,
  kResponderFlushes,
  kResponderAccessErrors,
  kResponderLengthErrors,
  // Messages of the connection manager, by the number of their attribute: kCmMessages each.
  kFirstCmSent,
};

// CM_REQ (0x10) to CM_APR (0x1a).
constexpr std::uint32_t kCmMessages = 11, kFirstCmAttribute = 0x10;
constexpr std::uint32_t kFirstCmReceived =
    static_cast<std::uint32_t>(PortCount::kFirstCmSent) + kCmMessages;
constexpr std::uint32_t kPortCounts = kFirstCmReceived + kCmMessages;

// A RoCEv2 frame around the BTH and what follows it: Ethernet, IPv4 or IPv6, UDP.
constexpr std::uint32_t kFrameBytesOnIpv4 = 14 + 20 + 8, kFrameBytesOnIpv6 = 14 + 40 + 8;
// An acknowledge over IPv4: BTH, AETH, ICRC.
constexpr std::uint32_t kAcknowledgeBytes = kFrameBytesOnIpv4 + 12 + 4 + 4;

}  // namespace gdr::ports
