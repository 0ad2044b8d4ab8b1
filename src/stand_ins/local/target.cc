#include "local/target.h"

#include <cstring>

#include "base/kill_point.h"
#include "local/fault_hooks.h"
#include "rnic/due.h"
#include "rnic/srq.h"

namespace gdr::local {

Pushed why_not(rnic::Push push) {
  switch (push) {
    case rnic::Push::kBusy:
    case rnic::Push::kLost:
      return Pushed::kNotNow;
    case rnic::Push::kNoRoom:
      return Pushed::kNoRoom;
    case rnic::Push::kUnreachable:
      return Pushed::kUnreachable;
    default:
      return Pushed::kYes;
  }
}

std::uint32_t Target::number() const {
  return rnic::make_qp_number(rnic::slot_of(token_of(queue_pair_peer())), index_);
}

bool Target::try_lock(int spins) {
  held_ = adapter_->liveness().while_held();
  return rnic::take_responder({*segment_, *queue_pair_, index_, token_of(peer_)}, adapter_->token(),
                              adapter_->liveness(), spins, &responder_word_) != rnic::Taken::kNo;
}

void Target::unlock() {
  release_producer();
  if (srq_ != nullptr) rnic::unlock(srq_->consumer, srq_word_, held_);
  if (!has_completed_) return rnic::unlock(queue_pair_->responder, responder_word_, held_);
  has_completed_ = false;
  rnic::unlock(queue_pair_->responder, responder_word_, held_, queue_pair_->completing);
}

bool Target::settle_receive() {
  if (!has_completed_) return held_.holds();
  if (!store_while(held_, queue_pair_->completing, 0)) return false;
  has_completed_ = false;
  return true;
}

SrqEntry Target::enter_srq(Peer* owner, std::uint32_t number) {
  rnic::Segment& segment = owner != nullptr ? owner->segment() : adapter_->segment();
  const std::uint32_t index = rnic::index_of_qp(number);
  rnic::SharedSrq* srq = rnic::find_xrc_srq(segment, number, *queue_pair_);
  if (srq == nullptr) return SrqEntry::kNone;
  if (!lock_srq(owner, segment, index)) return SrqEntry::kBusy;
  if (!rnic::takes_xrc_of(*srq, *queue_pair_)) {
    rnic::unlock(srq->consumer, srq_word_, held_);
    return SrqEntry::kNone;
  }
  hold_srq(owner, segment, index);
  return SrqEntry::kEntered;
}

bool Target::lock_srq(Peer* owner, rnic::Segment& segment, std::uint32_t index) {
  const rnic::Taken taken =
      rnic::try_lock_for(segment.srq(index).consumer, adapter_->token(), adapter_->liveness(),
                         token_of(owner), kLockSpins, &srq_word_);
  if (taken == rnic::Taken::kOrphan)
    rnic::mend(segment, index, adapter_->token(), adapter_->liveness());
  return taken != rnic::Taken::kNo;
}

void Target::hold_srq(Peer* owner, rnic::Segment& segment, std::uint32_t index) {
  queue_pair_peer_ = peer_;
  peer_ = owner;
  segment_ = &segment;
  srq_ = &segment.srq(index);
  srq_index_ = index;
}

ports::Port& Target::port(KnownPort& known) const {
  const rnic::SharedDevice& its = device();
  const rnic::Token owner = token_of(queue_pair_peer());
  if (known.device != &its || known.owner != owner) {
    known = {&its, owner, &adapter_->port_of(its)};
  }
  return *known.port;
}

Readiness Target::readiness(ibv_qp_type type) const {
  const bool ready = rnic::is_receiving(*queue_pair_) && rnic::read_once(queue_pair_->type) == type;
  return ready ? Readiness::kReady : Readiness::kNotNow;
}

bool Target::take_shared() {
  if (srq_ != nullptr) return rnic::ready_receives(*srq_) != 0;
  const rnic::SrqTake took =
      rnic::take_shared(*segment_, index_, adapter_->token(), adapter_->liveness());
  if (took == rnic::SrqTake::kLimitReached) tell(peer_);
  return took != rnic::SrqTake::kNone;
}

bool Target::wait_for_receive() {
  if (srq_ != nullptr) {
    rnic::wait_for_post(*srq_, adapter_->token());
  } else if (const std::uint32_t srq = rnic::read_once(queue_pair_->srq); srq != 0) {
    rnic::wait_for_post(segment_->srq(srq - 1), adapter_->token());
  } else {
    queue_pair_->receive_waiter.store(adapter_->token());
  }
  return has_receive();
}

bool Target::look_at_receive(std::uint64_t bytes, TakenReceive* receive, PieceList* pieces) {
  if (srq_ != nullptr) {
    return look_at_first(*srq_, rnic::read_once(srq_->protection_domain), bytes, receive, pieces);
  }
  return look_at_first(*queue_pair_, rnic::read_once(queue_pair_->receive_domain), bytes, receive,
                       pieces);
}

template <typename Ring>
bool Target::look_at_first(Ring& queue, std::uint32_t domain, std::uint64_t bytes,
                           TakenReceive* receive, PieceList* pieces) const {
  std::uint32_t most_segments = 0;
  const rnic::SharedReceive* entry = rnic::first_receive(*segment_, queue, &most_segments);
  if (entry == nullptr) return false;
  // Receives lie behind each other: the next ones are on their way while this one is used.
  __builtin_prefetch(reinterpret_cast<const std::byte*>(entry) + kReceivesAhead);
  look_at(*entry, most_segments, domain, bytes, receive, pieces);
  return true;
}

void Target::look_at(const rnic::SharedReceive& entry, std::uint32_t most_segments,
                     std::uint32_t domain, std::uint64_t bytes, TakenReceive* receive,
                     PieceList* pieces) const {
  receive->wr_id = rnic::read_once(entry.wr_id);
  pieces->clear();
  receive->protection_error = false;
  const std::uint32_t segments = std::min(rnic::read_once(entry.segments), most_segments);
  for (std::uint32_t i = 0; i < segments && bytes != 0; ++i) {
    const rnic::SharedSegmentEntry segment = rnic::read_segment(entry, i);
    const std::uint64_t taken = std::min<std::uint64_t>(segment.length, bytes);
    if (taken == 0) continue;
    if (find_in(domain, segment.key, segment.address, taken,
                IBV_ACCESS_LOCAL_WRITE | rnic::kUseAsLocalKey,
                &pieces->next()) != rnic::RegionError::kNone) {
      receive->protection_error = true;
      break;
    }
    pieces->take_next();
    bytes -= taken;
  }
}

rnic::RegionError Target::find(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                               std::uint32_t rights, Piece* piece) const {
  const std::uint32_t domain =
      rnic::read_once(srq_ != nullptr ? srq_->protection_domain : queue_pair_->protection_domain);
  return find_in(domain, key, address, length, rights, piece);
}

rnic::RegionError Target::find_in(std::uint32_t domain, std::uint32_t key, std::uint64_t address,
                                  std::uint64_t length, std::uint32_t rights, Piece* piece) const {
  if (peer_ == nullptr) {
    rnic::Place place;
    const rnic::RegionError error =
        adapter_->regions().find(key, address, length, domain, rights, &place);
    fill_piece_here(place, length, piece);
    piece->remote = true;
    return rnic::serves(place.queue_pair, number()) ? error : rnic::RegionError::kWrongDomain;
  }
  rnic::RemoteRange range;
  const rnic::RegionError error =
      rnic::find_remote(*segment_, key, address, length, domain, rights, &range);
  const bool reachable = range.reach != rnic::Reach::kServed && !peer_->copies_are_refused();
  piece->where = reachable ? Where::kProcess : Where::kServed;
  if (range.reach == rnic::Reach::kNothing) piece->where = Where::kNowhere;
  piece->on_demand = range.reach == rnic::Reach::kOnDemand;
  piece->remote = true;
  piece->memory = nullptr;
  piece->length = length;
  piece->address = range.address;
  piece->key_address = address;
  piece->key = key;
  piece->protection_domain = domain;
  return rnic::serves(range.queue_pair, number()) ? error : rnic::RegionError::kWrongDomain;
}

bool Target::has_window(std::uint32_t key) const {
  return rnic::is_window_of(*segment_, key, rnic::read_once(queue_pair_->protection_domain),
                            number());
}

// Who is cut off before it is mended by the next one, who finds that it is completed.
void Target::end_completing(rnic::SharedQueuePair& /*queue_pair*/) { has_completed_ = true; }
void Target::end_completing(rnic::SharedSrq& srq) const {
  (void)store_two_while(held_, srq.unexpected, srq.unexpected_next.load(), srq.completing, 0);
}

// The first of `queue` is taken: completes it, or puts it back.
template <typename Ring>
Pushed Target::complete_first(Ring& queue, rnic::SharedCompletion& completion,
                              std::uint32_t completions, const rnic::Carried& carried,
                              bool solicited) {
  completion.solicited = solicited ? 1 : 0;
  kill_point("receive_taken");
  if (faults::hides_completion()) return Pushed::kYes;
  const rnic::Push push =
      rnic::push_completion(*segment_, completions, completion, carried, solicited,
                            adapter_->token(), adapter_->liveness(), {}, &held_, &producer_);
  if (push != rnic::Push::kPushed) release_producer();
  if (const Pushed not_pushed = why_not(push); not_pushed != Pushed::kYes) {
    const bool is_back =
        push != rnic::Push::kLost &&
        store_two_while(held_, queue.receive_head, completion.receive - 1, queue.completing, 0);
    return is_back ? not_pushed : Pushed::kNotNow;
  }
  kill_point("receive_pushed");
  end_completing(queue);
  tell_of_push(push, completions);
  return Pushed::kYes;
}

Pushed Target::complete_of_srq(rnic::SharedCompletion& completion, const rnic::Carried& carried,
                               bool solicited, bool unexpected) {
  // Before the receive is off: whoever finds it completed counts it.
  const std::uint32_t next = srq_->unexpected.load() + (unexpected ? 1 : 0);
  if (!store_while(held_, srq_->unexpected_next, next)) return Pushed::kNotNow;
  completion.srq = static_cast<std::uint16_t>(srq_index_ + 1);
  if (!rnic::take_first_receive_while(held_, *srq_, completion)) return Pushed::kNotNow;
  const Pushed pushed = complete_first(*srq_, completion, rnic::read_once(srq_->completion_queue),
                                       carried, solicited);
  if (pushed != Pushed::kYes) return pushed;
  if (rnic::reaches_limit(*srq_, srq_->receive_tail.load() - completion.receive)) tell(peer_);
  return pushed;
}

bool Target::may_bounce(std::uint32_t bytes) const {
  const std::uint32_t queue = rnic::read_once(
      srq_ != nullptr ? srq_->completion_queue : queue_pair_->receive_completion_queue);
  return rnic::may_bounce(segment_->completion_queue(queue), bytes);
}

Pushed Target::push_receive(rnic::SharedCompletion& completion, const rnic::Carried& carried,
                            bool solicited) {
  if (srq_ != nullptr) return complete_of_srq(completion, carried, solicited, false);
  if (!rnic::take_first_receive_while(held_, *queue_pair_, completion)) return Pushed::kNotNow;
  return complete_first(*queue_pair_, completion,
                        rnic::read_once(queue_pair_->receive_completion_queue), carried, solicited);
}

void Target::tell_of_push(rnic::Push push, std::uint32_t queue) {
  if (peer_ == nullptr) {
    adapter_->tell_of_push(push, queue);
  } else if (push == rnic::Push::kEventDue) {
    kill_point("event_due");
    peer_->raise_event(queue);
  } else if (push != rnic::Push::kPushed) {
    tell(peer_);
  }
}

void Target::report(rnic::Failure failure) {
  // Cut off: it may be another connection's by now.
  if (!store_while(held_, queue_pair_->failure, static_cast<std::uint32_t>(failure))) return;
  Peer* owner = queue_pair_peer();
  rnic::Segment& segment = owner != nullptr ? owner->segment() : adapter_->segment();
  rnic::mark_due(segment.header().due_queue_pairs, index_);
  tell(owner);
}

void Target::tell(Peer* owner) {
  if (owner != nullptr) {
    owner->ring_service();
  } else {
    adapter_->neighbours().wake_service();
  }
}

}  // namespace gdr::local
