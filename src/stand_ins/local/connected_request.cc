// RDMA write, write with immediate, read and send between connected queue pairs (RC, UC, XRC).
#include "local/local_path.h"

namespace gdr::local {
namespace {

bool has_immediate(ibv_wr_opcode opcode) { return opcode == IBV_WR_RDMA_WRITE_WITH_IMM; }

}  // namespace

Advance LocalPath::connected(QueuePair& queue_pair, Requester& requester, bool engine) {
  if (rnic::is_window_request(queue_pair.send_ring().front().opcode)) {
    return window_request(queue_pair, requester);
  }
  const bool reliable = rnic::is_reliable(queue_pair.type());
  const bool xrc = queue_pair.type() == IBV_QPT_XRC_SEND;
  const ibv_qp_attr& attributes = queue_pair.attributes();
  const Presence presence = find_target(requester, attributes.dest_qp_num);
  Target& target = requester.target;
  if (presence == Presence::kSilent && reliable) return not_ready(queue_pair, requester);
  if (presence == Presence::kLeaving && reliable) return wait_for_end(requester);
  if (presence != Presence::kThere) {
    // Its process is gone, or was never there: no acknowledgement will come.
    return break_off(queue_pair, requester, reliable ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS,
                     rnic::Failure::kNone);
  }
  if (!target.try_lock(peers_, kLockSpins)) return busy(requester);
  const bool answers =
      target.readiness(xrc ? IBV_QPT_XRC_RECV : queue_pair.type()) == Readiness::kReady &&
      target.connected_to(queue_pair.number()) &&
      (attributes.ah_attr.is_global == 0 || target.has_gid(attributes.ah_attr.grh.dgid.raw));
  if (!answers) {
    if (reliable) return not_ready(queue_pair, requester);
    return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
  }
  if (xrc) {
    if (std::optional<Advance> ended = enter_srq(queue_pair, requester)) return *ended;
  }
  switch (queue_pair.send_ring().front().opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return write(queue_pair, requester, engine);
    case IBV_WR_RDMA_READ:
      return read(queue_pair, requester, engine);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return atomic(queue_pair, requester, engine);
    default:
      return send_message(queue_pair, requester, engine);
  }
}

Advance LocalPath::write(QueuePair& queue_pair, Requester& requester, bool engine) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  const bool reliable = rnic::is_reliable(queue_pair.type());
  PieceList& to = requester.to;
  to.clear();
  if (!local_pieces(queue_pair, 0, &requester.from)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > rnic::kMaxMessage) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  // No key is looked at for a write of no bytes (C9-88).
  if (request.total_bytes > 0) {
    const bool allowed =
        requester.target.grants(IBV_ACCESS_REMOTE_WRITE) &&
        requester.target.find(request.rkey, request.remote_address, request.total_bytes,
                              IBV_ACCESS_REMOTE_WRITE, &to.next()) == rnic::RegionError::kNone;
    if (!allowed) {
      return reliable
                 ? break_off(queue_pair, requester, IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported)
                 : break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
    }
    to.take_next();
  }
  if (has_immediate(request.opcode)) {
    if (requester.target.takes_tags()) {
      if (std::optional<Advance> wait = enter_tags(requester)) return *wait;
    }
    TakenReceive receive;
    PieceList unused;  // its segments take no part
    if (!reliable && !requester.target.has_receive()) {
      return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
    }
    if (std::optional<Advance> wait = match_receive(queue_pair, requester, &receive, &unused)) {
      return *wait;
    }
    prepare_receive(queue_pair, requester, receive.wr_id, IBV_WC_RECV_RDMA_WITH_IMM,
                    request.total_bytes);
  }
  return move(queue_pair, requester, engine);
}

Advance LocalPath::read(QueuePair& queue_pair, Requester& requester, bool engine) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  PieceList& from = requester.from;
  from.clear();
  if (!local_pieces(queue_pair, IBV_ACCESS_LOCAL_WRITE, &requester.to)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > rnic::kMaxMessage) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > 0) {
    if (!requester.target.grants(IBV_ACCESS_REMOTE_READ) ||
        requester.target.find(request.rkey, request.remote_address, request.total_bytes,
                              IBV_ACCESS_REMOTE_READ, &from.next()) != rnic::RegionError::kNone) {
      return break_off(queue_pair, requester, IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
    }
    from.take_next();
  }
  return move(queue_pair, requester, engine);
}

Advance LocalPath::send_message(QueuePair& queue_pair, Requester& requester, bool engine) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  const bool reliable = rnic::is_reliable(queue_pair.type());
  if (!local_pieces(queue_pair, 0, &requester.from)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > rnic::kMaxMessage) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  if (requester.target.takes_tags()) return tagged_message(queue_pair, requester, engine);
  if (!reliable && !requester.target.has_receive()) {
    return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
  }
  TakenReceive receive;
  if (std::optional<Advance> wait = match_receive(queue_pair, requester, &receive, &requester.to)) {
    return *wait;
  }
  if (!may_invalidate(queue_pair, requester)) {
    if (!reliable) return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
    return break_off(queue_pair, requester, IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
  }
  prepare_receive(queue_pair, requester, receive.wr_id, IBV_WC_RECV, request.total_bytes);
  if (receive.protection_error || requester.to.bytes() < request.total_bytes) {
    return refuse_receive(queue_pair, requester, !receive.protection_error);
  }
  requester.to.truncate(request.total_bytes);
  return deliver(queue_pair, requester, engine);
}

}  // namespace gdr::local
