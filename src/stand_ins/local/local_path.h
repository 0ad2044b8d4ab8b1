// LocalPath: carries out work requests between processes of one host. The initiator does all of the
// work; the target's CPU takes no part.
//
//   post_send -> send() -> advance() for the front request, until the ring is empty or the front
//   one must wait; then the engine thread goes on with the ring, so that nothing overtakes.
//
// advance() under the send lock, in three steps: begin() finds the target, takes its responder
// lock, checks and says what is to be moved where; carry_out() moves it; finish() pushes the
// target's completion, releases, completes, or says what is to be moved next. Moves that need a GPU
// or the target's service thread stay in progress, with the responder lock held, between calls by
// the engine thread.
#pragma once

#include "local/engine_thread.h"
#include "local/requester.h"
#include "local/staging.h"
#include "peers/neighbours.h"

namespace gdr::local {

constexpr Nanoseconds kLockRetry = 20 * kMicrosecond;

class LocalPath : public rnic::LocalCarrier {
 public:
  // `beyond`: where what is not on this host goes; null: nowhere.
  static Result<std::unique_ptr<LocalPath>> make(rnic::Adapter& adapter,
                                                 peers::Neighbours& neighbours,
                                                 rnic::BeyondCarrier* beyond);
  ~LocalPath() override;  // while no queue pair exists

  void send(rnic::QueuePair& queue_pair) override;
  void send_later(rnic::QueuePair& queue_pair) override;
  int connect(rnic::QueuePair& queue_pair) override;
  void cancel(rnic::QueuePair& queue_pair) override;
  void settle(rnic::QueuePair& queue_pair) override;

  // Whether a process of this host, of this user, has a device of that address.
  bool is_here(const std::uint8_t (&gid)[16]);

  // Engine thread: as far as the ring goes now. True while something is left; `retry_at` and
  // `busy` (a GPU copy is in flight) tell when to come back.
  bool go_on(rnic::QueuePair& queue_pair, Nanoseconds* retry_at, bool* busy);

 private:
  friend class EngineThread;
  using QueuePair = rnic::QueuePair;

  LocalPath(rnic::Adapter& adapter, peers::Neighbours& neighbours, rnic::BeyondCarrier* beyond);
  static Requester& requester_of(QueuePair& queue_pair);
  bool goes_beyond(Requester& requester, const std::uint8_t (&gid)[16]);
  Presence find_target(Requester& requester, std::uint32_t qp_number);

  Advance advance(QueuePair& queue_pair, Requester& requester, bool engine);
  Advance begin(QueuePair& queue_pair, Requester& requester, bool engine);
  Advance carry_out(QueuePair& queue_pair, Requester& requester);
  Advance poll_transfer(QueuePair& queue_pair, Requester& requester);

  // One file each: connected_request.cc, xrc_request.cc, tagged_request.cc, atomic_request.cc,
  // datagram_request.cc, multicast_request.cc, frame_request.cc, window_request.cc.
  Advance connected(QueuePair& queue_pair, Requester& requester, bool engine);
  // Of an XRC request: goes on to the shared receive queue that it names. Nothing: it is there.
  std::optional<Advance> enter_srq(QueuePair& queue_pair, Requester& requester);
  Advance write(QueuePair& queue_pair, Requester& requester, bool engine);
  Advance read(QueuePair& queue_pair, Requester& requester, bool engine);
  Advance send_message(QueuePair& queue_pair, Requester& requester, bool engine);
  // To where tags decide which receive it takes.
  Advance tagged_message(QueuePair& queue_pair, Requester& requester, bool engine);
  // Nothing: the target's shared receive queue is held, and what it holds may be matched.
  std::optional<Advance> enter_tags(Requester& requester);
  Advance window_request(QueuePair& queue_pair, Requester& requester);
  Advance atomic(QueuePair& queue_pair, Requester& requester, bool engine);
  Advance finish_atomic_phase(QueuePair& queue_pair, Requester& requester, Outcome outcome);
  Advance datagram(QueuePair& queue_pair, Requester& requester, bool engine);
  Advance multicast(QueuePair& queue_pair, Requester& requester, bool engine);
  Advance finish_multicast_step(QueuePair& queue_pair, Requester& requester, Outcome outcome);
  Advance serve_members(QueuePair& queue_pair, Requester& requester, bool engine);
  void collect_members(const QueuePair& queue_pair, Requester& requester);
  Advance frame(QueuePair& queue_pair, Requester& requester, bool engine);
  Advance finish_frame_step(QueuePair& queue_pair, Requester& requester, Outcome outcome);
  Advance serve_receivers(QueuePair& queue_pair, Requester& requester, bool engine);
  void collect_receivers(const QueuePair& queue_pair, Requester& requester);

