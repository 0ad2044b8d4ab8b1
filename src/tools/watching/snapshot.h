// Snapshot: what a ledger holds at one moment, as plain values. Everything in it was written by
// other processes: numbers are as they say, names are fit to be shown, and references lead to
// records that exist or nowhere.
//
//   const Snapshot now = take_snapshot(file.ledger());
//   for (const QueuePair& one : now.queue_pairs) ...
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.h"

namespace gdr::watching {

struct Counts {
  std::array<std::array<std::uint64_t, ledger::kMemories>, ledger::kBytesOf> bytes{};
  std::array<std::uint64_t, ledger::kOperations> operations{};

  Counts& operator+=(const Counts& more);
  std::uint64_t all_of(ledger::BytesOf kind) const;
  std::uint64_t all_in(ledger::Memory memory) const;
  std::uint64_t all() const;
  // Requests that the program posted.
  std::uint64_t posted() const;
};

struct Process {
  std::uint32_t pid = 0;
  std::string program;
  std::uint64_t libraries = 0;  // ledger::Library
  std::uint64_t to_host = 0, to_gpu = 0, copies_to_host = 0, copies_to_gpu = 0;
  int capture_error = 0;  // errno, where the capture of packets ended early
};

struct Device {
  std::string name;
  std::uint32_t opened = 0;
  Counts all;  // of its queue pairs, with or without a record
};

struct Region {
  std::uint32_t pid = 0;
  std::string device;
  ledger::Way way = ledger::Way::kAddress;
  ledger::Memory memory = ledger::Memory::kHost;
  bool managed = false, released = false, remote = false;
  int error = 0;  // its errno where it failed
  std::uint64_t bytes = 0;
  std::string gpu;  // PCI address, in lower case
};

struct QueuePair {
  std::uint32_t pid = 0;
  std::string device;
  std::uint32_t type = 0, number = 0, state = 0;
  bool extended = false, by_provider = false;
  std::optional<std::uint32_t> peer_number;
  std::uint32_t peer_lid = 0;
  std::string peer_gid;  // empty: none
  Counts counts;
};

struct Snapshot {
  std::vector<Process> processes;
  std::vector<Device> devices;  // one for each name
  std::vector<Region> regions;
  std::vector<QueuePair> queue_pairs;
  std::uint32_t made_queue_pairs = 0;  // with or without a record
  // Beyond the records; a lower bound.
  std::uint32_t more_regions = 0, more_queue_pairs = 0, more_processes = 0;

  Counts all() const;
};

Snapshot take_snapshot(const ledger::Ledger& ledger);

// The devices that the program opened: "soft0, soft1". Empty: none.
std::string opened_names(const Snapshot& calls);

}  // namespace gdr::watching
