// UD: one datagram to whichever queue pair its address handle and number name. Nobody answers: what
// cannot be delivered is dropped, as a network drops it.
#include <cstring>

#include "local/requester.h"
#include "rnic/datagram_header.h"

namespace gdr::local {

Advance begin_datagram(Requester& requester) {
  const rnic::SendRequest& request = requester.request();
  Target& target = requester.target;
  PieceList& message = requester.from;
  if (!requester.local_pieces(0, &message)) return requester.break_off(IBV_WC_LOC_PROT_ERR);
  if (request.total_bytes > rnic::kDatagramBytes) return requester.break_off(IBV_WC_LOC_LEN_ERR);
  if (request.remote_qp == rnic::kMulticastQueuePair) return begin_multicast(requester);
  const Presence presence = requester.find_target(request.remote_qp);
  if (presence == Presence::kSilent) return requester.wait_to_meet(request.remote_qp);
  if (presence != Presence::kThere) return requester.break_off(IBV_WC_SUCCESS);
  if (!target.try_lock(kLockSpins)) return requester.busy();
  if (requester.is_early_answer()) return requester.wait_to_answer();
  const rnic::AddressVector& address = request.address;
  std::uint8_t wanted[16];
  std::memcpy(wanted, address.destination_gid.data(), sizeof wanted);
  const std::uint64_t bytes = request.total_bytes + rnic::kGrhBytes;
  TakenReceive receive;
  if (target.readiness(IBV_QPT_UD) != Readiness::kReady || target.qkey() != request.remote_qkey ||
      (address.has_gid && !target.has_gid(wanted))) {
    return requester.break_off(IBV_WC_SUCCESS);
  }
  if (!target.has_receive()) {
    count_not_ready(requester);
    return requester.break_off(IBV_WC_SUCCESS);
  }
  if (!target.look_at_receive(bytes, &receive, &requester.to)) {
    return requester.break_off(IBV_WC_SUCCESS);
  }
  requester.prepare_receive(receive.wr_id, IBV_WC_RECV, bytes);
  const std::uint8_t(&reached)[16] = address.has_gid ? wanted : target.own_gid();
  rnic::add_network_header(&requester.receive, reached);
  if (receive.protection_error || requester.to.bytes() < bytes) {
    return requester.refuse_receive(!receive.protection_error);
  }
  rnic::fill_network_header(address, address.has_gid ? rnic::Gid(address.source_gid) : reached,
                            reached, request.total_bytes, requester.grh);
  message.put_first(plain_piece(requester.grh, rnic::kGrhBytes));
  return requester.deliver();
}

}  // namespace gdr::local
