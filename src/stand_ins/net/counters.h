// Counters: what became of packets, by cause, for `gdr counters`.
//
//   Counters& counters = Counters::of_process();
//   counters.add(Counter::kWrongIcrc);
//
// Kept in this process's memory, or, if GDR_SOFT_COUNTERS names a file, in that file, which every
// process that is given the same name adds to. Any thread. Hot.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/owner.h"
#include "wire/packet.h"

namespace gdr::net {

enum class Counter : std::uint32_t {
  kPacketsSent,
  kBytesSent,
  kPacketsReceived,
  kBytesReceived,
  // Dropped on arrival, before any queue pair saw it.
  kMalformed,
  kWrongIcrc,
  kUnknownQueuePair,
  kWrongTransport,
  kWrongAddress,
  kWrongSourcePort,  // from another account of this host
  kWrongPartitionKey,
  kNotReceiving,     // the queue pair is not in a state to receive
  kForwarded,        // for another process on this address, and handed to it
  kDroppedByFilter,  // by the kernel, in a flood: see flood_gate.h
  // Management datagrams, on queue pair 1: see general_services.h.
  kMadReceived,
  kMadRefused,    // a request that nobody listens for, answered so
  kMadForNobody,  // dropped
  kMadNoRoom,     // dropped: more than are kept
  // By librdmacm: see gdr_gsi_drop.
  kMadBacklogFull,
  kMadInvalidRequest,
  kMadUnexpected,
  // Dropped on the way out.
  kNotSent,
  // engine::Event, in its order.
  kFirstEvent,
};

constexpr std::uint32_t kEvents = static_cast<std::uint32_t>(engine::Event::kImpossibleRequest) + 1;
constexpr std::uint32_t kCounters = static_cast<std::uint32_t>(Counter::kFirstEvent) + kEvents;

const char* name_of(std::uint32_t counter);  // "wrong_icrc"

class Counters {
 public:
  // A file that cannot be used is done without: check_file() has said so before.
  static Counters& of_process();
  // Whether the file that GDR_SOFT_COUNTERS names, if any, can be made or added to.
  static Result<void> check_file();

  void add(Counter counter, std::uint64_t n = 1) { add(static_cast<std::uint32_t>(counter), n); }
  void add(engine::Event event) {
    add(static_cast<std::uint32_t>(Counter::kFirstEvent) + static_cast<std::uint32_t>(event), 1);
  }
  std::uint64_t value(Counter counter) const {
    return values_[static_cast<std::uint32_t>(counter)].load();
  }

 private:
  explicit Counters(std::atomic<std::uint64_t>* values) : values_(values) {}
  void add(std::uint32_t counter, std::uint64_t n) {
    values_[counter].fetch_add(n, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t>* const values_;
};

}  // namespace gdr::net
