// Compare-and-swap and fetch-and-add: read, compute, write, under the lock that every path's
// atomics on the target process share (IBV_ATOMIC_HCA: atomic among atomics, not with the CPU).
#include "local/fault_hooks.h"
#include "local/local_path.h"
#include "rnic/delivery/atomic.h"

namespace gdr::local {
namespace {

// Requester::phase
constexpr int kReading = 1;
constexpr int kWriting = 2;
constexpr int kPlacing = 3;

using rnic::kOperandBytes;

}  // namespace

Advance LocalPath::atomic(QueuePair& queue_pair, Requester& requester, bool engine) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  PieceList place;
  if (!local_pieces(queue_pair, IBV_ACCESS_LOCAL_WRITE, &place)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (place.bytes() != kOperandBytes) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  if (request.remote_address % kOperandBytes != 0) {  // C9-130
    return break_off(queue_pair, requester, IBV_WC_REM_INV_REQ_ERR, rnic::Failure::kInvalid);
  }
  Piece operand{};
  if (!requester.target.grants(IBV_ACCESS_REMOTE_ATOMIC) ||
      requester.target.find(request.rkey, request.remote_address, kOperandBytes,
                            IBV_ACCESS_REMOTE_ATOMIC, &operand) != rnic::RegionError::kNone) {
    return break_off(queue_pair, requester, IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  if (!engine && !(place.cpu_reachable() && operand.cpu_reachable())) {
    abandon(requester);
    return Advance::kEngine;
  }
  if (rnic::try_lock_for(requester.target.segment().header().atomics, adapter_->token(), peers_,
                         requester.target.owner(), kLockSpins,
                         &requester.atomics_word) == rnic::Taken::kNo) {
    tell_of_wait(requester, requester.target);
    abandon(requester);
    return later(requester, kLockRetry);
  }
  requester.holds_atomics = true;
  requester.phase = kReading;
  requester.from.clear(), requester.to.clear();
  requester.from.add(operand);
  requester.to.add(plain_piece(&requester.atomic_value, kOperandBytes));
  return move(queue_pair, requester, engine);
}

Advance LocalPath::finish_atomic_phase(QueuePair& queue_pair, Requester& requester,
                                       Outcome outcome) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  if (outcome.error != 0) return fail(queue_pair, requester, outcome);
  PieceList& from = requester.from;
  PieceList& to = requester.to;
  from.clear(), to.clear();
  if (requester.phase == kReading) {
    const bool swaps = request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
    const rnic::Atomic atomic{swaps, swaps ? request.swap : request.compare_add,
                              request.compare_add};
    if (const auto result = atomic.after(requester.atomic_value)) {
      requester.atomic_result = *result;
      requester.phase = kWriting;
      Piece operand{};
      // Again: a transfer's pieces are its own, and the key may have gone meanwhile.
      if (requester.target.find(request.rkey, request.remote_address, kOperandBytes,
                                IBV_ACCESS_REMOTE_ATOMIC, &operand) != rnic::RegionError::kNone) {
        return break_off(queue_pair, requester, IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
      }
      from.add(plain_piece(&requester.atomic_result, kOperandBytes));
      to.add(operand);
      return move(queue_pair, requester, true);
    }
  }
  if (requester.phase != kPlacing) {
    requester.phase = kPlacing;
    if (!local_pieces(queue_pair, IBV_ACCESS_LOCAL_WRITE, &to)) {
      return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
    }
    from.add(plain_piece(&requester.atomic_value, kOperandBytes));
    faults::before_move(from, to, false);
    return move(queue_pair, requester, true);
  }
  abandon(requester);
  queue_pair.complete_front(IBV_WC_SUCCESS, kOperandBytes);
  return Advance::kCompleted;
}

}  // namespace gdr::local
