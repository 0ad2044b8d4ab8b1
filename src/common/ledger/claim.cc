#include <algorithm>
#include <cstring>

#include "ledger/ledger.h"

namespace gdr::ledger {
namespace {

template <typename Record, std::size_t kMost>
Record* claim(Half& count, Record (&records)[kMost]) {
  // Not by addition alone: a writer that tried for years must not come round to the first again.
  if (count.load(std::memory_order_relaxed) >= 2 * kMost) return nullptr;
  const std::uint32_t number = count.fetch_add(1, std::memory_order_relaxed);
  if (number >= kMost) return nullptr;
  records[number].state.store(kBusy, std::memory_order_relaxed);
  return &records[number];
}

void copy_name(char (&to)[kNameBytes], const char* from) {
  const std::size_t length = strnlen(from, kNameBytes - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

}  // namespace

Process* claim_process(Ledger& ledger, std::uint32_t pid, const char* program) {
  Process* made = claim(ledger.processes, ledger.process);
  if (made == nullptr) return nullptr;
  made->pid.store(pid, std::memory_order_relaxed);
  copy_name(made->program, program);
  publish(made->state);
  return made;
}

Device* claim_device(Ledger& ledger, const char* name) {
  const std::uint32_t known =
      std::min(ledger.devices.load(std::memory_order_relaxed), kMostDevices);
  for (std::uint32_t i = 0; i < known; ++i) {
    Device& one = ledger.device[i];
    if (one.state.load(std::memory_order_acquire) == kReady &&
        std::strncmp(one.name, name, kNameBytes - 1) == 0) {
      return &one;
    }
  }
  Device* made = claim(ledger.devices, ledger.device);
  if (made == nullptr) return nullptr;
  copy_name(made->name, name);
  publish(made->state);
  return made;
}

Region* claim_region(Ledger& ledger) { return claim(ledger.regions, ledger.region); }

QueuePair* claim_queue_pair(Ledger& ledger) {
  QueuePair* made = claim(ledger.queue_pairs, ledger.queue_pair);
  if (made != nullptr) made->peer_number.store(kNone, std::memory_order_relaxed);
  return made;
}

void publish(Half& state) { state.store(kReady, std::memory_order_release); }

}  // namespace gdr::ledger
