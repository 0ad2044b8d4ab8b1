#include "ports/attributes.h"

namespace gdr::ports {
namespace {

using enum PortCount;
using Values = const PortValues&;

std::uint64_t nothing(Values) { return 0; }

template <PortCount... kCounts>
std::uint64_t sum(Values values) {
  return (values[kCounts] + ...);
}

// What goes out in answer to messages that came in.
std::uint64_t acknowledged(Values values) { return sum<kTakenWrites, kTakenSends>(values); }
std::uint64_t answered(Values values) { return sum<kSentWrites, kSentSends>(values); }

std::uint64_t xmit_packets(Values values) {
  return sum<kXmitPackets, kSentWrites, kSentSends>(values) + acknowledged(values);
}
std::uint64_t rcv_packets(Values values) {
  return sum<kRcvPackets, kTakenWrites, kTakenSends>(values) + answered(values);
}
// InfiniBand Architecture Specification 16.1.3.5: in units of four octets.
std::uint64_t xmit_data(Values values) {
  return (values[kXmitBytes] + acknowledged(values) * kAcknowledgeBytes) / 4;
}
std::uint64_t rcv_data(Values values) {
  return (values[kRcvBytes] + answered(values) * kAcknowledgeBytes) / 4;
}
// Each count is read for itself: what comes between the two looks makes neither less than 0.
std::uint64_t without(std::uint64_t all, std::uint64_t part) { return all > part ? all - part : 0; }
std::uint64_t unicast_xmit(Values values) {
  return without(xmit_packets(values), values[kXmitMulticast]);
}
std::uint64_t unicast_rcv(Values values) {
  return without(rcv_packets(values), values[kRcvMulticast]);
}
std::uint64_t retries(Values values) { return sum<kAckTimeout, kSequenceNakReceived>(values); }
std::uint64_t lifespan(Values) { return 10; }

template <std::uint32_t kCount>
std::uint64_t cm_count(Values values) {
  return values.of[kCount];
}

// One of each: sent and received, by the number behind CM_REQ's.
#define GDR_CM(folder, first)                                                                \
  {folder, "req", cm_count<(first) + 0>}, {folder, "mra", cm_count<(first) + 1>},            \
      {folder, "rej", cm_count<(first) + 2>}, {folder, "rep", cm_count<(first) + 3>},        \
      {folder, "rtu", cm_count<(first) + 4>}, {folder, "dreq", cm_count<(first) + 5>},       \
      {folder, "drep", cm_count<(first) + 6>}, {folder, "sidr_req", cm_count<(first) + 7>},  \
      {folder, "sidr_rep", cm_count<(first) + 8>}, {folder, "lap", cm_count<(first) + 9>}, { \
    folder, "apr", cm_count<(first) + 10>                                                    \
  }

constexpr Attribute kAttributes[] = {
    // Counters of the physical layer are 0: the software NIC has no wire whose symbols could be
    // wrong.
    {"counters", "symbol_error", nothing},
    {"counters", "link_error_recovery", nothing},
    {"counters", "link_downed", nothing},
    {"counters", "port_rcv_errors", sum<kRcvErrors>},
    {"counters", "port_rcv_remote_physical_errors", nothing},
    {"counters", "port_rcv_switch_relay_errors", nothing},
    {"counters", "port_xmit_discards", sum<kXmitDiscards>},
    {"counters", "port_xmit_constraint_errors", nothing},
    {"counters", "port_rcv_constraint_errors", nothing},
    {"counters", "local_link_integrity_errors", nothing},
    {"counters", "excessive_buffer_overrun_errors", nothing},
    {"counters", "VL15_dropped", nothing},
    {"counters", "port_xmit_data", xmit_data},
    {"counters", "port_rcv_data", rcv_data},
    {"counters", "port_xmit_packets", xmit_packets},
    {"counters", "port_rcv_packets", rcv_packets},
    {"counters", "port_xmit_wait", nothing},
    {"counters", "unicast_rcv_packets", unicast_rcv},
    {"counters", "unicast_xmit_packets", unicast_xmit},
    {"counters", "multicast_rcv_packets", sum<kRcvMulticast>},
    {"counters", "multicast_xmit_packets", sum<kXmitMulticast>},
    // As mlx5 names them.
    {"hw_counters", "rx_write_requests", sum<kTakenWrites, kMoreWriteRequests>},
    {"hw_counters", "rx_read_requests", sum<kReadRequests>},
    {"hw_counters", "rx_atomic_requests", sum<kAtomicRequests>},
    {"hw_counters", "out_of_buffer", sum<kOutOfBuffer>},
    {"hw_counters", "out_of_sequence", sum<kOutOfSequence>},
    {"hw_counters", "duplicate_request", sum<kDuplicateRequest>},  // rxe as well
    {"hw_counters", "rnr_nak_retry_err", sum<kRnrNakReceived>},
    {"hw_counters", "packet_seq_err", sum<kSequenceNakReceived>},
    {"hw_counters", "local_ack_timeout_err", sum<kAckTimeout>},
    {"hw_counters", "resp_local_length_error", sum<kResponderLengthErrors>},
    {"hw_counters", "resp_cqe_error", sum<kResponderErrors, kResponderFlushes>},
    {"hw_counters", "req_cqe_error", sum<kRequesterErrors, kRequesterFlushes>},
    {"hw_counters", "req_remote_invalid_request", sum<kRemoteInvalidRequests>},
    {"hw_counters", "req_remote_access_errors", sum<kRemoteAccessErrors>},
    {"hw_counters", "resp_remote_access_errors", sum<kResponderAccessErrors>},
    {"hw_counters", "resp_cqe_flush_error", sum<kResponderFlushes>},
    {"hw_counters", "req_cqe_flush_error", sum<kRequesterFlushes>},
    {"hw_counters", "req_transport_retries_exceeded", sum<kRetriesExceeded>},
    {"hw_counters", "req_rnr_retries_exceeded", sum<kRnrRetriesExceeded>},
    {"hw_counters", "rp_cnp_handled", sum<kCnpHandled>},
    {"hw_counters", "np_ecn_marked_roce_packets", sum<kEcnMarked>},
    {"hw_counters", "np_cnp_sent", sum<kCnpSent>},
    {"hw_counters", "rx_icrc_encapsulated", sum<kWrongIcrc>},
    // As rxe names them.
    {"hw_counters", "sent_pkts", xmit_packets},
    {"hw_counters", "rcvd_pkts", rcv_packets},
    {"hw_counters", "out_of_seq_request", sum<kOutOfSequence>},
    {"hw_counters", "rcvd_rnr_err", sum<kRnrNakReceived>},
    {"hw_counters", "send_rnr_err", sum<kRnrNakSent>},
    {"hw_counters", "rcvd_seq_err", sum<kSequenceNakReceived>},
    {"hw_counters", "retry_exceeded_err", sum<kRetriesExceeded>},
    {"hw_counters", "retry_rnr_exceeded_err", sum<kRnrRetriesExceeded>},
    {"hw_counters", "completer_retry_err", retries},
    {"hw_counters", "send_err", sum<kXmitDiscards>},
    {"hw_counters", "link_downed", nothing},
    {"hw_counters", "rdma_sends", sum<kSentSends, kMoreSends>},
    {"hw_counters", "rdma_recvs", sum<kTakenSends, kMoreReceives>},
    {"hw_counters", kLifespan, lifespan},
    GDR_CM("cm_tx_msgs", static_cast<std::uint32_t>(kFirstCmSent)),
    GDR_CM("cm_rx_msgs", kFirstCmReceived),
};
#undef GDR_CM

}  // namespace

std::span<const Attribute> attributes() { return kAttributes; }

const Attribute* find_attribute(std::string_view folder, std::string_view name) {
  for (const Attribute& one : kAttributes) {
    if (folder == one.folder && name == one.name) return &one;
  }
  return nullptr;
}

}  // namespace gdr::ports
