// What a requester does with answers: 9.7.5 (acknowledgements), 9.7.7 (requester behaviour), 9.9.2
// (its errors).
#include <algorithm>

#include "engine/requester.h"
#include "wire/aeth_codes.h"

namespace gdr::engine {
namespace {

using wire::Operation;

Status status_of(wire::NakCode code) {
  switch (code) {
    case wire::NakCode::kRemoteAccessError:
      return Status::kRemoteAccessError;
    case wire::NakCode::kRemoteOperationalError:
      return Status::kRemoteOperationalError;
    default:
      return Status::kRemoteInvalidRequest;
  }
}

}  // namespace

void Requester::receive(const wire::Packet& answer, Nanoseconds now) {
  if (stopped_) return;
  if (answer.operation() == Operation::kAcknowledge) {
    receive_acknowledge(answer, now);
  } else {
    receive_response(answer, now);
  }
}

// Relative to the oldest unacknowledged packet, so that no PSN is ambiguous. Far before the first
// packet: a position that wraps, which is beyond highest_ and so a ghost.
std::uint64_t Requester::position_of(std::uint32_t psn) const {
  return unacked_ +
         static_cast<std::uint64_t>(std::int64_t{wire::psn_distance(psn_of(unacked_), psn)});
}

void Requester::receive_acknowledge(const wire::Packet& answer, Nanoseconds now) {
  const std::uint64_t position = position_of(answer.psn);
  switch (wire::acknowledge_of(answer.aeth.syndrome)) {
    case wire::Acknowledge::kAck:
      break;
    case wire::Acknowledge::kRnrNak:
      return receive_rnr(answer, position, now);
    case wire::Acknowledge::kNak:
      return receive_nak(answer, position, now);
    default:
      return owner_.count(Event::kUnexpectedResponse);
  }
  if (position + 1 == unacked_) {  // nothing new but, perhaps, credits
    take_credits(answer.aeth);
    return heard(now);
  }
  if (position >= highest_ || position < unacked_) {  // a ghost, or a duplicate
    // What precedes the first packet is acknowledged by who has taken nothing yet.
    if (position + 1 > highest_) {
      owner_.count(Event::kUnexpectedResponse);
    } else {
      take_credits(answer.aeth);  // of a send or write before a read that is answered already
    }
    return;
  }
  heard(now);
  take_credits(answer.aeth);
  acknowledge_before(position + 1, now);
  if (!stopped_ && unacked_ <= position) lost_response(position, now);
}

void Requester::receive_nak(const wire::Packet& answer, std::uint64_t position, Nanoseconds now) {
  const auto code = wire::NakCode(wire::value_of(answer.aeth.syndrome));
  if (position < unacked_ || position >= highest_ ||
      code > wire::NakCode::kRemoteOperationalError) {
    return owner_.count(Event::kUnexpectedResponse);
  }
  heard(now);
  acknowledge_before(position, now);
  if (stopped_) return;
  if (code == wire::NakCode::kSequenceError) {
    owner_.count(Event::kSequenceNakReceived);
    if (unacked_ < position) return lost_response(position, now);
    if (rnr_until_ > now) return;  // what was sent before the RNR NAK came
    // A copy of the NAK that has been obeyed: what it asks for cannot have arrived yet.
    if (gap_at_ == unacked_ && went_back_just_now(now)) return;
    gap_at_ = unacked_;
    gap_seen_ = position;
    gap_end_ = highest_;
    return go_back(now);
  }
  // The answer to a read before it was lost, and who has sent this NAK answers nothing any more.
  if (position >= requests_.front().end()) return fail(Status::kRetryExceeded);
  fail(status_of(code));
}

void Requester::receive_rnr(const wire::Packet& answer, std::uint64_t position, Nanoseconds now) {
  if (position < unacked_ || position >= highest_) {
    return owner_.count(Event::kUnexpectedResponse);
  }
  owner_.count(Event::kRnrNakReceived);
  heard(now);
  acknowledge_before(position, now);
  if (stopped_) return;
  if (unacked_ < position) return lost_response(position, now);
  if (rnr_until_ > now) return;  // a copy of the one that it waits for
  if (rnr_left_ == 0) return fail(Status::kRnrRetryExceeded);
  constexpr std::uint8_t kForEver = 7;
  if (rnr_retry_ != kForEver) --rnr_left_;
  next_ = unacked_;
  cursor_ = 0;
  timed_ = 0;
  probe_wanted_ = false;
  probe_end_ = 0;
  suspect_at_ = 0;
  knocking_ = true;
  rnr_until_ = now + wire::rnr_wait(wire::value_of(answer.aeth.syndrome));
  retries_left_ = retry_count_;  // it is there, though not ready
}

void Requester::receive_response(const wire::Packet& answer, Nanoseconds now) {
  const std::uint64_t position = position_of(answer.psn);
  if (position < unacked_ || position >= highest_) {
    // A duplicate of what has been placed is nothing to wonder about; a ghost is.
    if (position >= highest_) {
      owner_.count(Event::kUnexpectedResponse);
    }
    return;
  }
  if (position != unacked_) {
    const Request* request = find(position);
    if (request == nullptr || !request->is_answered()) {
      return owner_.count(Event::kUnexpectedResponse);
    }
    heard(now);
    acknowledge_before(position, now);  // a response acknowledges all before it
    if (stopped_) return;
    if (unacked_ != position) return lost_response(position, now);
  }
  const Request& request = requests_.front();
  if (!request.is_answered()) return owner_.count(Event::kUnexpectedResponse);
  heard(now);
  if (!response_fits(request, answer)) return fail(Status::kBadResponse);
  take_response(answer, now);
}

// Opcode, place in the answer and length. An answer that was asked for again
// from its middle on may begin as a first packet (as the specification has it) or go on (as Linux
// rxe does).
bool Requester::response_fits(const Request& request, const wire::Packet& answer) const {
  if (request.kind != WorkKind::kRead) {
    return answer.operation() == Operation::kAtomicAcknowledge;
  }
  const std::uint64_t index = unacked_ - request.first;
  const bool begins = unacked_ == request.asked_from;
  const bool goes_on = index != 0;
  const bool ends = unacked_ + 1 == request.end();
  const std::uint64_t rest = request.length - index * path_mtu_;
  if (answer.payload.size() != std::min<std::uint64_t>(rest, path_mtu_)) return false;
  switch (answer.operation()) {
    case Operation::kReadResponseFirst:
      return begins && !ends;
    case Operation::kReadResponseMiddle:
      return goes_on && !ends;
    case Operation::kReadResponseLast:
      return goes_on && ends;
    case Operation::kReadResponseOnly:
      return begins && ends;
    default:
      return false;
  }
}

void Requester::take_response(const wire::Packet& answer, Nanoseconds now) {
  const Request& request = requests_.front();
  bool placed = true;
  if (request.kind != WorkKind::kRead) {
    placed = owner_.place_response(0, 0, std::as_bytes(std::span(&answer.atomic_original, 1)));
  } else if (!answer.payload.empty()) {
    const std::uint64_t offset = request.offset + (unacked_ - request.first) * path_mtu_;
    placed = owner_.place_response(0, offset, answer.payload);
  }
  if (!placed) return fail(Status::kLocalProtectionError);
  if (answer.info->is(wire::kHasAeth)) take_credits(answer.aeth);
  window_.acknowledged(cost_at(request, unacked_ + 1) - cost_at(request, unacked_));
  ++unacked_;
  acknowledged_ = std::max(acknowledged_, unacked_);
  if (unacked_ == request.end()) retire_front();
  acknowledge_before(acknowledged_, now);
  progress(now);
}

// Credits never shrink: a receive that was posted stays posted.
void Requester::take_credits(const wire::Aeth& aeth) {
  if (wire::acknowledge_of(aeth.syndrome) != wire::Acknowledge::kAck) return;
  const std::uint8_t code = wire::value_of(aeth.syndrome);
  if (code == wire::kNoCredits) {
    unlimited_ = true;
    return;
  }
  const std::uint32_t limit = wire::psn_add(aeth.msn, wire::credits_of(code));
  if (unlimited_ || wire::psn_distance(limit_, limit) > 0) limit_ = limit;
  unlimited_ = false;
}

const Requester::Request* Requester::find(std::uint64_t position) const {
  std::size_t low = 0;
  std::size_t high = requests_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (requests_[middle].end() <= position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < requests_.size() ? &requests_[low] : nullptr;
}

// Everything before `position` has arrived. Completes what that answers, up to the first read or
// atomic, which wants its own answer.
void Requester::acknowledge_before(std::uint64_t position, Nanoseconds now) {
  acknowledged_ = std::max(acknowledged_, position);
  const std::uint64_t before = unacked_;
  std::uint64_t bytes = 0;
  while (!requests_.empty() && !stopped_) {
    const Request& request = requests_.front();
    if (request.is_answered()) break;
    const std::uint64_t reached = std::min(acknowledged_, request.end());
    if (reached <= unacked_) break;
    bytes += cost_at(request, reached) - cost_at(request, unacked_);
    unacked_ = reached;
    if (reached == request.end()) retire_front();
  }
  if (unacked_ == before) return;
  window_.acknowledged(bytes);
  progress(now);
}

void Requester::retire_front() {
  const Request request = requests_.front();
  requests_.pop_front();
  if (cursor_ > 0) --cursor_;
  if (request.is_answered()) --reads_outstanding_;
  if (next_ < unacked_) next_ = unacked_;
  if (request.ends_work) complete(Status::kSuccess);
}

void Requester::progress(Nanoseconds now) {
  if (next_ < unacked_) next_ = unacked_;
  progress_at_ = now;
  retries_left_ = retry_count_;
  rnr_left_ = rnr_retry_;
  rnr_until_ = 0;
  knocking_ = false;
  if (timed_ != 0 && unacked_ >= timed_) measure(unacked_, now);
  if (completed_ >= failed_work_ && !stopped_) {
    if (completed_ == failed_work_) return fail(Status::kLocalProtectionError);
    failed_work_ = kNoWork;  // only its repetition failed, and was not needed
  }
  suspect_at_ = 0;
  if (probe_end_ != 0 && unacked_ >= probe_end_) suspect(now);
}

void Requester::heard(Nanoseconds now) {
  heard_at_ = now;
  probe_backoff_ = 0;
  probe_wanted_ = false;
}

bool Requester::went_back_just_now(Nanoseconds now) const {
  return went_back_at_ != 0 && now - went_back_at_ < shortest_;
}

// `seen` answers or acknowledges something behind a read or atomic that is not answered: its answer
// was lost. Once for each stream of answers: those of the first stream only climb, and
// what begins the second cannot be here before a round trip.
void Requester::lost_response(std::uint64_t seen, Nanoseconds now) {
  const bool known = gap_at_ == unacked_;
  const bool climbs = known && seen > gap_seen_ && seen < gap_end_;
  if (known) gap_seen_ = seen;
  if (climbs || went_back_just_now(now)) return;
  gap_at_ = unacked_;
  gap_seen_ = seen;
  gap_end_ = highest_;
  go_back(now);
}

void Requester::go_back(Nanoseconds now) {
  next_ = unacked_;
  cursor_ = 0;
  timed_ = 0;
  probe_end_ = 0;
  probe_wanted_ = false;
  suspect_at_ = 0;
  went_back_at_ = now;
  window_.lost(unacked_, highest_);
}

// The oldest work ends so, and with it the queue pair.
void Requester::fail(Status status) {
  stopped_ = true;
  complete(status);
}

void Requester::complete(Status status) {
  ++completed_;
  if (status != Status::kSuccess) stopped_ = true;
  owner_.complete(status);
}

}  // namespace gdr::engine
