// RDMA write, write with immediate, read and send between connected queue pairs (RC, UC, XRC).
#include "local/local_path.h"

namespace gdr::local {
namespace {

bool has_immediate(ibv_wr_opcode opcode) { return opcode == IBV_WR_RDMA_WRITE_WITH_IMM; }

}  // namespace

Advance LocalPath::connected(QueuePair& queue_pair, Requester& requester, bool engine) {
  const bool reliable = rnic::is_reliable(queue_pair.type());
  const bool xrc = queue_pair.type() == IBV_QPT_XRC_SEND;
  const ibv_qp_attr& attributes = queue_pair.attributes();
  const Presence presence = find_target(requester, attributes.dest_qp_num);
  Target& target = requester.target;
  if (presence == Presence::kSilent && reliable) return not_ready(queue_pair, requester);
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
  PieceList from, to;
  if (!local_pieces(queue_pair, 0, &from)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > rnic::kMaxMessage) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  Piece piece{};
  // No key is looked at for a write of no bytes (C9-88).
  if (request.total_bytes > 0) {
    const bool allowed =
        requester.target.grants(IBV_ACCESS_REMOTE_WRITE) &&
        requester.target.find(request.rkey, request.remote_address, request.total_bytes,
                              IBV_ACCESS_REMOTE_WRITE, &piece) == rnic::RegionError::kNone;
    if (!allowed) {
      return reliable
                 ? break_off(queue_pair, requester, IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported)
                 : break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
    }
    to.add(piece);
  }
  if (has_immediate(request.opcode)) {
    TakenReceive receive;
    if (!reliable && !requester.target.has_receive()) {
      return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
    }
    if (std::optional<Advance> wait = match_receive(queue_pair, requester, &receive)) {
      return *wait;
    }
    prepare_receive(queue_pair, requester, receive.wr_id, IBV_WC_RECV_RDMA_WITH_IMM,
                    request.total_bytes);
  }
  return move(queue_pair, requester, from, to, engine);
}

Advance LocalPath::read(QueuePair& queue_pair, Requester& requester, bool engine) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  PieceList from, to;
  if (!local_pieces(queue_pair, IBV_ACCESS_LOCAL_WRITE, &to)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > rnic::kMaxMessage) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > 0) {
    Piece piece{};
    if (!requester.target.grants(IBV_ACCESS_REMOTE_READ) ||
        requester.target.find(request.rkey, request.remote_address, request.total_bytes,
                              IBV_ACCESS_REMOTE_READ, &piece) != rnic::RegionError::kNone) {
      return break_off(queue_pair, requester, IBV_WC_REM_ACCESS_ERR, rnic::Failure::kReported);
    }
    from.add(piece);
  }
  return move(queue_pair, requester, from, to, engine);
}

Advance LocalPath::send_message(QueuePair& queue_pair, Requester& requester, bool engine) {
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  const bool reliable = rnic::is_reliable(queue_pair.type());
  PieceList from;
  if (!local_pieces(queue_pair, 0, &from)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > rnic::kMaxMessage) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  if (!reliable && !requester.target.has_receive()) {
    return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
  }
  TakenReceive receive;
  if (std::optional<Advance> wait = match_receive(queue_pair, requester, &receive)) {
    return *wait;
  }
  prepare_receive(queue_pair, requester, receive.wr_id, IBV_WC_RECV, request.total_bytes);
  // A receive that cannot take the message fails on both sides (C9-94, C9-95).
  const bool too_short = !receive.protection_error && receive.pieces.bytes() < request.total_bytes;
  if (receive.protection_error || too_short) {
    requester.receive.status = too_short ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR;
    requester.target.push_receive(requester.receive, nullptr, true, peers_);
    if (!reliable) {
      return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kInvalid);
    }
    return break_off(queue_pair, requester, too_short ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR,
                     rnic::Failure::kInvalid);
  }
  receive.pieces.truncate(request.total_bytes);
  return deliver(queue_pair, requester, from, receive.pieces, engine);
}

}  // namespace gdr::local
