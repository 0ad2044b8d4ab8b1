// What the processes of one host share of a software NIC: plain structs in one sealed memory
// segment per process (see segment.h). The owner creates the objects; initiators in other processes
// read them, take receive requests and push completions.
//
// Trust: every process of the same user may write here. So a reader copies a field once, checks it,
// and uses the copy; the owner keeps its own private copy of whatever it would crash on.
#pragma once

#include <atomic>
#include <cstdint>

#include "rnic/shared_names.h"
#include "rnic/shared_queues.h"

namespace gdr::rnic {

enum class Reach : std::uint32_t {
  kHost = 1,      // ordinary memory of the owner: process_vm_* reaches it
  kServed = 2,    // only the owner can copy it (GPU memory): ask its service thread
  kOnDemand = 3,  // as kHost, but pages may be missing: by the kernel in its own process too
  kNothing = 4,   // takes every byte and keeps none, gives zeros
};

struct alignas(64) SharedRegion {
  std::atomic<std::uint32_t> key;  // 0: no region here
  std::uint32_t protection_domain;
  std::uint32_t access;
  Reach reach;
  std::uint64_t iova;  // what keys' users call its first byte
  std::uint64_t length;
  std::uint64_t address;     // in the owner's address space
  std::uint32_t queue_pair;  // of a window of type 2: the number of the one that it serves; else 0
};
static_assert(sizeof(SharedRegion) == 64);

// How another process may open the memory of the region of the same index: memory::Exported.
struct alignas(64) SharedExport {
  std::atomic<std::uint64_t> identity;  // 0: it cannot be opened
  std::uint64_t address, length;        // of the allocation, in the owner's address space
  std::uint32_t kind;
  std::int32_t descriptor;  // of the owner's process
  std::uint8_t handle[64];
  std::uint8_t device[16];
};
static_assert(sizeof(SharedExport) == 128);

constexpr std::uint8_t kTakesIpv4 = 1;
constexpr std::uint8_t kTakesIpv6 = 2;

// What a flow rule compares: a packet's bytes under a mask, by header. See flow.h.
struct FlowMatch {
  std::uint8_t destination_mac[6], destination_mac_mask[6];
  std::uint8_t source_mac[6], source_mac_mask[6];
  std::uint16_t ether_type, ether_type_mask;  // network order, like all below
  std::uint16_t vlan_tag, vlan_tag_mask;
  std::uint32_t source_ip, source_ip_mask;
  std::uint32_t destination_ip, destination_ip_mask;
  std::uint8_t source_ip6[16], source_ip6_mask[16];
  std::uint8_t destination_ip6[16], destination_ip6_mask[16];
  std::uint16_t source_port, source_port_mask;
  std::uint16_t destination_port, destination_port_mask;
  std::uint8_t protocol, protocol_mask;  // of IP: 17 with UDP specs, 6 with TCP
  std::uint8_t ip_versions;              // kTakesIpv4 and kTakesIpv6; 0: IP is not looked at
  std::uint8_t everything;               // all-default or sniffer rules: no MAC filter either
  std::uint8_t sniffs;                   // gets a copy, and takes the frame from nobody
};

constexpr std::uint32_t kMaxSpread = 128;
constexpr std::uint32_t kHashKeyBytes = 40;

// How the frames of a rule are spread over receive queues. In the arena. See receive_hash.h.
struct SharedSpread {
  std::uint32_t fields;  // ibv_rx_hash_fields
  std::uint32_t size;    // a power of two
  std::uint8_t key[kHashKeyBytes];
  std::uint32_t queue_pair[kMaxSpread];  // indices
};

struct alignas(64) SharedFlow {
  std::atomic<std::uint32_t> generation;  // 0: no rule here
  std::uint32_t device;
  std::uint32_t queue_pair;  // index
  std::uint32_t context;     // see QueuePairSettings
  std::uint32_t rank;        // lower matches first: see flow_rank()
  std::uint64_t spread;      // offset of a SharedSpread, or 0: frames are for queue_pair
  FlowMatch match;
};

// A queue pair's membership in a multicast group. See multicast.h.
struct alignas(32) SharedMember {
  std::atomic<std::uint32_t> generation;  // 0: none here
  std::uint32_t queue_pair;               // index
  std::uint8_t group[16];
};
static_assert(sizeof(SharedMember) == 32);

// Who takes connection requests for a service id. See listeners.h.
struct alignas(32) SharedListener {
  std::atomic<std::uint64_t> stamp;  // a ListenerState, and above it a number; 0: none here
  std::uint64_t service_id;
  std::uint32_t device;  // index in `devices`
};
static_assert(sizeof(SharedListener) == 32);

enum class ServiceState : std::uint32_t {
  kFree,
  kWriting,
  kAsked,
  kTaken,      // the owner's service thread is copying
  kAnswered,   // `result` is there; the initiator frees the place, or the owner after long
  kAbandoned,  // nobody waits for the answer; the owner frees the place
};

// A copy that only the owner of a region can do, asked for by an initiator: bytes go through
// `staging`, which lies in the initiator's own segment. See peers/service_thread.h.
struct alignas(64) ServiceRequest {
  // The initiator's token in the upper half, a ServiceState in the lower: a dead initiator's place
  // is known whenever it died.
  std::atomic<std::uint64_t> word;
  std::uint32_t key;
  std::uint32_t protection_domain;
  std::uint32_t write;    // 1: staging -> region, 0: region -> staging
  std::uint32_t result;   // an errno value, once answered
  std::uint64_t address;  // as the key's users call it
  std::uint64_t length;
  std::uint64_t staging;  // offset in the initiator's segment
};

constexpr std::uint64_t service_word(Token initiator, ServiceState state) {
  return std::uint64_t{initiator} << 32 | static_cast<std::uint32_t>(state);
}
constexpr Token service_initiator(std::uint64_t word) { return static_cast<Token>(word >> 32); }
constexpr ServiceState service_state(std::uint64_t word) {
  return static_cast<ServiceState>(static_cast<std::uint32_t>(word));
}

struct SharedDevice {
  char name[64];
  std::uint8_t mac[6];
  std::uint8_t reserved[2];
  std::uint32_t address_count;
  std::uint32_t carried;  // a bit for each address that packets may have: see PortAddress
  std::uint8_t addresses[kAddresses][16];
};

// The UDP port of an address, which the processes that have it share. See net/port_sharing.h.
struct SharedPort {
  std::atomic<std::uint64_t> name;    // of the socket for what others get in its stead; 0: not open
  std::atomic<std::uint64_t> place;   // the question's number above, 1 + place in the group below
  std::atomic<std::uint32_t> strays;  // how many were handed over
};

struct SharedXrcDomain {
  std::atomic<std::uint32_t> open;
  XrcDomain domain;
};

// Which objects of one table the owner's service thread has to look at: a bit for each index, and
// one for each word of bits that is not 0. See due.h.
struct SharedDue {
  std::atomic<std::uint64_t> words[kQueuePairs / 64];
  std::atomic<std::uint64_t> summary[kQueuePairs / 64 / 64];
};
static_assert(kQueuePairs == kCompletionQueues && kQueuePairs % 4096 == 0);

struct SegmentHeader {
  std::uint64_t magic;
  std::uint32_t layout;  // changes with any change of this file
  Token token;
  // Where the owner has mapped this, and what is found there in no other process's memory.
  std::uint64_t mapped_at, identity;
  std::uint32_t device_count;
  std::atomic<std::uint32_t> flow_end;      // rules live below this index
  std::atomic<std::uint32_t> member_end;    // and memberships below this one
  std::atomic<std::uint32_t> listener_end;  // and listeners below this one
  SharedDevice devices[kDevices];
  SharedPort ports[kDevices][kAddresses];  // as devices and their addresses
  SharedXrcDomain xrc_domains[kXrcDomains];
  // Changes when others take over what this process holds: see shared_lock.h.
  alignas(64) std::atomic<std::uint64_t> epoch;
  alignas(64) SharedDue due_queue_pairs;
  alignas(64) SharedDue due_completion_queues;
  alignas(64) SharedLock atomics;  // every path's atomics on this process's memory
  alignas(64) std::atomic<std::uint32_t> worker_wake;  // futex, counts wake-ups
  std::atomic<std::uint32_t> worker_sleeps;
  alignas(64) std::atomic<std::uint32_t> service_rung;  // a ring is under way or was not heard yet
  std::atomic<std::uint32_t> exports_rung;  // what some other process exports has changed
  // Regions that others may open lie below this index; how often they have changed.
  std::atomic<std::uint32_t> export_end, export_changes;
  // Not 0: it opens others' GPU memory, where its GPU may go on copying when its threads have
  // ended.
  std::atomic<std::uint32_t> copies_by_gpu;
};

constexpr std::uint64_t kSegmentMagic = 0x30'74'69'6b'72'64'67'00;
constexpr std::uint32_t kSegmentLayout = 29;

// Where each table starts, each on a page of its own.
constexpr std::uint64_t page_up(std::uint64_t bytes) {
  return (bytes + 4095) & ~std::uint64_t{4095};
}
constexpr std::uint64_t kQueuePairsAt = page_up(sizeof(SegmentHeader));
constexpr std::uint64_t kCompletionQueuesAt =
    kQueuePairsAt + page_up(sizeof(SharedQueuePair) * kQueuePairs);
constexpr std::uint64_t kRegionsAt =
    kCompletionQueuesAt + page_up(sizeof(SharedCompletionQueue) * kCompletionQueues);
constexpr std::uint64_t kExportsAt = kRegionsAt + page_up(sizeof(SharedRegion) * kRegions);
constexpr std::uint64_t kFlowsAt = kExportsAt + page_up(sizeof(SharedExport) * kRegions);
constexpr std::uint64_t kMembersAt = kFlowsAt + page_up(sizeof(SharedFlow) * kFlows);
constexpr std::uint64_t kListenersAt = kMembersAt + page_up(sizeof(SharedMember) * kMembers);
constexpr std::uint64_t kSrqsAt = kListenersAt + page_up(sizeof(SharedListener) * kListeners);
constexpr std::uint64_t kServiceRequestsAt = kSrqsAt + page_up(sizeof(SharedSrq) * kSrqs);
constexpr std::uint64_t kArenaAt =
    kServiceRequestsAt + page_up(sizeof(ServiceRequest) * kServiceRequests);
constexpr std::uint64_t kSegmentBytes = kArenaAt + kArenaBytes;

}  // namespace gdr::rnic
