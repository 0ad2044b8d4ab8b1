// The steps that every kind of request shares: its own bytes, its receive, the move, and the ways
// in which it ends or waits.
#include <unistd.h>

#include <cstring>

#include "base/kill_point.h"
#include "local/fault_hooks.h"
#include "local/local_path.h"
#include "local/move_now.h"
#include "wire/aeth_codes.h"

namespace gdr::local {
namespace {

constexpr Nanoseconds kReadyRetry = kMillisecond;
constexpr Nanoseconds kTellOfWait = 30 * kMillisecond;
constexpr Nanoseconds kExecTakes = 20 * kMillisecond;  // also of one that loses the CPU in it

// To another process's memory that the CPU reaches, in one stretch.
bool can_be_carried(const PieceList& from, const PieceList& to) {
  if (to.bytes() == 0 || to.bytes() > rnic::kCarriedBytes || to.pieces().size() != 1) return false;
  return to.pieces().front().where == Where::kProcess && !to.has_on_demand() &&
         from.cpu_reachable() && !from.has_on_demand() && !from.has_nowhere();
}

// The kernel does not let this process copy: by the other one's rights (ptrace scope), or by a
// filter of system calls, which may say anything.
bool is_refusal(int error) { return error == EPERM || error == EACCES || error == ENOSYS; }

// A process that calls exec has other memory a moment before its connections are closed.
bool is_gone(Peer& peer, int error) {
  if (!peer.check_alive()) return true;
  if (error != EFAULT) return false;
  for (const Nanoseconds end = now() + kExecTakes; now() < end; usleep(100)) {
    if (!peer.check_alive()) return true;
  }
  return false;
}

}  // namespace

bool LocalPath::local_pieces(QueuePair& queue_pair, std::uint32_t rights, PieceList* pieces) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  const std::uint32_t domain = queue_pair.domain_of(request);
  pieces->clear();
  if (request.flags & IBV_SEND_INLINE) {
    pieces->add(plain_piece(request.inline_data().data(), request.inline_bytes));
    return true;
  }
  for (const ibv_sge& segment : request.segments()) {
    if (segment.length == 0) continue;
    rnic::Place place;
    if (adapter_->regions().find(segment.lkey, segment.addr, segment.length, domain,
                                 rights | rnic::kUseAsLocalKey,
                                 &place) != rnic::RegionError::kNone) {
      return false;
    }
    fill_piece_here(place, segment.length, &pieces->next());
    pieces->take_next();
  }
  return true;
}

Advance LocalPath::deliver(QueuePair& queue_pair, Requester& requester, bool engine) {
  const PieceList& from = requester.from;
  const PieceList& to = requester.to;
  faults::before_move(requester.from, requester.to, true);
  if (!can_be_carried(from, to)) return start_moving(queue_pair, requester, engine);
  std::byte* next = requester.carried;
  for (const Piece& piece : from.pieces()) {
    std::memcpy(next, reinterpret_cast<const void*>(piece.address), piece.length);
    next += piece.length;
  }
  requester.receive.carried = static_cast<std::uint16_t>(from.bytes());
  requester.receive.carried_to = to.pieces().front().key_address;
  requester.receive.carried_key = to.pieces().front().key;
  return finish(queue_pair, requester, {});
}

Advance LocalPath::move(QueuePair& queue_pair, Requester& requester, bool engine) {
  faults::before_move(requester.from, requester.to, requester.has_receive);
  return start_moving(queue_pair, requester, engine);
}

Advance LocalPath::start_moving(QueuePair& queue_pair, Requester& requester, bool engine) {
  const PieceList& from = requester.from;
  const PieceList& to = requester.to;
  if (to.bytes() == 0) return finish(queue_pair, requester, {});
  if (from.cpu_reachable() && to.cpu_reachable()) return Advance::kMove;
  if (!engine) {
    abandon(requester);
    return Advance::kEngine;
  }
  use_opened(requester);
  if (!requester.transfer.begin(from, to, {requester.target.peer(), requester.target.held()},
                                adapter_->token(), staging_)) {
    abandon(requester);
    return later(requester, kLockRetry);
  }
  if (auto* client = requester.transfer.stages_for();
      client != nullptr && !staging_is_locked_.exchange(true)) {
    neighbours_.opener().run_soon([this, client] { staging_.lock_pages(*client); });
  }
  requester.in_progress = true;
  requester.moves.fetch_add(1);
  return Advance::kMove;
}

