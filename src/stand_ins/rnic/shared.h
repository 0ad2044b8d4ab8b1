// What the processes of one host share of a software NIC: plain structs in one sealed memory
// segment per process (see segment.h). The owner creates the objects; initiators in other processes
// read them, take receive requests and push completions.
//
// Trust: every process of the same user may write here. So a reader copies a field once, checks it,
// and uses the copy; the owner keeps its own private copy of whatever it would crash on.
#pragma once

#include <atomic>
#include <cstddef>
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

enum class Failure : std::uint32_t {
  kNone,
  kReported,  // an initiator broke off: the owner moves to error, flushes and raises an event
  kInvalid,   // the same, for a request that the queue pair does not take
  kFatal,     // the same, for a completion queue in error
  kServed,    // the owner has moved to error
};

struct alignas(64) SharedQueuePair {
  // Held by whoever executes a work request against this queue pair, until its last byte and its
  // completion are in place: also the mark of what is in flight, on which destroy, modify to error
  // and deregistration wait.
  SharedLock responder;
  std::atomic<std::uint32_t> state;  // ibv_qp_state
  std::uint32_t type;                // ibv_qp_type
  std::uint32_t protection_domain;
  std::uint32_t receive_completion_queue;
  std::atomic<std::uint32_t> destination;  // the connected queue pair's number
  std::atomic<std::uint32_t> qkey;
  std::atomic<std::uint32_t> access;  // ibv_access_flags granted to the remote side
  std::atomic<std::uint32_t> minimum_rnr_timer;
  std::atomic<std::uint32_t> failure;  // a Failure: what the owner's service thread has to do
  std::uint32_t receive_stride;        // bytes of one SharedReceive with its segments
  std::uint32_t receive_capacity;      // a power of two, or 0
  std::uint32_t receive_segments;      // segments a request may have
  std::uint32_t receive_domain;        // the protection domain of its receives
  std::uint64_t receive_ring;          // offset in the segment
  // 1 + the index of the shared receive queue that it takes from, or 0. Its own ring then has one
  // place: for the receive that it has taken and not yet completed.
  std::uint32_t srq;
  XrcDomain xrc_domain;  // of IBV_QPT_XRC_RECV
  std::uint32_t device;  // what a request has to be addressed to: one of its addresses
  // A message of this queue pair's own has reached its receiver, and its completion has not been
  // pushed yet: what the receiver answers has to wait. See QueuePair::begin_to_end().
  std::atomic<std::uint32_t> ending_send;

  alignas(64) std::atomic<std::uint32_t> receive_tail;  // advanced by the owner
  std::atomic<Token> receive_waiter;  // a process to wake when a receive is posted, or 0
  // What receive_head was behind the last receive whose completion the owner has polled, so that
  // not each post has to fetch the initiator's line.
  std::atomic<std::uint32_t> polled_head;
  alignas(64) std::atomic<std::uint32_t> receive_head;  // advanced under `responder`
  // While a receive is off the queue and not completed: what receive_head is then. Otherwise 0.
  std::atomic<std::uint32_t> completing;
  // What receive_tail was when an initiator last looked, so that not each message has to fetch the
  // owner's line. Under `responder`.
  std::atomic<std::uint32_t> known_tail;
};
static_assert(sizeof(SharedQueuePair) == 256);

struct SharedSegmentEntry {
  std::uint64_t address;
  std::uint32_t length;
  std::uint32_t key;
};

struct SharedReceive {
  std::uint64_t wr_id;
  std::uint32_t segments;
  std::uint32_t reserved;
  SharedSegmentEntry segment[];
};

// A shared receive queue (SRQ). Many initiators take from it, each under its queue pair's responder
// lock first and this `consumer` after it. Of an XRC one they hold it for the whole request: the
// memory is that of this process, and the queue pair may be another's.
struct alignas(64) SharedSrq {
  SharedLock consumer;
  std::atomic<std::uint32_t> generation;  // 0: no shared receive queue here
  std::uint32_t protection_domain;
  std::uint32_t receive_stride, receive_capacity, receive_segments;  // as of a queue pair
  std::uint64_t receive_ring;
  std::atomic<std::uint32_t> takes_xrc;  // XRC requests may name it
  std::uint32_t completion_queue;        // of one that initiators take from directly
  XrcDomain xrc_domain;

  // For a queue that matches tags: see tag_list.h. Changed under `consumer`.
  std::atomic<std::uint32_t> matches_tags;
  std::uint32_t tag_capacity, tag_stride;
  std::uint64_t tags;  // offset of its SharedTags
  std::atomic<std::uint32_t> tag_end;
  std::atomic<std::uint32_t> completing_tag;  // 1 + the index of one that is TagState::kTaken, or 0
  std::atomic<std::uint32_t> unexpected;      // messages
  std::atomic<std::uint32_t> unexpected_next;  // how many once the receive is completed

