#include "engine/responder.h"

#include <algorithm>

namespace gdr::engine {
namespace {

using wire::kPsnMask;

constexpr std::uint32_t kMostMessage = 1u << 31;

// Reads and atomics: one request packet, and an answer of their own.
bool is_single(const wire::OpcodeInfo& info) {
  return (info.traits & (wire::kRead | wire::kAtomic)) != 0;
}

std::uint32_t kind_of(const wire::Packet& request) {
  return request.info->traits & (wire::kSend | wire::kWrite | wire::kRead | wire::kAtomic);
}

}  // namespace

Responder::Responder(const ConnectionSettings& settings, Owner& owner)
    : owner_(owner),
      maker_(settings.transport, settings.destination_qp),
      path_mtu_(settings.path_mtu),
      reliable_(settings.transport != wire::Transport::kUnreliableConnection),
      xrc_(settings.transport == wire::Transport::kExtendedReliable),
      minimum_rnr_timer_(settings.minimum_rnr_timer),
      expected_(settings.receive_psn & kPsnMask),
      taken_(wire::psn_add(settings.receive_psn, wire::kPsnMask)),
      told_(taken_),
      resources_(std::max(settings.responder_resources, 1u)) {}

void Responder::receive(const wire::Packet& request) {
  if (state_ != State::kReady) return;
  Step step = Step::kCheckPsn;
  while (step != Step::kDone) step = run(step, request);
}

Responder::Step Responder::run(Step step, const wire::Packet& request) {
  switch (step) {
    case Step::kCheckPsn:
      return reliable_ ? check_psn(request) : check_psn_unreliable(request);
    case Step::kCheckOperation:
      return check_operation(request);
    case Step::kCheckResources:
      return check_resources(request);
    case Step::kCheckLength:
      return check_length(request);
    case Step::kCheckKey:
      return check_key(request);
    case Step::kExecute:
      return execute(request);
    case Step::kComplete:
      return complete(request);
    case Step::kAcknowledge:
      return acknowledge(request);
    case Step::kDuplicate:
      return answer_again(request);
    case Step::kDone:
      break;
  }
  return Step::kDone;
}

// 9.7.4.1.1 and 9.7.5.1.2: expected, from the past, or behind a gap.
Responder::Step Responder::check_psn(const wire::Packet& request) {
  const std::int32_t ahead = wire::psn_distance(expected_, request.psn);
  if (ahead == 0) [[likely]] {
    return Step::kCheckOperation;
  }
  if (ahead < 0) {
    if (static_cast<std::uint32_t>(-ahead) > advanced_) {
      owner_.count(Event::kImpossibleRequest);
      return Step::kDone;
    }
    owner_.count(Event::kDuplicateRequest);
    return Step::kDuplicate;
  }
  owner_.count(Event::kOutOfSequenceRequest);
  const bool fell = gap_told_ && wire::psn_distance(gap_last_, request.psn) <= 0;
  gap_last_ = request.psn;
  if (gap_told_ && !fell) return Step::kDone;
  gap_told_ = true;
  answer_ = Answer::kNak;
  nak_ = wire::make_syndrome(wire::Acknowledge::kNak,
                             static_cast<std::uint8_t>(wire::NakCode::kSequenceError));
  nak_psn_ = expected_;
  owner_.count(Event::kSequenceNakSent);
  return Step::kDone;
}

// 9.8.2.2: a lost packet loses its message, and the next first packet begins another.
Responder::Step Responder::check_psn_unreliable(const wire::Packet& request) {
  if (request.psn != expected_ && message_.open) drop_message();
  expected_ = wire::psn_add(request.psn, 1);
  return Step::kCheckOperation;
}

// 9.7.4.1.2, 9.8.2.2.2: first, middle and last packets of one kind in their order.
Responder::Step Responder::check_operation(const wire::Packet& request) {
  const bool begins = is_single(*request.info) || request.info->is(wire::kFirst);
  bool in_turn = begins != message_.open;
  if (message_.open && !begins) {
    in_turn = message_.is_write == request.info->is(wire::kWrite) &&
              (!xrc_ || request.xrc_srq == message_.xrc_srq);
  }
  if (reliable_) {
    if (in_turn && begins && xrc_) in_turn = owner_.select_srq(request.xrc_srq);
    return in_turn ? Step::kCheckResources
                   : refuse(wire::NakCode::kInvalidRequest, Fault::kRequest);
  }
  if (is_single(*request.info)) {
    owner_.count(Event::kInvalidRequest);
    return Step::kDone;
  }
  if (begins) {
    if (message_.open) drop_message();
    return Step::kCheckResources;
  }
  if (!in_turn && message_.open) drop_message();
  return in_turn ? Step::kCheckResources : Step::kDone;  // else the rest of a dropped message
}

// What the packet needs: a receive, or a place to keep a read or atomic in.
Responder::Step Responder::check_resources(const wire::Packet& request) {
  const wire::OpcodeInfo& info = *request.info;
  if (is_single(info)) {
    // More at a time than this side holds. One that is only answered again was answered once: the
    // requester has got that, or it would not ask for another.
    const Resource& oldest = resources_[newest_];
    if (!oldest.due || oldest.again) return Step::kCheckLength;
    return refuse(wire::NakCode::kInvalidRequest, Fault::kRequest);
  }
  if (info.is(wire::kFirst)) open_message(request);
  const bool wanted =
      info.is(wire::kSend) ? info.is(wire::kFirst) : info.is(wire::kWrite | wire::kHasImmediate);
  if (!wanted || message_.has_receive) return Step::kCheckLength;
  switch (owner_.begin_receive(xrc_ ? request.xrc_srq : 0)) {
    case Placed::kPlaced:
      message_.has_receive = true;
      return Step::kCheckLength;
    case Placed::kNoReceive:
      return not_ready(request);
    case Placed::kFault:
      message_.has_receive = true;
      return refuse_receive(request, Placed::kFault);
    default:  // XRC: no such shared receive queue
      return refuse(wire::NakCode::kInvalidRequest, Fault::kRequest);
  }
}

// 9.7.4.1.6: payloads fill the path MTU in all packets but the last, and a write is as long as it
// said.
Responder::Step Responder::check_length(const wire::Packet& request) {
  const wire::OpcodeInfo& info = *request.info;
  const std::size_t bytes = request.payload.size();
  bool right = true;
  if (info.is(wire::kRead)) {
    right = request.reth.length <= kMostMessage;
  } else if (info.is(wire::kAtomic)) {
    right = request.atomic.address % 8 == 0;  // C9-130
  } else if (!info.is(wire::kLast)) {
    right = bytes == path_mtu_;
  } else {
    right = bytes <= path_mtu_ && (info.is(wire::kFirst) || bytes > 0);
  }
  if (info.is(wire::kWrite) && right) {
    const std::uint64_t rest = message_.length - message_.offset;
    right =
        message_.length <= kMostMessage && (info.is(wire::kLast) ? bytes == rest : bytes < rest);
  }
  return right ? Step::kCheckKey : refuse(wire::NakCode::kInvalidRequest, Fault::kRequest);
}

// Once for each message; no key is looked at for no bytes (C9-88).
Responder::Step Responder::check_key(const wire::Packet& request) {
  const wire::OpcodeInfo& info = *request.info;
  bool granted = true;
  if (info.is(wire::kRead)) {
    granted = request.reth.length == 0 || owner_.may_access(request.reth.rkey, request.reth.address,
                                                            request.reth.length, Right::kRead);
  } else if (info.is(wire::kAtomic)) {
    granted = owner_.may_access(request.atomic.rkey, request.atomic.address, 8, Right::kAtomic);
  } else if (info.is(wire::kWrite | wire::kFirst)) {
    granted = request.reth.length == 0 || owner_.may_access(request.reth.rkey, request.reth.address,
                                                            request.reth.length, Right::kWrite);
  } else if (info.is(wire::kInvalidate)) {
    granted = owner_.may_invalidate(request.invalidate_key);
  }
  return granted ? Step::kExecute : refuse(wire::NakCode::kRemoteAccessError, Fault::kAccess);
}

Responder::Step Responder::execute(const wire::Packet& request) {
  switch (kind_of(request)) {
    case wire::kSend:
      return execute_send(request);
    case wire::kWrite:
      return execute_write(request);
    case wire::kRead:
      return execute_read(request);
    default:
      return execute_atomic(request);
  }
}

// The last packet of a send or write completes the receive, if it took one.
Responder::Step Responder::complete(const wire::Packet& request) {
  const wire::OpcodeInfo& info = *request.info;
  message_.offset += request.payload.size();
  if (!info.is(wire::kLast)) return Step::kAcknowledge;
  if (message_.has_receive) {
    Received received;
    received.is_write = message_.is_write;
    received.has_immediate = info.is(wire::kHasImmediate);
    received.has_invalidate = info.is(wire::kInvalidate);
    received.solicited = request.solicited;
    if (received.has_immediate) received.immediate = request.immediate;
    if (received.has_invalidate) received.immediate = request.invalidate_key;
    received.bytes = message_.offset;
    owner_.complete_receive(received);
  }
  message_.open = false;
  message_.has_receive = false;
  // Placed, or lost by now: who copies does not wait for this.
  const std::uint64_t piece = owner_.pieces_taken();
  if (piece > owner_.pieces_placed() || piece >= owner_.lost_piece()) {
    unplaced_.push_back({request.psn, taken_, msn_, piece});
  }
  msn_ = wire::psn_add(msn_, 1);
  return Step::kAcknowledge;
}

Responder::Step Responder::acknowledge(const wire::Packet& request) {
  if (!reliable_) return Step::kDone;
  // A NAK that was due for the gap that this packet fills is none any more.
  const bool filled = answer_ == Answer::kNak;
  gap_told_ = false;
  if (is_single(*request.info)) {
    answer_ = Answer::kNone;  // its response acknowledges all before it
    return Step::kDone;
  }
  taken_ = request.psn;
  advance(1);
  if (request.ack_request || filled) answer_ = Answer::kAcknowledge;
  return Step::kDone;
}

}  // namespace gdr::engine