void LocalPath::use_opened(Requester& requester) {
  Peer* peer = requester.target.peer();
  if (peer == nullptr) return;
  for (PieceList* list : {&requester.from, &requester.to}) {
    for (Piece& piece : list->pieces()) {
      if (piece.where != Where::kServed) continue;
      auto opened = peer->foreign_memory().find(peer->segment(), rnic::index_of(piece.key),
                                                piece.address, piece.length);
      if (!opened) {
        if (peer->foreign_memory().is_outdated(peer->segment())) neighbours_.opener().look();
        continue;
      }
      piece.where = Where::kHere;
      piece.memory = opened->memory.get();
      piece.address = opened->address;
      requester.opened.push_back(std::move(opened->memory));
    }
  }
}

Advance LocalPath::carry_out(QueuePair& queue_pair, Requester& requester) {
  if (requester.in_progress) return poll_transfer(queue_pair, requester);
  Peer* peer = requester.target.peer();
  kill_point("locked");
  const int error = move_now(requester.from, requester.to, {peer, requester.target.held()});
  kill_point("copied");
  if (error == 0) return finish(queue_pair, requester, {});
  if (error == ECANCELED) return begin_again(requester);
  if (!is_refusal(error) || peer == nullptr) {
    return finish(queue_pair, requester, {error, can_be_touched(requester.from, requester.to)});
  }
  peer->set_copies_refused();
  return begin_again(requester);  // with its pieces served by its own thread
}

// From its first check on, in a moment.
Advance LocalPath::begin_again(Requester& requester, Nanoseconds after) {
  const int phase = requester.phase;
  abandon(requester);
  // Of many receivers, not those again that have been served.
  if (!requester.receivers.empty()) requester.phase = phase;
  return later(requester, after);
}

Advance LocalPath::poll_transfer(QueuePair& queue_pair, Requester& requester) {
  const bool cut_off = !requester.target.held().holds();
  if (cut_off || requester.to_begin_again.load()) {
    requester.transfer.drain();
    end_transfer(requester);
    // Whether an atomic was carried out is not known then: as if no acknowledgement came.
    if (rnic::is_atomic(queue_pair.send_ring().front().opcode)) {
      return fail(queue_pair, requester, {ETIMEDOUT, true});
    }
    return begin_again(requester);
  }
  const std::optional<Outcome> outcome = requester.transfer.poll();
  if (!outcome) return later(requester, kReadyRetry);
  return finish(queue_pair, requester, *outcome);
}

void LocalPath::end_transfer(Requester& requester) {
  if (!requester.in_progress) return;
  requester.in_progress = false;
  requester.to_begin_again.store(false);
  requester.moves.fetch_add(1);
}

Advance LocalPath::finish(QueuePair& queue_pair, Requester& requester, Outcome outcome) {
  end_transfer(requester);
  if (queue_pair.type() == IBV_QPT_RAW_PACKET) {
    return finish_frame_step(queue_pair, requester, outcome);
  }
  if (requester.to_group) return finish_multicast_step(queue_pair, requester, outcome);
  if (requester.phase != 0) return finish_atomic_phase(queue_pair, requester, outcome);
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  if (outcome.error != 0) {
    return fail(queue_pair, requester, outcome);
  }
  if (requester.has_receive && !complete_receive(requester)) {
    return begin_again(requester, kLockRetry);
  }
  abandon(requester);
  requester.invalidated = false;
  queue_pair.complete_front(IBV_WC_SUCCESS, static_cast<std::uint32_t>(request.total_bytes));
  return Advance::kCompleted;
}

