// The queues in memory that the processes of one host share (shared.h): queue pairs and their
// receives, shared receive queues, completion queues.
#pragma once

#include <cstddef>

#include "rnic/shared_names.h"

namespace gdr::rnic {

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
  // What receive_tail was when an initiator last looked, so that not each message has to fetch the
  // owner's line. Under `responder`.
  std::atomic<std::uint32_t> known_tail;
  // While receives are off the queue and not completed: see receives_taken(). Otherwise 0.
  std::atomic<std::uint64_t> completing;
};
static_assert(sizeof(SharedQueuePair) == 256);

// Most short messages of one list that reach their receiver together.
constexpr std::uint32_t kMostTogether = 32;
// Receives that are taken together: what receive_head was before, and what it is then. Never 0.
constexpr std::uint64_t receives_taken(std::uint32_t from, std::uint32_t to) {
  return std::uint64_t{from} << 32 | to;
}
constexpr std::uint32_t taken_from(std::uint64_t taken) {
  return static_cast<std::uint32_t>(taken >> 32);
}
constexpr std::uint32_t taken_to(std::uint64_t taken) { return static_cast<std::uint32_t>(taken); }

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
  std::atomic<std::uint64_t> completing;
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

}  // namespace gdr::rnic
