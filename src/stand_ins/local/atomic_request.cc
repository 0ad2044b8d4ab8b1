// Compare-and-swap and fetch-and-add: see rnic/delivery/atomic.h.
#include "local/fault_hooks.h"
#include "local/requester.h"
#include "rnic/delivery/atomic.h"

namespace gdr::local {
namespace {

using rnic::kOperandBytes;
using Move = AtomicStep::Move;

Advance write_result(Requester& requester, AtomicStep& step) {
  step.move = Move::kWriting;
  // Again: a transfer's pieces are its own, and the key may have gone meanwhile.
  if (!requester.remote_piece(IBV_ACCESS_REMOTE_ATOMIC, kOperandBytes, &requester.to)) {
    return requester.break_off(IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  requester.from.add(plain_piece(&step.after, kOperandBytes));
  return requester.move(true);
}

Advance place_former(Requester& requester, AtomicStep& step) {
  step.move = Move::kPlacing;
  if (!requester.local_pieces(IBV_ACCESS_LOCAL_WRITE, &requester.to)) {
    return requester.break_off(IBV_WC_LOC_PROT_ERR);
  }
  requester.from.add(plain_piece(&step.before, kOperandBytes));
  faults::before_move(requester.from, requester.to, false);
  return requester.move(true);
}

}  // namespace

Advance begin_atomic(Requester& requester) {
  const rnic::SendRequest& request = requester.request();
  Target& target = requester.target;
  PieceList &place = requester.to, &operand = requester.from;
  if (!requester.local_pieces(IBV_ACCESS_LOCAL_WRITE, &place)) {
    return requester.break_off(IBV_WC_LOC_PROT_ERR);
  }
  if (place.bytes() != kOperandBytes) return requester.break_off(IBV_WC_LOC_LEN_ERR);
  if (request.remote_address % kOperandBytes != 0) {  // C9-130
    return requester.break_off(IBV_WC_REM_INV_REQ_ERR, rnic::Failure::kInvalid);
  }
  operand.clear();
  if (!requester.remote_piece(IBV_ACCESS_REMOTE_ATOMIC, kOperandBytes, &operand)) {
    return requester.break_off(IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  if (!requester.by_engine && !(place.cpu_reachable() && operand.cpu_reachable())) {
    requester.abandon();
    return Advance::kEngine;
  }
  std::uint64_t word = 0;
  if (rnic::try_lock_for(target.segment().header().atomics, requester.adapter.token(),
                         requester.adapter.liveness(), target.owner(), kLockSpins,
                         &word) == rnic::Taken::kNo) {
    requester.tell_of_wait(target);
    requester.abandon();
    return requester.later(kLockRetry);
  }
  auto& step = requester.progress.emplace<AtomicStep>(AtomicStep{Move::kReading, word, 0, 0});
  place.clear();
  place.add(plain_piece(&step.before, kOperandBytes));
  return requester.move();
}

Advance finish_atomic_move(Requester& requester, Outcome outcome) {
  if (outcome.error != 0) return requester.fail(outcome);
  auto& step = std::get<AtomicStep>(requester.progress);
  const rnic::SendRequest& request = requester.request();
  requester.from.clear(), requester.to.clear();
  if (step.move == Move::kReading) {
    const bool swaps = request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    const rnic::Atomic atomic{swaps, swaps ? request.swap : request.compare_add,
                              request.compare_add};
    if (const std::optional<std::uint64_t> after = atomic.after(step.before)) {
      step.after = *after;
      return write_result(requester, step);
    }
  }
  return step.move == Move::kPlacing ? requester.complete() : place_former(requester, step);
}

}  // namespace gdr::local
