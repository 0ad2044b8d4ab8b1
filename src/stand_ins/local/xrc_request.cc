// An XRC request goes from the queue pair that it is sent to on to the shared receive queue that it
// names. That one may be a third process's, and its memory and completion queue with it; the two
// belong together by their XRC domain.
#include "local/requester.h"

namespace gdr::local {

std::optional<Advance> enter_srq(Requester& requester) {
  const std::uint32_t number = requester.request().remote_srq;
  const std::uint32_t slot = rnic::slot_of_qp(number);
  peers::Peer* owner = nullptr;
  Presence presence = Presence::kThere;
  if (slot != rnic::slot_of(requester.adapter.token())) {
    presence = requester.neighbours.find(requester.srq_owner, slot);
    owner = requester.srq_owner.peer.get();
  }
  if (presence == Presence::kSilent) return requester.not_ready();
  if (presence == Presence::kLeaving) return requester.wait_for_end();
  const SrqEntry entry =
      presence == Presence::kThere ? requester.target.enter_srq(owner, number) : SrqEntry::kNone;
  switch (entry) {
    case SrqEntry::kEntered:
      return std::nullopt;
    case SrqEntry::kBusy:
      return requester.wait_for_srq();
    case SrqEntry::kNone:
      break;
  }
  // The domain violation of annex A14: the responder's error, and an invalid request to the sender.
  return requester.break_off(IBV_WC_REM_INV_REQ_ERR, rnic::Failure::kInvalid);
}

}  // namespace gdr::local
