#include "net/counters.h"

#include "base/counter_file.h"
#include "base/environment.h"

namespace gdr::net {
namespace {

constexpr const char* kNames[] = {
    "packets_sent",
    "bytes_sent",
    "packets_received",
    "bytes_received",
    "malformed",
    "wrong_icrc",
    "unknown_queue_pair",
    "wrong_transport",
    "wrong_address",
    "wrong_source_port",
    "wrong_partition_key",
    "not_receiving",
    "forwarded",
    "dropped_by_filter",
    "mad_received",
    "mad_refused",
    "mad_for_nobody",
    "mad_no_room",
    "mad_backlog_full",
    "mad_invalid_request",
    "mad_unexpected",
    "not_sent",
    "duplicate_request",
    "out_of_sequence_request",
    "sequence_nak_sent",
    "sequence_nak_received",
    "rnr_nak_sent",
    "rnr_nak_received",
    "timeout",
    "retransmitted_packet",
    "remote_access_refused",
    "invalid_request",
    "wrong_qkey",
    "dropped_no_receive",
    "dropped_message",
    "unexpected_response",
    "congestion_notified",
    "impossible_request",
};
static_assert(std::size(kNames) == kCounters);

// Null where no file is named.
Result<std::atomic<std::uint64_t>*> map_named_file() {
  const auto path = environment("GDR_SOFT_COUNTERS");
  if (!path) return nullptr;
  Result<std::atomic<std::uint64_t>*> values = map_counters(*path, kNames);
  if (!values) return Error{values.error().code, "GDR_SOFT_COUNTERS=" + values.error().message};
  return values;
}

}  // namespace

const char* name_of(std::uint32_t counter) { return kNames[counter]; }

Result<void> Counters::check_file() {
  const Result<std::atomic<std::uint64_t>*> values = map_named_file();
  if (!values) return values.error();
  return {};
}

Counters& Counters::of_process() {
  // Never unmapped: threads count until the process ends.
  static Counters* const counters = [] {
    Result<std::atomic<std::uint64_t>*> values = map_named_file();
    if (!values || *values == nullptr) values = new std::atomic<std::uint64_t>[kCounters]();
    return new Counters(*values);
  }();
  return *counters;
}

}  // namespace gdr::net
