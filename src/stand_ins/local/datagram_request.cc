// UD: one datagram to whichever queue pair its address handle and number name. Nobody answers: what
// cannot be delivered is dropped, as a network drops it.
#include <cstring>

#include "local/local_path.h"
#include "rnic/datagram_header.h"

namespace gdr::local {
Advance LocalPath::datagram(QueuePair& queue_pair, Requester& requester, bool engine) {
  if (requester.to_group) return serve_members(queue_pair, requester, engine);
  const rnic::SendRequest& request = queue_pair.send_ring().front();
  PieceList payload;
  if (!local_pieces(queue_pair, 0, &payload)) {
    return break_off(queue_pair, requester, IBV_WC_LOC_PROT_ERR, rnic::Failure::kNone);
  }
  if (request.total_bytes > rnic::kDatagramBytes) {
    return break_off(queue_pair, requester, IBV_WC_LOC_LEN_ERR, rnic::Failure::kNone);
  }
  if (request.remote_qp == rnic::kMulticastQueuePair) {
    return multicast(queue_pair, requester, engine);
  }
  if (request.address.has_gid) {
    std::uint8_t gid[16];
    std::memcpy(gid, request.address.destination_gid.data(), sizeof gid);
    if (goes_beyond(requester, gid)) {
      beyond_->datagram(queue_pair);
      return Advance::kCompleted;
    }
  }
  const Presence presence = find_target(requester, request.remote_qp);
  Target& target = requester.target;
  const auto drop = [&] {
    return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kNone);
  };
  if (presence != Presence::kThere) return drop();
  if (!target.try_lock(peers_, kLockSpins)) return busy(requester);
  const rnic::AddressVector& address = request.address;
  std::uint8_t wanted[16];
  std::memcpy(wanted, address.destination_gid.data(), sizeof wanted);
  if (target.readiness(IBV_QPT_UD) != Readiness::kReady || target.qkey() != request.remote_qkey ||
      (address.has_gid && !target.has_gid(wanted))) {
    return drop();
  }
  TakenReceive receive;
  PieceList& room = requester.to;
  if (!target.has_receive() || !target.look_at_receive(&receive, &room)) return drop();
  prepare_receive(queue_pair, requester, receive.wr_id, IBV_WC_RECV,
                  request.total_bytes + rnic::kGrhBytes);
  rnic::add_network_header(&requester.receive, requester.target.gid());
  const bool too_short = room.bytes() < request.total_bytes + rnic::kGrhBytes;
  if (receive.protection_error || too_short) {
    requester.receive.status = rnic::refusal(!receive.protection_error);
    if (!target.push_receive(requester.receive, nullptr, true, peers_)) {
      return begin_again(requester, kLockRetry);
    }
    return break_off(queue_pair, requester, IBV_WC_SUCCESS, rnic::Failure::kInvalid);
  }
  const auto& own_gid = adapter_->segment().header().devices[queue_pair.settings().device].gid;
  rnic::fill_network_header(address, own_gid, address.has_gid ? wanted : own_gid,
                            request.total_bytes, requester.grh);
  PieceList& message = requester.from;
  message.clear();
  message.add(plain_piece(requester.grh, rnic::kGrhBytes));
  for (const Piece& piece : payload.pieces()) message.add(piece);
  room.truncate(message.bytes());
  return deliver(queue_pair, requester, engine);
}

}  // namespace gdr::local
