// What a responder sends: read responses, atomic results, ACKs and NAKs; and duplicates, which are
// answered again but carried out only once (9.7.5.1.3 to 9.7.5.1.5).
#include <algorithm>

#include "engine/responder.h"
#include "wire/aeth_codes.h"

namespace gdr::engine {

using wire::Operation;

// A duplicate. The ACK of a send or write is that of the newest one: it says all.
Responder::Step Responder::answer_again(const wire::Packet& request) {
  const bool is_read = request.info->is(wire::kRead);
  if (!is_read && !request.info->is(wire::kAtomic)) {
    if (answer_ == Answer::kNone) answer_ = Answer::kAcknowledge;
    return Step::kDone;
  }
  Resource* resource = find_resource(request.psn);
  if (resource == nullptr || resource->is_atomic == is_read) return Step::kDone;
  if (is_read) {
    read_again(request, resource);
  } else {
    resource->again = true;
    set_due(resource, true);  // never carried out again: the kept result
  }
  return Step::kDone;
}

// Any part of the original range, from any of its packets on. Its key was checked then, and the
// owner looks again when the bytes are read.
void Responder::read_again(const wire::Packet& request, Resource* resource) {
  const std::uint32_t from = (request.psn - resource->first_psn) & wire::kPsnMask;
  const std::uint64_t skipped = std::uint64_t{from} * path_mtu_;
  const wire::Reth& reth = request.reth;
  if (reth.rkey != resource->rkey || reth.address != resource->address + skipped ||
      reth.length > resource->length - skipped || (reth.length == 0 && resource->length > 0)) {
    return;
  }
  const std::uint32_t end = from + packets_of(reth.length, path_mtu_);
  const bool comes_anyway = resource->due && resource->next <= from && resource->end >= end;
  if (comes_anyway) return;
  resource->again = true;
  resource->begin = resource->next = from;
  resource->end = end;
  resource->last_bytes = reth.length - (end - from - 1) * path_mtu_;
  set_due(resource, true);
}

Responder::Resource* Responder::find_resource(std::uint32_t psn) {
  for (Resource& resource : resources_) {
    const std::uint32_t index = (psn - resource.first_psn) & wire::kPsnMask;
    if (resource.used && index < resource.packets) return &resource;
  }
  return nullptr;
}

void Responder::set_due(Resource* resource, bool due) {
  if (resource->due == due) return;
  resource->due = due;
  replies_due_ += due ? 1 : -1;
  replying_ = nullptr;
}

// The one with the lowest PSN: of a ring, that is the oldest.
Responder::Resource* Responder::next_reply() {
  if (replies_due_ == 0) return nullptr;
  if (replying_ != nullptr) return replying_;
  std::size_t at = newest_;
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    if (resources_[at].due) break;
    at = at + 1 == resources_.size() ? 0 : at + 1;
  }
  return replying_ = &resources_[at];
}

// Messages whose bytes are in place are answered from now on.
void Responder::look_at_placed(std::uint64_t placed) {
  while (!unplaced_.empty() && unplaced_.front().piece <= placed) {
    const Unplaced message = unplaced_.front();
    if (message.piece >= owner_.lost_piece()) return give_up_lost(message);
    unplaced_.pop_front();
  }
}

// A fault of its memory that shows only now (9.9.3): what came before it is answered, nothing
// behind it is.
void Responder::give_up_lost(const Unplaced& message) {
  unplaced_.clear();
  for (Resource& resource : resources_) {
    if (resource.behind >= message.piece) set_due(&resource, false);
  }
  give_up(wire::NakCode::kRemoteOperationalError, Fault::kRequest, message.psn);
  if (reliable_) return;
  state_ = State::kFailed;
  owner_.fail(fault_);
}

bool Responder::poll_transmit(Transmit* transmit) {
  if (state_ == State::kFailed) return false;
  // Once: a piece that is lost in between must not be taken for one that is in place.
  const std::uint64_t placed = owner_.pieces_placed();
  if (!unplaced_.empty()) look_at_placed(placed);
  if (Resource* resource = next_reply()) {
    if (resource->behind > placed) return false;
    if (resource->is_atomic) {
      make_atomic_response(*resource, transmit);
      return true;
    }
    return make_read_response(*resource, transmit);
  }
  if (answer_ == Answer::kNone) return false;
  if (!unplaced_.empty()) return acknowledge_placed(transmit);
  make_answer(transmit);
  answer_ = Answer::kNone;
  if (state_ == State::kFailing) {
    state_ = State::kFailed;
    owner_.fail(fault_);
  }
  return true;
}

