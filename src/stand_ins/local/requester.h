// Requester: carries out the send ring of one queue pair within the host: how far the front request
// has come, and the steps that every kind of request is made of. The kinds are in requests.h.
//
// advance() goes in three steps: begin() finds the target, takes its responder lock, checks and
// says what is to be moved where; carry_out() moves it; finish() pushes the target's completion,
// releases, completes, or says what is to be moved next. Moves that need a GPU or the target's
// service thread stay in progress, with the responder lock held, between calls by the engine
// thread.
//
// Everything under the queue pair's send lock, except `moves_*` and `to_begin_again`. Hot.
#pragma once

#include <atomic>
#include <memory>
#include <variant>
#include <vector>

#include "local/ahead.h"
#include "local/port_traffic.h"
#include "local/requests.h"
#include "local/target.h"
#include "local/transfer.h"
#include "peers/neighbours.h"
#include "rnic/queue_pair.h"

namespace gdr::local {

class LocalPath;
using peers::KnownPeer;
using peers::Presence;

constexpr Nanoseconds kLockRetry = 20 * kMicrosecond;
constexpr Nanoseconds kReadyRetry = kMillisecond;
// Most requests of a list that go through one holding of their target's lock.
constexpr std::uint32_t kMostKept = 32;

struct Requester final : rnic::CarrierState {
  Requester(LocalPath& path, rnic::QueuePair& queue_pair);

  // --- For LocalPath.
  // The front request as far as it goes now.
  Advance advance(bool engine);
  // The front requests that can go together: see requester_run.cc. Not by the engine thread.
  enum class RunWent { kNothing, kSent, kWaits };
  RunWent send_run();
  // Gives the front request up. No byte moves for it after this returns.
  void cancel();
  // Returns when as many moves as `moves_begun` told of have ended.
  void outwait(std::uint64_t moves_then);

  // --- For the kinds of requests.
  const rnic::SendRequest& request() const { return queue_pair.send_ring().front(); }
  bool is_reliable() const { return rnic::is_reliable(queue_pair.type()); }
  // Finds the queue pair that the front request goes to.
  Presence find_target(std::uint32_t qp_number);
  // The request's own bytes, checked. False: it ends with IBV_WC_LOC_PROT_ERR.
  bool local_pieces(std::uint32_t rights, PieceList* pieces) {
    return pieces_of(request(), rights, pieces);
  }
  bool pieces_of(const rnic::SendRequest& of, std::uint32_t rights, PieceList* pieces);
  // What its key names at the target, checked; adds nothing where it may not be used.
  bool remote_piece(std::uint32_t right, std::uint64_t bytes, PieceList* pieces) {
    return piece_of(request(), right, bytes, pieces);
  }
  bool piece_of(const rnic::SendRequest& of, std::uint32_t right, std::uint64_t bytes,
                PieceList* pieces);
  // A piece that its owner would have to copy, but that is open here, becomes one here; `opened`
  // keeps it so.
  void open_piece(Piece& piece, std::shared_ptr<memory::PinnedMemory>* opened);
  // Takes a receive and its segments; nothing: go on with it.
  std::optional<Advance> match_receive(std::uint64_t bytes, TakenReceive* taken, PieceList* pieces);
  // Whether the target has yet to be told the end of a message that it has sent, which this one may
  // be the answer to; then it waits.
  bool is_early_answer();
  Advance wait_to_answer();
  // For a send with invalidate: whether its key names a window there.
  bool may_invalidate() const;
  void prepare_receive(std::uint64_t wr_id, ibv_wc_opcode opcode, std::uint64_t bytes);
  // Completes the receive that was prepared: as it should be; and in any way, carrying nothing.
  Pushed complete_receive();
  Pushed push_receive(bool is_solicited);

  // `from` and `to` are ready, and the target is locked: has them moved, now or later.
  Advance move() { return move(by_engine); }
  Advance move(bool engine);
  // The same for a message, whose completion carries it if it is short.
  Advance deliver();

  // --- How it ends.
  Advance complete();
  // The carrier between hosts goes on with it.
  Advance pass_on();
  Advance break_off(ibv_wc_status status, rnic::Failure failure = rnic::Failure::kNone);
  // The other side refuses it: by an unreliable transport nobody tells, and the message is lost.
  Advance refuse(ibv_wc_status status, rnic::Failure failure);
  // Its receive cannot take the message: fails on both sides (C9-94, C9-95).
  Advance refuse_receive(bool too_short);
  // The move failed: whose fault was it?
  Advance fail(Outcome outcome);