  // A receive on its way into a queue pair's ring: 1 + the queue pair's index, or 0. If the taker
  // dies, the next one to lock `consumer` finishes the move: the receive is neither lost nor given
  // out twice.
  alignas(64) std::atomic<std::uint32_t> taking;
  std::atomic<std::uint32_t> taking_from;  // `receive_head` before
  std::atomic<std::uint32_t> taking_to;    // the queue pair's `receive_tail` before
  std::atomic<std::uint32_t> limit;        // armed if not 0; kSrqLimitReached: the event is due

  alignas(64) std::atomic<std::uint32_t> receive_tail;  // advanced by the owner
  std::atomic<std::uint32_t> waiting;                   // somebody may be in `waiters`
  alignas(64) std::atomic<std::uint32_t> receive_head;  // advanced under `consumer`
  // For a queue that initiators take from directly (XRC, tags): as in a queue pair.
  std::atomic<std::uint32_t> completing;
  // Processes to wake when a receive is posted: a bit for each slot.
  alignas(64) std::atomic<std::uint64_t> waiters[kSlots / 64];
};
constexpr std::uint32_t kSrqLimitReached = 1u << 31;

struct SharedCompletion {
  std::uint64_t wr_id;
  std::uint32_t status;      // ibv_wc_status
  std::uint32_t opcode;      // ibv_wc_opcode
  std::uint32_t bounced_at;  // of more bytes than an annex holds: their place in the bounce ring
  std::uint32_t bytes;
  std::uint32_t immediate;  // network order, as in ibv_wc
  std::uint32_t qp_number;
  std::uint32_t source_qp;
  std::uint32_t flags;  // ibv_wc_flags
  std::uint8_t service_level;
  std::uint8_t solicited;  // not 0: its sender asked for an event
  // 1 + the shared receive queue's index if the receive was taken directly from it; see
  // tag_list.cc.
  std::uint16_t srq;
  // A short message's bytes lie in the annex or the bounce ring; whoever polls the completion
  // stores them.
  std::uint16_t carried;     // how many; 0: everything is in its place already
  std::uint16_t mark;        // see mark_of(); 0: its producer has not come so far
  std::uint64_t carried_to;  // where, as the receive request says it
  std::uint32_t carried_key;
  std::uint32_t receive;  // of a receive: its queue's receive_head behind it
};
static_assert(sizeof(SharedCompletion) == 64);

constexpr std::uint32_t kCarriedBytes = 256;  // most that a completion carries in its annex
struct alignas(64) CompletionAnnex {
  std::byte carried[kCarriedBytes];
  std::uint64_t device_time;  // when it was pushed: of the device's clock, if the queue asks for it
  std::uint64_t wall_time;    // and in nanoseconds since 1970
  // The tag that the message matched, if the queue asks for it; else 0.
  std::uint64_t tag;
  std::uint32_t tag_context;
};

// SharedCompletionQueue::traits
constexpr std::uint32_t kRecordsDeviceTime = 1;
constexpr std::uint32_t kRecordsWallTime = 2;
constexpr std::uint32_t kIgnoresOverrun = 4;  // what finds no room is lost, and nothing is said
constexpr std::uint32_t kRaisesEvents = 8;    // it has a completion channel: it can be armed
constexpr std::uint32_t kRecordsTag = 16;

// SharedCompletionQueue::event
constexpr std::uint32_t kEventDue = 1;
constexpr std::uint32_t kEventRaised = 2;  // one of them

struct alignas(64) SharedCompletionQueue {
  SharedLock producer;
  std::atomic<std::uint32_t> generation;  // 0: no completion queue here
  std::atomic<std::uint32_t> armed;       // 0 no, 1 solicited only, 2 any
  // kEventDue: nobody has told of one yet; above it how many were raised and not taken.
  std::atomic<std::uint32_t> event;
  std::uint32_t capacity;  // a power of two; like limit and ring, changed under `producer`
  std::uint32_t limit;     // completions it may hold
  std::uint32_t traits;
  std::uint64_t ring;  // offset in the segment: `capacity` completions, then what they carry
  // How many completions make an event: 0 and 1 are the same. Fewer wait for the owner's timer.
  std::atomic<std::uint32_t> moderation;
  std::atomic<std::uint32_t> held;        // completions since it was armed that made no event yet
  std::atomic<std::uint32_t> known_head;  // what `head` was when a producer last looked
  std::atomic<std::uint32_t> told;        // what `tail` was when an event was last made
  // Its channel's pipe: see event_pipe.h. An inode of 0: only its owner can wake who waits there.
  std::int32_t pipe_descriptor;
  std::uint32_t pipe_inode;
  alignas(64) std::atomic<std::uint32_t> tail;
  std::atomic<std::uint32_t> overrun;  // beside what the owner polls
  // The bounce ring: see bounce_ring.h. Positions count bytes, and on past the ring's end.
  std::uint64_t bounce;  // offset in the segment; 0: none
  std::atomic<std::uint32_t> bounce_tail;
  std::atomic<std::uint32_t> known_bounce_head;  // as known_head
  alignas(64) std::atomic<std::uint32_t> head;   // advanced by the owner
  std::atomic<std::uint32_t> bounce_head;        // the same
};
static_assert(sizeof(SharedCompletionQueue) == 192);

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
constexpr std::uint32_t kSegmentLayout = 28;

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
