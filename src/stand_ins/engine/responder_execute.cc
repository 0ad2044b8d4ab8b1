// What a responder does once a request has passed its checks, and how it refuses one that has not.
#include "base/bytes.h"
#include "engine/responder.h"

namespace gdr::engine {

void Responder::open_message(const wire::Packet& request) {
  message_ = Message{};
  message_.is_write = request.info->is(wire::kWrite);
  message_.xrc_srq = xrc_ ? request.xrc_srq : 0;  // a packet holds what its opcode has
  if (message_.is_write) {
    message_.rkey = request.reth.rkey;
    message_.address = request.reth.address;
    message_.length = request.reth.length;
  }
}

Responder::Step Responder::execute_send(const wire::Packet& request) {
  Placed placed = Placed::kPlaced;
  if (message_.open && owner_.lost_piece() != kNothingLost) {
    placed = Placed::kFault;
  } else if (!request.payload.empty()) {
    placed = owner_.place_receive(message_.offset, request.payload);
  }
  if (placed != Placed::kPlaced) return refuse_receive(request, placed);
  message_.open = true;
  return Step::kComplete;
}

Responder::Step Responder::execute_write(const wire::Packet& request) {
  Placed placed = Placed::kPlaced;
  if (message_.open && owner_.lost_piece() != kNothingLost) {
    placed = Placed::kFault;
  } else if (!request.payload.empty()) {
    placed = owner_.write(message_.rkey, message_.address + message_.offset, request.payload);
  }
  if (placed == Placed::kFault) {
    return refuse(wire::NakCode::kRemoteOperationalError, Fault::kRequest);
  }
  if (placed != Placed::kPlaced) return refuse(wire::NakCode::kRemoteAccessError, Fault::kAccess);
  message_.open = true;
  return Step::kComplete;
}

Responder::Resource& Responder::keep(const wire::Packet& request, std::uint32_t packets) {
  Resource& resource = resources_[newest_];
  set_due(&resource, false);
  newest_ = newest_ + 1 == resources_.size() ? 0 : newest_ + 1;
  resource = Resource{};
  resource.used = true;
  resource.first_psn = request.psn;
  resource.packets = packets;
  resource.end = packets;
  msn_ = wire::psn_add(msn_, 1);
  resource.msn = msn_;
  resource.xrc_srq = xrc_ ? request.xrc_srq : 0;  // a packet holds what its opcode has
  advance(packets);
  set_due(&resource, true);
  return resource;
}

// Its bytes are read when they are sent, behind all that came before.
Responder::Step Responder::execute_read(const wire::Packet& request) {
  const std::uint32_t packets = packets_of(request.reth.length, path_mtu_);
  Resource& resource = keep(request, packets);
  resource.rkey = request.reth.rkey;
  resource.address = request.reth.address;
  resource.length = request.reth.length;
  resource.behind = owner_.pieces_taken();
  resource.last_bytes = request.reth.length - (packets - 1) * path_mtu_;
  return Step::kAcknowledge;
}

Responder::Step Responder::execute_atomic(const wire::Packet& request) {
  const bool swaps = request.operation() == wire::Operation::kCompareSwap;
  const std::optional<std::uint64_t> original =
      owner_.atomic(swaps ? WorkKind::kCompareSwap : WorkKind::kFetchAdd, request.atomic.rkey,
                    request.atomic.address, request.atomic.swap_or_add, request.atomic.compare);
  if (!original) return refuse(wire::NakCode::kRemoteAccessError, Fault::kAccess);
  Resource& resource = keep(request, 1);
  resource.is_atomic = true;
  resource.behind = owner_.pieces_taken();
  resource.original = *original;
  return Step::kAcknowledge;
}

// The connection is at its end (9.9.3): this NAK, and then silence. An unreliable one drops the
// message instead.
Responder::Step Responder::refuse(wire::NakCode code, Fault fault) {
  owner_.count(fault == Fault::kAccess ? Event::kRemoteAccessRefused : Event::kInvalidRequest);
  if (!reliable_) return drop_message();
  give_up(code, fault, expected_);
  return Step::kDone;
}

void Responder::give_up(wire::NakCode code, Fault fault, std::uint32_t psn) {
  state_ = State::kFailing;
  answer_ = Answer::kNak;
  nak_ = wire::make_syndrome(wire::Acknowledge::kNak, static_cast<std::uint8_t>(code));
  nak_psn_ = psn;
  fault_ = fault;
}

// The receive itself is at fault: it completes with that, whatever the transport (9.9.3).
Responder::Step Responder::refuse_receive(const wire::Packet& request, Placed outcome) {
  Received received;
  received.is_write = message_.is_write;
  received.solicited = request.solicited;
  received.bytes = message_.offset + request.payload.size();
  received.outcome = outcome == Placed::kTooLong ? outcome : Placed::kFault;
  owner_.complete_receive(received);
  owner_.count(Event::kInvalidRequest);
  const auto code = outcome == Placed::kTooLong ? wire::NakCode::kInvalidRequest
                                                : wire::NakCode::kRemoteOperationalError;
  give_up(code, Fault::kRequest, expected_);
  if (!reliable_) {  // nobody is told
    state_ = State::kFailed;
    owner_.fail(fault_);
  }
  return Step::kDone;
}

// Receiver not ready (9.7.5.2.8): nothing is placed, the PSN stays, and what follows is ignored
// until the packet comes again.
Responder::Step Responder::not_ready(const wire::Packet& request) {
  if (!reliable_) {
    owner_.count(Event::kDroppedNoReceive);
    message_.open = false;
    return Step::kDone;
  }
  owner_.count(Event::kRnrNakSent);
  gap_told_ = true;
  gap_last_ = request.psn;
  answer_ = Answer::kNak;
  nak_ = wire::make_syndrome(wire::Acknowledge::kRnrNak, minimum_rnr_timer_);
  nak_psn_ = request.psn;
  return Step::kDone;
}

Responder::Step Responder::drop_message() {
  owner_.count(Event::kDroppedMessage);
  message_.open = false;
  return Step::kDone;
}

}  // namespace gdr::engine
