// What is done to a target whose shared receive queue matches tags.
#include "base/kill_point.h"
#include "local/target.h"
#include "rnic/srq.h"

namespace gdr::local {

bool Target::takes_tags() const {
  const std::uint32_t srq = rnic::read_once(queue_pair_->srq);
  return srq != 0 && segment_->srq(srq - 1).matches_tags.load(std::memory_order_relaxed) != 0;
}

bool Target::enter_tags() {
  const std::uint32_t index = (rnic::read_once(queue_pair_->srq) - 1) & (rnic::kSrqs - 1);
  if (!lock_srq(peer_, *segment_, index)) return false;
  hold_srq(peer_, *segment_, index);
  return true;
}

std::uint32_t Target::match_tag(std::uint64_t tag) const {
  return rnic::match_tag(*segment_, *srq_, tag);
}

bool Target::look_at_tag(std::uint32_t index, std::uint64_t bytes, TakenReceive* receive,
                         PieceList* pieces) const {
  const rnic::TagTable table(*segment_, *srq_);
  rnic::SharedTag* tag = table.find(index);
  if (tag == nullptr) return false;
  look_at(tag->receive(), table.segments, rnic::read_once(srq_->protection_domain), bytes, receive,
          pieces);
  return true;
}

Pushed Target::push_tagged(rnic::SharedCompletion& completion, const rnic::Carried& carried,
                           bool solicited, const TagMatch& match) {
  if (match.index == rnic::kNoTag) {
    return complete_of_srq(completion, carried, solicited, match.unexpected);
  }
  const std::uint32_t queue = rnic::read_once(srq_->completion_queue);
  const bool announced = match.announced && completion.status == IBV_WC_SUCCESS;
  if (!held_.holds()) return Pushed::kNotNow;
  rnic::SharedTag* tag = rnic::TagTable(*segment_, *srq_).find(match.index);
  if (announced && tag != nullptr) {
    tag->rendezvous = match.rendezvous;
    tag->rendezvous.queue_pair = index_;
  }
  rnic::take_tag(*segment_, srq_index_, match.index,
                 announced ? rnic::TagState::kDue : rnic::TagState::kFree, &completion);
  completion.solicited = solicited ? 1 : 0;
  kill_point("receive_taken");
  const rnic::Push push =
      rnic::push_completion(*segment_, queue, completion, carried, solicited, adapter_->token(),
                            adapter_->liveness(), match.info, &held_);
  if (const Pushed not_pushed = why_not(push); not_pushed != Pushed::kYes) {
    if (push != rnic::Push::kLost) {
      rnic::put_back_tag(*segment_, srq_index_, match.index, held_);
    }
    return not_pushed;
  }
  kill_point("receive_pushed");
  if (held_.holds()) rnic::tag_completed(*segment_, srq_index_, match.index);
  tell_of_push(push, queue);
  if (announced) tell(peer_);
  return Pushed::kYes;
}

}  // namespace gdr::local
