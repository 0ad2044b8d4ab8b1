#include "net/counters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counter_file.h"
#include "base/environment.h"
#include "base/unique_fd.h"

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
    "wrong_partition_key",
    "not_receiving",
    "forwarded",
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
};
static_assert(std::size(kNames) == kCounters);

}  // namespace

const char* name_of(std::uint32_t counter) { return kNames[counter]; }

Counters& Counters::of_process() {
  // Never unmapped: threads count until the process ends.
  static Counters* const counters = [] {
    std::atomic<std::uint64_t>* values = nullptr;
    if (const auto path = environment("GDR_SOFT_COUNTERS")) values = map_counters(*path, kNames);
    if (values == nullptr) values = new std::atomic<std::uint64_t>[kCounters]();
    return new Counters(values);
  }();
  return *counters;
}

}  // namespace gdr::net