  // Shared by them: request_steps.cc.
  // The request's own bytes, checked. False: completed with IBV_WC_LOC_PROT_ERR.
  bool local_pieces(QueuePair& queue_pair, std::uint32_t rights, PieceList* pieces);
  // Takes a receive and its segments; nothing: go on with it.
  std::optional<Advance> match_receive(QueuePair& queue_pair, Requester& requester,
                                       TakenReceive* receive, PieceList* pieces);
  // `from` and `to` of the requester are ready, and the target is locked: has them moved, now or
  // later.
  Advance move(QueuePair& queue_pair, Requester& requester, bool engine);
  // The same for a message, whose completion carries it if it is small.
  Advance deliver(QueuePair& queue_pair, Requester& requester, bool engine);
  // Of the pieces that their owner would have to copy, those that are open here become pieces here.
  void use_opened(Requester& requester);
  Advance start_moving(QueuePair& queue_pair, Requester& requester, bool engine);
  Advance finish(QueuePair& queue_pair, Requester& requester, Outcome outcome);
  Advance fail(QueuePair& queue_pair, Requester& requester, Outcome outcome);
  Advance break_off(QueuePair& queue_pair, Requester& requester, ibv_wc_status status,
                    rnic::Failure failure);
  Advance not_ready(QueuePair& queue_pair, Requester& requester);
  Advance no_receive(QueuePair& queue_pair, Requester& requester);
  Advance busy(Requester& requester);
  static void tell_of_wait(Requester& requester, Target& target);
  // It has lost what it held, or could not come to its end now.
  Advance begin_again(Requester& requester, Nanoseconds after = 0);
  static void end_transfer(Requester& requester);
  // Its target is dead and has not ended: until then, nobody is told of an end.
  Advance wait_for_end(Requester& requester);
  // Another request holds the shared receive queue that this one needs.
  Advance wait_for_srq(Requester& requester);
  Advance later(Requester& requester, Nanoseconds after);
  void prepare_receive(const QueuePair& queue_pair, Requester& requester, std::uint64_t wr_id,
                       ibv_wc_opcode opcode, std::uint64_t bytes);
  // Completes the receive that was prepared: as it should be, and in any way.
  // False: not now.
  bool complete_receive(Requester& requester);
  bool push_receive(Requester& requester, const std::byte* carried, bool solicited);
  // It cannot take the message: fails on both sides (C9-94, C9-95).
  Advance refuse_receive(QueuePair& queue_pair, Requester& requester, bool too_short);
  // Of a send with invalidate: whether its key is that of a window there.
  static bool may_invalidate(QueuePair& queue_pair, Requester& requester);
  void abandon(Requester& requester);
  void outwait(Requester& requester, std::uint64_t moves);
  // Lets go of the target, and of its memory that was used.
  void release_target(Requester& requester);

  rnic::Adapter* const adapter_;
  peers::Neighbours& neighbours_;
  peers::Peers& peers_;
  rnic::BeyondCarrier* const beyond_;
  Staging staging_;
  std::atomic<bool> staging_is_locked_{false};  // or will be
  EngineThread engine_;
};

}  // namespace gdr::local