  // --- How it waits: from its first check on, at retry_at or when woken.
  Advance later(Nanoseconds after);
  // It has lost what it held, or could not come to its end now.
  Advance begin_again(Nanoseconds after = 0);
  Advance not_ready();
  // The receive is there as before.
  Advance not_completed(Pushed why);
  // Its target's process has ended, or was never there.
  Advance gone();
  // Somebody else's request is being carried out against the target.
  Advance busy();
  // Its target is dead and has not ended: until then, nobody is told of an end.
  Advance wait_for_end();
  Advance wait_to_meet(std::uint32_t qp_number);
  Advance go_on_waiting(Nanoseconds since, Nanoseconds after);
  // Another request holds the shared receive queue that this one needs.
  Advance wait_for_srq();
  void tell_of_wait(Target& there);

  // Lets go of the target and forgets what was under way; the request itself stays in front.
  void abandon();
  // Of a target that the request before has left locked for this one: see may_keep_target().
  bool has_kept_target() const { return kept != 0; }
  // Lets go of the target, and of its memory that was used.
  void release_target();

  LocalPath& path;
  rnic::Adapter& adapter;
  peers::Neighbours& neighbours;
  rnic::QueuePair& queue_pair;

  KnownPeer peer;       // where a connected queue pair sends, or where the last datagram went
  KnownPeer srq_owner;  // of the last XRC request

  KnownPort known_port;  // the last one that a message went to
  UncountedTraffic uncounted;

  bool coalesces = true;   // false: the kernel refuses calls that move several requests
  bool on_engine = false;  // the engine thread goes on with the ring
  bool by_engine = false;  // and it is the one that is at it now
  // Something was posted since the engine thread has last looked. Set and cleared under the send
  // lock.
  std::atomic<bool> has_news{false};

  // Waiting: for the target to be ready, for a receive, for a lock.
  Nanoseconds waiting_since = 0;  // 0: not waiting
  Nanoseconds answer_since = 0;   // for the end of the message that it answers; 0: not waiting
  Nanoseconds retry_at = 0;
  Nanoseconds told_of_wait = 0;  // the owner of a lock, of others' waiting for it

  // --- The request in progress.
  Target target;               // locked while in_progress, and while copies are ahead
  std::uint32_t kept = 0;      // requests that have left it locked for the next one; 0: it is not
  Nanoseconds held_since = 0;  // since then copies are ahead; 0: none have been
  PieceList from, to;          // what is to be moved
  bool in_progress = false;    // a transfer that poll_transfer() finishes
  bool invalidated = false;    // its window is, and it has not completed
  bool has_receive = false;    // `receive` is to be pushed at the end
  bool has_tag = false;        // it is that of a message with a header: `tag` says more
  TagMatch tag;
  bool solicited = false;
  rnic::SharedCompletion receive{};
  const std::byte* few = nullptr;  // receive.carried bytes, of the program or gathered here:
  std::byte carried[rnic::kCarriedBytes];
  alignas(8) std::uint8_t grh[rnic::kGrhBytes];
  Transfer transfer;
  std::vector<std::shared_ptr<memory::PinnedMemory>> opened;  // the peer's, that it moves
  memory::PeerMemoryClient::Sequence sequence;                // of the copies that go directly
  Ahead ahead;
  // How many transfers and copies ahead have begun, and how many of those, in order, have ended:
  // deregistration waits for what has begun.
  std::atomic<std::uint64_t> moves_begun{0}, moves_ended{0};
  // Deregistration has waited for long: the transfer is given up and the request begins again, with
  // the keys that there are then.
  std::atomic<bool> to_begin_again{false};
  // What a request of several steps is in the middle of.
  std::variant<std::monostate, AtomicStep, Group, rnic::WindowChange> progress;

 private:
  Advance begin();
  Advance carry_out();
  Advance poll_transfer();
  Advance finish(Outcome outcome);
  void use_opened();
  void keep_target();
  void drain_ahead();
  void end_transfer();
  Advance no_receive();
  Advance unanswered(Nanoseconds at_most);
  void count_broken_off(ibv_wc_status status);
  Advance end(ibv_wc_status status, std::uint64_t bytes);
  Advance start_moving(bool engine);
  void let_go_of_progress();
  bool may_keep_target();
  void carry_few();
  bool enter_run();
  void finish_run(std::uint32_t sent, bool is_told);
  const std::byte* short_bytes(const rnic::SendRequest& of, rnic::KnownRange& own);
  Pushed push(const rnic::Carried& what, bool is_solicited);
};

}  // namespace gdr::local