// The move failed: whose fault was it?
Advance LocalPath::fail(QueuePair& queue_pair, Requester& requester, Outcome outcome) {
  if (!outcome.remote) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  const bool reliable = rnic::is_reliable(queue_pair.type());
  Peer* peer = requester.target.peer();
  if (outcome.error == ESRCH || outcome.error == ETIMEDOUT ||
      (peer != nullptr && is_gone(*peer, outcome.error))) {
    if (reliable && peer != nullptr && !peer->check_alive() && !peer->has_ended()) {
      return wait_for_end(requester);
    }
    return break_off(queue_pair, requester, reliable ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS,
                     rnic::Failure::kNone);
  }
  // A receive whose memory is not there fails, and its queue pair with it (C9-94).
  if (outcome.error == EFAULT && requester.has_receive &&
      requester.receive.opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
    requester.receive.status = IBV_WC_LOC_PROT_ERR;
    if (!push_receive(requester, nullptr, true)) return begin_again(requester, kLockRetry);
    return break_off(queue_pair, requester, reliable ? IBV_WC_REM_OP_ERR : IBV_WC_SUCCESS,
                     rnic::Failure::kInvalid);
  }
  if (!reliable) return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
  if (outcome.error == EACCES) {  // the key went while its owner was copying
    return break_off(queue_pair, requester, IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  return break_off(queue_pair, requester, IBV_WC_REM_OP_ERR, rnic::Failure::kInvalid);
}

void LocalPath::release_target(Requester& requester) {
  requester.target.unlock();
  requester.target = Target();
  requester.opened.clear();
}

// Lets go of the target and forgets what was under way; the request itself stays in front.
void LocalPath::abandon(Requester& requester) {
  if (requester.holds_atomics) {
    rnic::unlock(requester.target.segment().header().atomics, requester.atomics_word,
                 requester.target.held());
    requester.holds_atomics = false;
  }
  if (requester.target) release_target(requester);
  requester.has_receive = requester.has_tag = false;
  requester.solicited = false;
  requester.phase = 0;
  requester.stop_waiting();
}

Advance LocalPath::break_off(QueuePair& queue_pair, Requester& requester, ibv_wc_status status,
                             rnic::Failure failure) {
  if (failure != rnic::Failure::kNone && requester.target) requester.target.report(failure);
  abandon(requester);
  requester.invalidated = false;
  queue_pair.complete_front(status, 0);
  return Advance::kCompleted;
}

// Somebody else's request is being carried out against the target.
Advance LocalPath::busy(Requester& requester) {
  tell_of_wait(requester, requester.target);
  requester.target = Target();
  return later(requester, kLockRetry);
}

void LocalPath::tell_of_wait(Requester& requester, Target& target) {
  const Nanoseconds time = now();
  if (time - requester.told_of_wait < kTellOfWait) return;
  requester.told_of_wait = time;
  target.tell_of_wait();
}

Advance LocalPath::wait_for_end(Requester& requester) {
  abandon(requester);
  return later(requester, kReadyRetry);
}

Advance LocalPath::wait_for_srq(Requester& requester) {
  const Nanoseconds waiting_since = requester.waiting_since;
  tell_of_wait(requester, requester.target);
  abandon(requester);
  requester.waiting_since = waiting_since;
  return later(requester, kLockRetry);
}

Advance LocalPath::later(Requester& requester, Nanoseconds after) {
  requester.retry_at = now() + after;
  return Advance::kLater;
}

// As a NIC that gets no acknowledgement: retry_cnt + 1 times the local ACK timeout (C9-140), for
// ever if that is 0.
Advance LocalPath::not_ready(QueuePair& queue_pair, Requester& requester) {
  const Nanoseconds waiting_since = requester.waiting_since != 0 ? requester.waiting_since : now();
  abandon(requester);
  requester.waiting_since = waiting_since;
  const ibv_qp_attr& attributes = queue_pair.attributes();
  if (attributes.timeout != 0) {
    const Nanoseconds patience =
        (Nanoseconds{4096} << attributes.timeout) * (Nanoseconds{attributes.retry_cnt} + 1);
    if (now() - waiting_since >= patience) {
      return break_off(queue_pair, requester, IBV_WC_RETRY_EXC_ERR, rnic::Failure::kNone);
    }
  }
  return later(requester, kReadyRetry);
}

// Receiver not ready: rnr_retry times the responder's RNR timer, for ever if that is 7 (C9-142).
Advance LocalPath::no_receive(QueuePair& queue_pair, Requester& requester) {
  const Nanoseconds waiting_since = requester.waiting_since != 0 ? requester.waiting_since : now();
  const Nanoseconds timer = wire::rnr_wait(requester.target.minimum_rnr_timer());
  abandon(requester);
  requester.waiting_since = waiting_since;
  const std::uint8_t retries = queue_pair.attributes().rnr_retry;
  if (retries != 7) {
    const Nanoseconds patience = timer * retries;
    const Nanoseconds waited = now() - waiting_since;
    if (waited >= patience) {
      return break_off(queue_pair, requester, IBV_WC_RNR_RETRY_EXC_ERR, rnic::Failure::kNone);
    }
    return later(requester, patience - waited);
  }
  return later(requester, kSecond);  // woken by the receiver
}

std::optional<Advance> LocalPath::match_receive(QueuePair& queue_pair, Requester& requester,
                                                TakenReceive* receive, PieceList* pieces) {
  Target& target = requester.target;
  if (!target.has_receive() && !target.wait_for_receive()) {
    return no_receive(queue_pair, requester);
  }
  if (!target.look_at_receive(receive, pieces)) {
    if (rnic::is_reliable(queue_pair.type())) return not_ready(queue_pair, requester);
    return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
  }
  return std::nullopt;
}

bool LocalPath::may_invalidate(QueuePair& queue_pair, Requester& requester) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  return request.opcode != IBV_WR_SEND_WITH_INV || requester.invalidated ||
         requester.target.has_window(request.immediate);
}

bool LocalPath::complete_receive(Requester& requester) {
  if ((requester.receive.flags & IBV_WC_WITH_INV) != 0 && requester.target.held().holds()) {
    requester.target.invalidate_window(requester.receive.immediate);
    requester.invalidated = true;  // should it have to begin again
  }
  return push_receive(requester, requester.carried, requester.solicited);
}

bool LocalPath::push_receive(Requester& requester, const std::byte* carried, bool solicited) {
  Target& target = requester.target;
  return requester.has_tag
             ? target.push_tagged(requester.receive, carried, solicited, requester.tag, peers_)
             : target.push_receive(requester.receive, carried, solicited, peers_);
}

Advance LocalPath::refuse_receive(QueuePair& queue_pair, Requester& requester, bool too_short) {
  requester.receive.status = rnic::refusal(too_short);
  if (!push_receive(requester, nullptr, true)) return begin_again(requester, kLockRetry);
  ibv_wc_status status = too_short ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
  if (!rnic::is_reliable(queue_pair.type())) status = IBV_WC_SUCCESS;
  return break_off(queue_pair, requester, status, rnic::Failure::kInvalid);
}

void LocalPath::prepare_receive(const QueuePair& queue_pair, Requester& requester,
                                std::uint64_t wr_id, ibv_wc_opcode opcode, std::uint64_t bytes) {
  const rnic::SendRequest& request = const_cast<QueuePair&>(queue_pair).send_ring().front();
  rnic::SharedCompletion& completion = requester.receive;
  rnic::fill_completion(&completion, opcode, bytes, requester.target.number(), queue_pair.number());
  completion.wr_id = wr_id;
  if (request.opcode == IBV_WR_SEND_WITH_IMM || request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    rnic::add_immediate(&completion, request.immediate);
  } else if (request.opcode == IBV_WR_SEND_WITH_INV) {
    rnic::add_invalidated(&completion, request.immediate);
  }
  requester.solicited = (request.flags & IBV_SEND_SOLICITED) != 0;
  requester.has_receive = true;
}

}  // namespace gdr::local
