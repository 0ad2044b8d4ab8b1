#include "watching/snapshot.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/printable.h"

namespace gdr::watching {
namespace {

using ledger::kNone;

template <typename Value>
auto get(const std::atomic<Value>& from) {
  return from.load(std::memory_order_relaxed);
}

// A name that another process may be changing, or never ended.
template <std::size_t kBytes>
std::string name_in(const char (&from)[kBytes]) {
  char copy[kBytes];
  std::memcpy(copy, from, kBytes);
  return printable(std::string(copy, strnlen(copy, kBytes)));
}

Counts counts_in(const ledger::Counts& from) {
  Counts counts;
  for (std::size_t kind = 0; kind < counts.bytes.size(); ++kind) {
    for (std::size_t memory = 0; memory < counts.bytes[kind].size(); ++memory) {
      counts.bytes[kind][memory] = get(from.bytes[kind][memory]);
    }
  }
  for (std::size_t kind = 0; kind < counts.operations.size(); ++kind) {
    counts.operations[kind] = get(from.operations[kind]);
  }
  return counts;
}

std::string gid_text(const ledger::QueuePair& from) {
  const std::uint64_t words[2] = {get(from.peer_gid[0]), get(from.peer_gid[1])};
  if (words[0] == 0 && words[1] == 0) return "";
  char text[INET6_ADDRSTRLEN] = "";
  return inet_ntop(AF_INET6, words, text, sizeof text) == nullptr ? "" : text;
}

std::string lower(std::string text) {
  for (char& one : text) {
    one = static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
  }
  return text;
}

// The records that are ready; how many were asked for beyond them.
template <typename Record, std::size_t kMost, typename Take>
std::uint32_t for_each_ready(const ledger::Half& count, const Record (&records)[kMost], Take take) {
  const std::uint32_t claimed = get(count);
  for (std::size_t i = 0; i < std::min<std::size_t>(claimed, kMost); ++i) {
    if (records[i].state.load(std::memory_order_acquire) == ledger::kReady) take(records[i]);
  }
  return claimed > kMost ? claimed - static_cast<std::uint32_t>(kMost) : 0;
}

class Reader {
 public:
  explicit Reader(const ledger::Ledger& from) : from_(from) {}

  Snapshot read() {
    take_devices();
    now_.more_processes = for_each_ready(from_.processes, from_.process,
                                         [&](const ledger::Process& one) { take(one); });
    now_.more_regions =
        for_each_ready(from_.regions, from_.region, [&](const ledger::Region& one) { take(one); });
    now_.more_queue_pairs = for_each_ready(from_.queue_pairs, from_.queue_pair,
                                           [&](const ledger::QueuePair& one) { take(one); });
    now_.made_queue_pairs = get(from_.queue_pairs);
    return std::move(now_);
  }

 private:
  Device& named(const std::string& name) {
    for (Device& known : now_.devices) {
      if (known.name == name) return known;
    }
    return now_.devices.emplace_back(Device{name, 0, {}});
  }

  void take_devices() {
    for_each_ready(from_.devices, from_.device, [&](const ledger::Device& one) {
      Device& device = named(name_in(one.name));
      device.opened += get(one.opened);
      device.all += counts_in(one.rest);
    });
  }

  std::string device_name(std::uint32_t number) const {
    if (number >= ledger::kMostDevices) return "?";
    const ledger::Device& one = from_.device[number];
    return one.state.load(std::memory_order_acquire) == ledger::kReady ? name_in(one.name) : "?";
  }

  std::uint32_t pid_of(std::uint32_t number) const {
    return number < ledger::kMostProcesses ? get(from_.process[number].pid) : 0;
  }

  void take(const ledger::Process& one) {
    now_.processes.push_back({get(one.pid), name_in(one.program), get(one.libraries),
                              get(one.to_host), get(one.to_gpu), get(one.copies_to_host),
                              get(one.copies_to_gpu), static_cast<int>(get(one.capture_error))});
  }

  void take(const ledger::Region& one) {
    Region region;
    region.pid = pid_of(get(one.process));
    region.device = device_name(get(one.device));
    region.way = get(one.way) == 1 ? ledger::Way::kDmaBuf : ledger::Way::kAddress;
    region.memory = get(one.memory) == 1 ? ledger::Memory::kGpu : ledger::Memory::kHost;
    region.managed = get(one.managed) != 0;
    region.released = get(one.released) != 0;
    region.remote = get(one.remote) != 0;
    region.error = static_cast<int>(get(one.error) & 0xfff);
    region.bytes = get(one.bytes);
    region.gpu = lower(name_in(one.gpu));
    now_.regions.push_back(std::move(region));
  }

  void take(const ledger::QueuePair& one) {
    QueuePair pair;
    pair.pid = pid_of(get(one.process));
    pair.device = device_name(get(one.device));
    pair.type = get(one.type);
    pair.number = get(one.number);
    pair.state = get(one.now);
    pair.extended = get(one.extended) != 0;
    pair.by_provider = get(one.by_provider) != 0;
    if (const std::uint32_t peer = get(one.peer_number); peer != kNone) pair.peer_number = peer;
    pair.peer_lid = get(one.peer_lid);
    pair.peer_gid = gid_text(one);
    pair.counts = counts_in(one.counts);
    named(pair.device).all += pair.counts;
    now_.queue_pairs.push_back(std::move(pair));
  }

  const ledger::Ledger& from_;
  Snapshot now_;
};

}  // namespace

Counts& Counts::operator+=(const Counts& more) {
  for (std::size_t kind = 0; kind < bytes.size(); ++kind) {
    for (std::size_t memory = 0; memory < bytes[kind].size(); ++memory) {
      bytes[kind][memory] += more.bytes[kind][memory];
    }
  }
  for (std::size_t kind = 0; kind < operations.size(); ++kind) {
    operations[kind] += more.operations[kind];
  }
  return *this;
}

std::uint64_t Counts::all_of(ledger::BytesOf kind) const {
  std::uint64_t sum = 0;
  for (const std::uint64_t one : bytes[kind]) sum += one;
  return sum;
}

std::uint64_t Counts::all_in(ledger::Memory memory) const {
  std::uint64_t sum = 0;
  for (const auto& kind : bytes) sum += kind[static_cast<std::size_t>(memory)];
  return sum;
}

std::uint64_t Counts::all() const {
  return all_of(ledger::kBytesOut) + all_of(ledger::kBytesRead) + all_of(ledger::kBytesReceived);
}

std::uint64_t Counts::posted() const {
  return operations[ledger::kSends] + operations[ledger::kWrites] + operations[ledger::kReads] +
         operations[ledger::kAtomics];
}

Counts Snapshot::all() const {
  Counts sum;
  for (const Device& one : devices) sum += one.all;
  return sum;
}

Snapshot take_snapshot(const ledger::Ledger& ledger) { return Reader(ledger).read(); }

std::string opened_names(const Snapshot& calls) {
  std::string names;
  for (const Device& one : calls.devices) {
    if (one.opened != 0) names += (names.empty() ? "" : ", ") + one.name;
  }
  return names;
}

}  // namespace gdr::watching
