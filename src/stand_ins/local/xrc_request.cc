// Of an XRC request: from the queue pair that it goes to, to the shared receive queue that it
// names. That one may be a third process's, and its memory and completion queue with it; the two
// belong together by their XRC domain.
#include "local/local_path.h"

namespace gdr::local {

std::optional<Advance> LocalPath::enter_srq(QueuePair& queue_pair, Requester& requester) {
  const std::uint32_t number = queue_pair.send_ring().front().remote_srq;
  const std::uint32_t slot = rnic::slot_of_qp(number);
  Peer* owner = nullptr;
  Presence presence = Presence::kThere;
  if (slot != rnic::slot_of(adapter_->token())) {
    presence = neighbours_.find(requester.srq_owner, slot);
    owner = requester.srq_owner.peer.get();
  }
  if (presence == Presence::kSilent) return not_ready(queue_pair, requester);
  if (presence == Presence::kLeaving) return wait_for_end(requester);
  const SrqEntry entry = presence == Presence::kThere
                             ? requester.target.enter_srq(owner, number, peers_)
                             : SrqEntry::kNone;
  switch (entry) {
    case SrqEntry::kEntered:
      return std::nullopt;
    case SrqEntry::kBusy:
      return wait_for_srq(requester);
    case SrqEntry::kNone:
      break;
  }
  // The domain violation of annex A14: the responder's error, and an invalid request to the sender.
  return break_off(queue_pair, requester, IBV_WC_REM_INV_REQ_ERR, rnic::Failure::kInvalid);
}

}  // namespace gdr::local