// False: its bytes come soon.
bool Responder::make_read_response(Resource& resource, Transmit* transmit) {
  const bool first = resource.next == resource.begin;
  const bool last = resource.next + 1 == resource.end;
  const Operation operation =
      first ? (last ? Operation::kReadResponseOnly : Operation::kReadResponseFirst)
            : (last ? Operation::kReadResponseLast : Operation::kReadResponseMiddle);
  maker_.begin(operation, wire::psn_add(resource.first_psn, resource.next), transmit);
  if (first || last) transmit->packet.aeth = {credits(resource.msn), resource.msn};
  transmit->packet.xrc_srq = resource.xrc_srq;  // for the owner: whose memory it is
  transmit->rkey = resource.rkey;
  transmit->address = resource.address + std::uint64_t{resource.next} * path_mtu_;
  transmit->offset = std::uint64_t{resource.next} * path_mtu_;
  transmit->message = std::uint64_t{resource.msn} << 32 | resource.first_psn;
  transmit->rest =
      last ? 0
           : (resource.end - resource.next - 2) * std::uint64_t{path_mtu_} + resource.last_bytes;
  PacketMaker::set_payload(Source::kRegion, last ? resource.last_bytes : path_mtu_, transmit);
  if (transmit->payload_bytes > 0 && !owner_.has_bytes(*transmit)) return false;
  ++resource.next;
  if (last) set_due(&resource, false);
  return true;
}

void Responder::make_atomic_response(Resource& resource, Transmit* transmit) {
  maker_.begin(Operation::kAtomicAcknowledge, resource.first_psn, transmit);
  transmit->packet.aeth = {credits(resource.msn), resource.msn};
  transmit->packet.atomic_original = resource.original;
  set_due(&resource, false);
}

// An ACK never has the PSN of a read or atomic, though one may be newer: if its response is lost,
// Linux rxe takes such an ACK for it, and the read completes without data.
void Responder::make_answer(Transmit* transmit) {
  const bool nak = answer_ == Answer::kNak;
  if (!nak) told_ = taken_;
  maker_.begin(Operation::kAcknowledge, nak ? nak_psn_ : taken_, transmit);
  transmit->packet.aeth = {nak ? nak_ : credits(msn_), msn_};
}

// An ACK of what is before the first message that is not in place; what is due else, a NAK above
// all, would answer that one, too, and waits.
bool Responder::acknowledge_placed(Transmit* transmit) {
  const Unplaced& first = unplaced_.front();
  if (answer_ != Answer::kAcknowledge || first.before == told_) return false;
  told_ = first.before;
  maker_.begin(Operation::kAcknowledge, told_, transmit);
  transmit->packet.aeth = {credits(first.msn), first.msn};
  return true;
}

// The syndrome of an ACK that goes out now.
std::uint8_t Responder::credits(std::uint32_t msn) {
  const std::optional<std::uint32_t> waiting = owner_.receives_waiting();
  if (!waiting) {
    promises_ = false;
    return wire::make_syndrome(wire::Acknowledge::kAck, wire::kNoCredits);
  }
  const std::uint8_t code = wire::credit_code(*waiting);
  const std::uint32_t limit = wire::psn_add(msn, wire::credits_of(code));
  if (!promises_ || wire::psn_distance(promised_, limit) > 0) promised_ = limit;
  promises_ = true;
  return wire::make_syndrome(wire::Acknowledge::kAck, code);
}

// The other side may have no credits left: those that it was promised are used up. An ACK that
// nobody asked for tells it (9.7.7.2.5).
void Responder::receive_posted() {
  if (!promises_ || state_ != State::kReady || answer_ != Answer::kNone) return;
  if (wire::psn_distance(msn_, promised_) <= 0) answer_ = Answer::kAcknowledge;
}

// A region that was there when its read was checked is gone, or the memory under it.
void Responder::payload_unavailable(const Transmit& transmit) {
  if (state_ == State::kFailed) return;
  for (Resource& resource : resources_) set_due(&resource, false);
  const bool there = !xrc_ || owner_.select_srq(transmit.packet.xrc_srq);
  if (there &&
      owner_.may_access(transmit.rkey, transmit.address, transmit.payload_bytes, Right::kRead)) {
    return give_up(wire::NakCode::kRemoteOperationalError, Fault::kRequest, transmit.packet.psn);
  }
  owner_.count(Event::kRemoteAccessRefused);
  give_up(wire::NakCode::kRemoteAccessError, Fault::kAccess, transmit.packet.psn);
}

}  // namespace gdr::engine
