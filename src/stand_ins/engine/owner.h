// Owner: what a packet transport needs of the queue pair above it: its send queue, its receives and
// its memory. src/stand_ins/net implements it over src/stand_ins/rnic, the simulation tests over
// plain arrays.
//
// Every call comes from within a call of the transport, on the same thread, and must not call the
// transport back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/transmit.h"

namespace gdr::engine {

enum class WorkKind : std::uint8_t {
  kSend,
  kSendImmediate,
  kSendInvalidate,
  kWrite,
  kWriteImmediate,
  kRead,
  kCompareSwap,
  kFetchAdd,
  kLocal,  // no packet: Owner::carry_out_local does it, once everything before it has completed
};

// How a work request ended, as ibv_wc_status says it.
enum class Status : std::uint8_t {
  kSuccess,
  kLocalLengthError,
  kLocalProtectionError,
  kBadResponse,
  kRemoteInvalidRequest,
  kRemoteAccessError,
  kRemoteOperationalError,
  kRetryExceeded,
  kRnrRetryExceeded,
};

// A posted work request as a transport sees it. `kind` first: not every field means something.
struct Work {
  WorkKind kind = WorkKind::kSend;
  bool solicited = false;
  bool fence = false;           // begins only when every read and atomic before it has completed
  std::uint32_t immediate = 0;  // in network order; of kSendInvalidate the key
  std::uint32_t rkey = 0;
  std::uint64_t remote_address = 0;
  std::uint64_t compare_or_add = 0;
  std::uint64_t swap = 0;
  std::uint64_t length = 0;          // bytes of its local segments
  std::uint32_t xrc_srq = 0;         // XRC
  std::uint32_t destination_qp = 0;  // UD
  std::uint32_t qkey = 0;            // UD
  // Not kSuccess: what the local check found. Nothing of it is sent; it completes so.
  Status error = Status::kSuccess;
};

enum class Right : std::uint8_t { kWrite, kRead, kAtomic };

// What became of bytes that were to be placed, or of a receive that was looked for.
enum class Placed : std::uint8_t {
  kPlaced,
  kRefused,    // no such region, or no right to it: a remote access error
  kTooLong,    // for the receive: an invalid request
  kFault,      // the receiver's own fault: bad local key, memory that is gone. Operational error
  kNoReceive,  // receiver not ready
};

// What completes at the receiver.
struct Received {
  bool is_write = false;  // an RDMA write with immediate: its bytes are not the receive's
  bool has_immediate = false;
  bool has_invalidate = false;
  bool solicited = false;
  std::uint32_t immediate = 0;  // in network order; with has_invalidate the key
  std::uint64_t bytes = 0;
  std::uint32_t source_qp = 0;
  Placed outcome = Placed::kPlaced;  // kTooLong, kFault: the receive completes with that error
};

// Why a responder gives its connection up.
enum class Fault : std::uint8_t {
  kAccess,   // IBV_EVENT_QP_ACCESS_ERR
  kRequest,  // IBV_EVENT_QP_REQ_ERR
};

// Events to be counted; names as `gdr counters` prints them, see counters in src/stand_ins/net.
enum class Event : std::uint8_t {
  kDuplicateRequest,
  kOutOfSequenceRequest,
  kSequenceNakSent,
  kSequenceNakReceived,
  kRnrNakSent,
  kRnrNakReceived,
  kTimeout,  // the local ACK timeout
  kRetransmittedPacket,
  kRemoteAccessRefused,
  kInvalidRequest,      // opcode out of turn, wrong length, wrong transport
  kWrongQkey,           // UD
  kDroppedNoReceive,    // UC, UD
  kDroppedMessage,      // UC: a packet of it was lost
  kUnexpectedResponse,  // a stale or forged acknowledge: outside of what is outstanding
  kCongestionNotified,
  kImpossibleRequest,  // from before the connection's first packet: no peer has sent it
};

constexpr std::uint64_t kNothingLost = ~std::uint64_t{0};

class Owner {
 public:
  virtual ~Owner() = default;

  // --- The send queue: requests are counted from the oldest that has not completed.
  // False: no such request is posted.
  virtual bool work(std::uint32_t index, Work* work) = 0;
  // Whether the payload of this packet, which would go out next, can be had now. False: soon, and
  // the transport is asked for packets again then.
  virtual bool has_bytes(const Transmit&) { return true; }
  // The oldest one has ended. After any status but kSuccess the transport stops for good.
  virtual void complete(Status status) = 0;
  // Bytes of a read response or (8, in host order) of an atomic's, for the local segments of that
  // request. False: they cannot be placed (a local protection error).
  virtual bool place_response(std::uint32_t index, std::uint64_t offset,
                              std::span<const std::byte> bytes) = 0;
  // Carries out the oldest request, whose kind is kLocal. Nothing: it has to wait, and is asked
  // again. Never blocks, since packets of others may wait behind the caller.
  virtual std::optional<Status> carry_out_local() = 0;

  // --- Memory that the other side names by rkey. Rights are those of the region and the queue
  // pair.
  // XRC: the shared receive queue that the message which begins now names: the keys of its requests
  // are looked for beside it. False: there is none (an invalid request). A Transmit of kRegion has
  // it in packet.xrc_srq.
  virtual bool select_srq(std::uint32_t xrc_srq) { return xrc_srq != 0; }
  virtual bool may_access(std::uint32_t rkey, std::uint64_t address, std::uint64_t length,
                          Right right) = 0;
  // Checks again: the region may have gone meanwhile.
  virtual Placed write(std::uint32_t rkey, std::uint64_t address,
                       std::span<const std::byte> bytes) = 0;
  // The value before; nothing: refused. `compare` is kCompareSwap's.
  virtual std::optional<std::uint64_t> atomic(WorkKind kind, std::uint32_t rkey,
                                              std::uint64_t address, std::uint64_t swap_or_add,
                                              std::uint64_t compare) = 0;

  // --- Bytes that write(), place_receive() or place_response() has taken may be placed later, in
  // the order in which they came. Pieces are counted: those that were taken so far, and those
  // of them that are in place. What the bytes are promised by waits for that: the transport's
  // answers here, completions in the owner.
  virtual std::uint64_t pieces_taken() { return 0; }
  virtual std::uint64_t pieces_placed() { return 0; }
  // The first piece that could not be placed: a fault of this side.
  virtual std::uint64_t lost_piece() { return kNothingLost; }

  // --- Receives. Of one message at a time; the receive stays the same until completed.
  // XRC: `xrc_srq` names whose. kPlaced, kNoReceive, kFault (its own keys are wrong), kRefused
  // (XRC: no such shared receive queue).
  virtual Placed begin_receive(std::uint32_t xrc_srq) = 0;
  virtual Placed place_receive(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual void complete_receive(const Received& received) = 0;
  virtual bool may_invalidate(std::uint32_t key) = 0;  // a window bound to this queue pair
  // How many receives wait, for end-to-end credits; nothing: they are shared, no credits are given.
  virtual std::optional<std::uint32_t> receives_waiting() = 0;
  virtual void fail(Fault fault) = 0;  // once

  virtual void count(Event event) = 0;
};

}  // namespace gdr::engine
