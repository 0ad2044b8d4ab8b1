// RDMA write, write with immediate, read and send between connected queue pairs (RC, UC, XRC).
#include <utility>

#include "local/requester.h"

namespace gdr::local {
namespace {

// What its receiver is told of by a completion.
bool is_message(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
         opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

Advance begin_write(Requester& requester) {
  const rnic::SendRequest& request = requester.request();
  Target& target = requester.target;
  requester.to.clear();
  if (!requester.local_pieces(0, &requester.from)) return requester.break_off(IBV_WC_LOC_PROT_ERR);
  if (request.total_bytes > rnic::kMaxMessage) return requester.break_off(IBV_WC_LOC_LEN_ERR);
  if (!requester.remote_piece(IBV_ACCESS_REMOTE_WRITE, request.total_bytes, &requester.to)) {
    return requester.refuse(IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  if (request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    if (target.takes_tags()) {
      if (std::optional<Advance> wait = enter_tags(requester)) return *wait;
    }
    TakenReceive receive;
    PieceList unused;  // its segments take no part
    if (std::optional<Advance> wait = requester.match_receive(0, &receive, &unused)) return *wait;
    requester.prepare_receive(receive.wr_id, IBV_WC_RECV_RDMA_WITH_IMM, request.total_bytes);
  }
  return requester.move();
}

Advance begin_read(Requester& requester) {
  const rnic::SendRequest& request = requester.request();
  requester.from.clear();
  if (!requester.local_pieces(IBV_ACCESS_LOCAL_WRITE, &requester.to)) {
    return requester.break_off(IBV_WC_LOC_PROT_ERR);
  }
  if (request.total_bytes > rnic::kMaxMessage) return requester.break_off(IBV_WC_LOC_LEN_ERR);
  if (!requester.remote_piece(IBV_ACCESS_REMOTE_READ, request.total_bytes, &requester.from)) {
    return requester.break_off(IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  return requester.move();
}

Advance begin_send(Requester& requester) {
  const rnic::SendRequest& request = requester.request();
  if (!requester.local_pieces(0, &requester.from)) return requester.break_off(IBV_WC_LOC_PROT_ERR);
  if (request.total_bytes > rnic::kMaxMessage) return requester.break_off(IBV_WC_LOC_LEN_ERR);
  if (requester.target.takes_tags()) return begin_tagged(requester);
  TakenReceive receive;
  if (auto wait = requester.match_receive(request.total_bytes, &receive, &requester.to))
    return *wait;
  if (!requester.may_invalidate()) {
    return requester.refuse(IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  requester.prepare_receive(receive.wr_id, IBV_WC_RECV, request.total_bytes);
  if (receive.protection_error || requester.to.bytes() < request.total_bytes) {
    return requester.refuse_receive(!receive.protection_error);
  }
  return requester.deliver();
}

// Finds the target and takes its lock, unless the request before has left it locked. Nothing: it is
// there.
std::optional<Advance> enter_target(Requester& requester, bool reliable) {
  if (requester.has_kept_target()) return std::nullopt;
  const std::uint32_t number = requester.queue_pair.attributes().dest_qp_num;
  const Presence presence = requester.find_target(number);
  if (presence == Presence::kSilent) {
    return reliable ? requester.not_ready() : requester.wait_to_meet(number);
  }
  if (presence == Presence::kLeaving && reliable) return requester.wait_for_end();
  if (presence != Presence::kThere) return requester.gone();  // or was never there
  if (!requester.target.try_lock(kLockSpins)) return requester.busy();
  return std::nullopt;
}

}  // namespace

Advance begin_connected(Requester& requester) {
  if (rnic::is_window_request(requester.request().opcode)) {
    if (requester.has_kept_target()) requester.release_target();
    return change_window(requester);
  }
  const bool reliable = requester.is_reliable();
  const ibv_qp_type type = requester.queue_pair.type();
  const bool xrc = type == IBV_QPT_XRC_SEND;
  const ibv_qp_attr& attributes = requester.queue_pair.attributes();
  if (std::optional<Advance> ended = enter_target(requester, reliable)) return *ended;
  Target& target = requester.target;
  const bool answers =
      target.readiness(xrc ? IBV_QPT_XRC_RECV : type) == Readiness::kReady &&
      target.connected_to(requester.queue_pair.number()) &&
      (attributes.ah_attr.is_global == 0 || target.has_gid(attributes.ah_attr.grh.dgid.raw));
  if (!answers) return reliable ? requester.not_ready() : requester.break_off(IBV_WC_SUCCESS);
  if (!is_message(requester.request().opcode)) {
    target.release_producer();
  } else if (requester.is_early_answer()) {
    return requester.wait_to_answer();
  }
  if (xrc) {
    if (std::optional<Advance> ended = enter_srq(requester)) return *ended;
  }
  switch (requester.request().opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return begin_write(requester);
    case IBV_WR_RDMA_READ:
      return begin_read(requester);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return begin_atomic(requester);
    default:
      return begin_send(requester);
  }
}

}  // namespace gdr::local
