// How a request is found its target, moved, and comes to its end.
#include "local/requester.h"

#include <unistd.h>

#include <cstring>

#include "base/kill_point.h"
#include "local/coalesce.h"
#include "local/fault_hooks.h"
#include "local/local_path.h"
#include "local/move_now.h"
#include "local/process_memory.h"
#include "rnic/delivery/segments.h"

namespace gdr::local {
namespace {

constexpr std::uint64_t kMostKeptBytes = 1024;

constexpr Nanoseconds kExecTakes = 20 * kMillisecond;  // also of one that loses the CPU in it
constexpr Nanoseconds kSettleNap = 50 * kMicrosecond;
constexpr Nanoseconds kSettlePatience = 200 * kMillisecond;

// To another process's memory that the CPU reaches, in one stretch.
bool can_be_carried(const PieceList& from, const PieceList& to) {
  if (to.bytes() == 0 || to.bytes() > rnic::kBouncedBytes || to.pieces().size() != 1) return false;
  return to.pieces().front().where == Where::kProcess && !to.has_on_demand() &&
         from.cpu_reachable() && !from.has_on_demand() && !from.has_nowhere();
}

// A process that calls exec has other memory a moment before its connections are closed.
bool is_gone(peers::Peer& peer, int error) {
  if (!peer.check_alive()) return true;
  if (error != EFAULT) return false;
  for (const Nanoseconds end = now() + kExecTakes; now() < end; usleep(100)) {
    if (!peer.check_alive()) return true;
  }
  return false;
}

}  // namespace

Requester::Requester(LocalPath& its_path, rnic::QueuePair& its_queue_pair)
    : path(its_path),
      adapter(its_path.adapter()),
      neighbours(its_path.neighbours()),
      queue_pair(its_queue_pair) {}

// The move stands here, and not at the end of the checks where it is decided, for speed: the system
// call uses up the processor's return predictor, and then the way back costs by the depth.
Advance Requester::advance(bool engine) {
  by_engine = engine;
  Advance went = begin();
  while (went == Advance::kMove) went = carry_out();
  return went;
}

Advance Requester::begin() {
  if (in_progress) return by_engine ? Advance::kMove : Advance::kEngine;
  if (std::holds_alternative<Group>(progress)) return serve_group(*this);
  switch (queue_pair.type()) {
    case IBV_QPT_UD:
      return begin_datagram(*this);
    case IBV_QPT_RAW_PACKET:
      return begin_frame(*this);
    default:
      return begin_connected(*this);
  }
}

void Requester::cancel() {
  if (in_progress) transfer.drain();
  end_transfer();
  queue_pair.go_back();
  abandon();
  progress = {};
  answer_since = 0;
}

// A transfer that waits for another process may wait for as long as that one is stopped: after a
// while it has to begin again. This process's own copies in it end by themselves.
void Requester::outwait(std::uint64_t moves_then) {
  Nanoseconds waited = 0;
  for (; moves_ended.load() < moves_then; waited += kSettleNap) {
    if (waited >= kSettlePatience) {
      to_begin_again.store(true);
      neighbours.wake_engine();
    }
    usleep(kSettleNap / kMicrosecond);
  }
}

Presence Requester::find_target(std::uint32_t qp_number) {
  const std::uint32_t slot = rnic::slot_of_qp(qp_number), index = rnic::index_of_qp(qp_number);
  if (slot == rnic::slot_of(adapter.token())) {
    target = Target(adapter, nullptr, index);
    return Presence::kThere;
  }
  const Presence presence = neighbours.find(peer, slot);
  target = presence == Presence::kThere ? Target(adapter, peer.peer.get(), index) : Target();
  return presence;
}

bool Requester::pieces_of(const rnic::SendRequest& of, std::uint32_t rights, PieceList* pieces) {
  const std::uint32_t domain = queue_pair.domain_of(of);
  pieces->clear();
  if (of.flags & IBV_SEND_INLINE) {
    pieces->add(plain_piece(of.inline_data().data(), of.inline_bytes));
    return true;
  }
  return rnic::find_segments(adapter.regions(), of.segments(), domain,
                             rights | rnic::kUseAsLocalKey,
                             [&](const rnic::Place& place, std::uint32_t length) {
                               fill_piece_here(place, length, &pieces->next());
                               pieces->take_next();
                             });
}

// No key is looked at for no bytes (C9-88).
bool Requester::piece_of(const rnic::SendRequest& of, std::uint32_t right, std::uint64_t bytes,
                         PieceList* pieces) {
  if (bytes == 0) return true;
  if (!target.grants(right) || target.find(of.rkey, of.remote_address, bytes, right,
                                           &pieces->next()) != rnic::RegionError::kNone) {
    return false;
  }
  pieces->take_next();
  return true;
}

Advance Requester::deliver() {
  faults::before_move(from, to, true);
  if (!can_be_carried(from, to)) return start_moving(by_engine);
  const auto bytes = static_cast<std::uint32_t>(from.bytes());
  if (bytes <= rnic::kCarriedBytes) {
    carry_few();
  } else if (has_tag || !target.may_bounce(bytes)) {
    return start_moving(by_engine);
  }
  receive.carried = static_cast<std::uint16_t>(bytes);
  receive.carried_to = to.pieces().front().key_address;
  receive.carried_key = to.pieces().front().key;
  return finish({});
}

// In whole sixteens they are copied from where they lie: no byte beyond them is read.
void Requester::carry_few() {
  const std::span<const Piece> pieces = from.pieces();
  if (pieces.size() == 1 && pieces.front().length % 16 == 0) {
    few = reinterpret_cast<const std::byte*>(pieces.front().address);
    return;
  }
  few = carried;
  std::byte* next = carried;
  for (const Piece& piece : from.pieces()) {
    std::memcpy(next, reinterpret_cast<const void*>(piece.address), piece.length);
    next += piece.length;
  }
}

Advance Requester::move(bool engine) {
  faults::before_move(from, to, has_receive);
  return start_moving(engine);
}

Advance Requester::start_moving(bool engine) {
  if (to.bytes() == 0) return finish({});
  target.release_producer();
  if (from.cpu_reachable() && to.cpu_reachable()) return Advance::kMove;
  if (!engine) {
    abandon();
    return Advance::kEngine;
  }
  if (ahead.is_next(from, to)) {
    ahead.hand_over(transfer.begin_with_copy(from, to), opened);
    in_progress = true;
    return Advance::kMove;
  }
  drain_ahead();
  use_opened();
  if (!transfer.begin(from, to, {target.peer(), target.held()}, adapter.token(), path.means(),
                      {&sequence})) {
    abandon();
    return later(kLockRetry);
  }
  if (auto* client = transfer.stages_for()) path.lock_staging(*client);
  in_progress = true;
  moves_begun.fetch_add(1);
  return Advance::kMove;
}

void Requester::open_piece(Piece& piece, std::shared_ptr<memory::PinnedMemory>* its_opened) {
  peers::Peer* owner = target.peer();
  if (owner == nullptr || piece.where != Where::kServed) return;
  peers::ForeignMemory& foreign = owner->foreign_memory();
  auto found =
      foreign.find(owner->segment(), rnic::index_of(piece.key), piece.address, piece.length);
  if (!found) {
    if (foreign.is_outdated(owner->segment())) neighbours.opener().look();
    return;
  }
  piece.where = Where::kHere;
  piece.memory = found->memory.get();
  piece.address = found->address;
  *its_opened = std::move(found->memory);
}

void Requester::use_opened() {
  for (PieceList* list : {&from, &to}) {
    for (Piece& piece : list->pieces()) {
      std::shared_ptr<memory::PinnedMemory> its_opened;
      open_piece(piece, &its_opened);
      if (its_opened != nullptr) opened.push_back(std::move(its_opened));
    }
  }
}

Advance Requester::carry_out() {
  if (in_progress) return poll_transfer();
  if (queue_pair.send_ring().size() > 1) {
    if (const std::optional<Advance> went = move_coalesced(*this)) return *went;
  }
  peers::Peer* owner = target.peer();
  kill_point("locked");
  const int error = move_now(from, to, {owner, target.held()});
  kill_point("copied");
  if (error == 0) return finish({});
  if (error == ECANCELED) return begin_again();
  if (!is_refusal(error) || owner == nullptr) {
    return finish({error, can_be_touched(from, to)});
  }
  owner->set_copies_refused();
  return begin_again();  // with its pieces served by its own thread
}

Advance Requester::poll_transfer() {
  const bool cut_off = !target.held().holds();
  if (cut_off || to_begin_again.load()) {
    transfer.drain();
    end_transfer();
    // Whether an atomic was carried out is not known then: as if no acknowledgement came.
    if (rnic::is_atomic(request().opcode)) return fail({ETIMEDOUT, true});
    return begin_again();
  }
  const std::optional<Outcome> outcome = transfer.poll();
  if (outcome) return finish(*outcome);
  if (transfer.is_all_started()) ahead.look(*this);
  return later(kReadyRetry);
}

void Requester::end_transfer() {
  if (!in_progress) return;
  in_progress = false;
  to_begin_again.store(false);
  moves_ended.fetch_add(1);
}

Advance Requester::finish(Outcome outcome) {
  end_transfer();
  if (std::holds_alternative<Group>(progress)) return finish_group_move(*this, outcome);
  if (std::holds_alternative<AtomicStep>(progress)) return finish_atomic_move(*this, outcome);
  if (outcome.error != 0) return fail(outcome);
  if (has_receive) {
    if (queue_pair.front_is_signalled()) queue_pair.begin_to_end();
    const Pushed pushed = complete_receive();
    if (pushed == Pushed::kNoRoom) {
      receive.carried = 0;
      return start_moving(by_engine);
    }
    if (pushed != Pushed::kYes) return not_completed(pushed);
  }
  return complete();
}

Advance Requester::complete() {
  if (!std::holds_alternative<Group>(progress)) count_traffic(*this, Arrived::kYes);
  if (by_engine || queue_pair.front_is_signalled()) add_uncounted(*this);
  return end(IBV_WC_SUCCESS, request().total_bytes);
}

Advance Requester::pass_on() {
  abandon();
  progress = {};
  return Advance::kCompleted;
}

// Whether the next request finds the target locked. What is ahead has gone through its checks under
// this lock. And the lock is taken and released once for some short messages of a posted list,
// while it is held for no longer than one of some KiB would hold it; but not where this one has a
// completion: nobody's lock is held while it is pushed.
bool Requester::may_keep_target() {
  if (!ahead.empty()) {
    target.release_producer();
    (void)target.settle_receive();  // who was cut off is told so by whatever comes next
    return true;
  }
  const ibv_qp_type type = queue_pair.type();
  return !by_engine && kept < kMostKept && (type == IBV_QPT_RC || type == IBV_QPT_UC) &&
         queue_pair.send_ring().size() > 1 && request().total_bytes <= kMostKeptBytes &&
         progress.index() == 0 && !queue_pair.front_is_signalled() && target &&
         target.has_no_srq() && target.settle_receive();
}

Advance Requester::end(ibv_wc_status status, std::uint64_t bytes) {
  if (status == IBV_WC_SUCCESS && may_keep_target()) {
    keep_target();
  } else {
    abandon();
  }
  if (progress.index() != 0) [[unlikely]] {
    progress = {};
  }
  invalidated = false;
  answer_since = 0;
  queue_pair.complete_front(status, static_cast<std::uint32_t>(bytes));
  return Advance::kCompleted;
}

Advance Requester::fail(Outcome outcome) {
  if (!outcome.remote) return break_off(IBV_WC_LOC_PROT_ERR);
  const bool reliable = is_reliable();
  peers::Peer* owner = target.peer();
  if (outcome.error == ESRCH || outcome.error == ETIMEDOUT ||
      (owner != nullptr && is_gone(*owner, outcome.error))) {
    if (reliable && owner != nullptr && !owner->check_alive() && !owner->has_ended()) {
      return wait_for_end();
    }
    const bool may_be_done = outcome.error == ETIMEDOUT || rnic::is_atomic(request().opcode);
    return may_be_done ? refuse(IBV_WC_RETRY_EXC_ERR, rnic::Failure::kNone) : gone();
  }
  // A receive whose memory is not there fails, and its queue pair with it (C9-94).
  if (outcome.error == EFAULT && has_receive && receive.opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
    return refuse_receive(false);
  }
  if (outcome.error == EACCES) {  // the key went while its owner was copying
    return refuse(IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  return refuse(IBV_WC_REM_OP_ERR, rnic::Failure::kInvalid);
}

// The next request finds it as if it had just been found and locked.
void Requester::keep_target() {
  ++kept;
  opened.clear();
  has_receive = has_tag = false;
  solicited = false;
  waiting_since = 0, retry_at = 0;
}

void Requester::drain_ahead() {
  if (const std::size_t drained = ahead.drain()) moves_ended.fetch_add(drained);
}

void Requester::release_target() {
  drain_ahead();
  held_since = 0;
  target.unlock();
  target = Target();
  kept = 0;
  opened.clear();
}

void Requester::abandon() {
  if (progress.index() != 0) [[unlikely]] {
    let_go_of_progress();
  }
  if (target) release_target();
  has_receive = has_tag = false;
  solicited = false;
  waiting_since = 0, retry_at = 0;
}

// Keeps a message for many receivers: those that have been served are not served again.
void Requester::let_go_of_progress() {
  if (const auto* atomic = std::get_if<AtomicStep>(&progress)) {
    rnic::unlock(target.segment().header().atomics, atomic->lock, target.held());
  }
  const auto* group = std::get_if<Group>(&progress);
  if (group == nullptr || !group->is_gathered) progress = {};
}

}  // namespace gdr::local
