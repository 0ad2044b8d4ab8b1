// What names and numbers mean in memory that the processes of one host share (shared.h): processes,
// queue pairs, locks, and how a field is read that another process may change.
#pragma once

#include <atomic>
#include <cstdint>

namespace gdr::rnic {

// Who holds a lock: the process's slot (see slots.h) and a random incarnation, so that a new
// process in a dead one's slot is not mistaken for it. Never 0.
using Token = std::uint32_t;

constexpr std::uint32_t kSlotBits = 10;
constexpr std::uint32_t kSlots = 1u << kSlotBits;  // slot 0 is never used
constexpr std::uint32_t kQueuePairBits = 24 - kSlotBits;
constexpr std::uint32_t kQueuePairs = 1u << kQueuePairBits;  // of one process
constexpr std::uint32_t kCompletionQueues = 1u << 14;
constexpr std::uint32_t kRegionBits = 17;
constexpr std::uint32_t kRegions = 1u << kRegionBits;
constexpr std::uint32_t kFlows = 1024;
constexpr std::uint32_t kMembers = 4096;
constexpr std::uint32_t kListeners = 1024;
constexpr std::uint32_t kSrqs = 1u << 12;
constexpr std::uint32_t kXrcDomains = 256;
constexpr std::uint32_t kServiceRequests = 64;
constexpr std::uint64_t kMostServed = 1024 * 1024;  // bytes that one of them copies
constexpr std::uint32_t kDevices = 16;
constexpr std::uint32_t kAddresses = 8;   // of one device, each with a GID of RoCE v1 and one of v2
constexpr std::uint32_t kOwnAddress = 1;  // the one that it is configured with
constexpr std::uint64_t kArenaBytes = std::uint64_t{1} << 32;  // sparse: only touched pages exist

constexpr Token make_token(std::uint32_t slot, std::uint32_t incarnation) {
  return slot << (32 - kSlotBits) | (incarnation & ((1u << (32 - kSlotBits)) - 1));
}
constexpr std::uint32_t slot_of(Token token) { return token >> (32 - kSlotBits); }

// A queue pair number carries its process, so that no table has to be asked for the owner.
constexpr std::uint32_t make_qp_number(std::uint32_t slot, std::uint32_t index) {
  return slot << kQueuePairBits | index;
}
constexpr std::uint32_t slot_of_qp(std::uint32_t number) {
  return (number >> kQueuePairBits) & (kSlots - 1);
}
constexpr std::uint32_t index_of_qp(std::uint32_t number) { return number & (kQueuePairs - 1); }

// A lock between processes that a waiter can take over from a dead holder: the holder's token in
// the upper half, in the lower half a count of acquisitions, so that a waiter who only wants the
// present holder gone is not starved by the same process taking it again. See shared_lock.h.
struct SharedLock {
  std::atomic<std::uint64_t> word;
};

// What an XRC domain is called, alike in every process that opened it. See xrc_domains.h.
struct XrcDomain {
  std::uint64_t device = 0;       // the MAC address of its device; 0: none
  std::uint64_t file_system = 0;  // of the file that it was opened by; kPrivate: by none
  std::uint64_t file = 0;
  bool operator==(const XrcDomain&) const = default;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A plain field that another process may change at any time: read here, and only here.
template <typename T>
T read_once(const T& field) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_relaxed);
}

inline XrcDomain read_once(const XrcDomain& domain) {
  return {read_once(domain.device), read_once(domain.file_system), read_once(domain.file)};
}

// std::has_single_bit calls a library function where the compiler may not use popcnt. Hot.
constexpr bool is_power_of_two(std::uint32_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace gdr::rnic
