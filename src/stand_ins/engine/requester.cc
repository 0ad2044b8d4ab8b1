#include "engine/requester.h"

#include <algorithm>

namespace gdr::engine {
namespace {

constexpr std::uint64_t kMostOutstanding = 1u << 22;  // PSNs; the specification allows 2^23
constexpr std::uint64_t kMostMessage = 1u << 31;
constexpr std::uint32_t kMostWithoutAcknowledge = 16;
constexpr std::uint64_t kAcknowledgesInWindow = 4;
// What a packet costs its receiver's socket besides the payload, and at least.
constexpr std::uint32_t kPacketOverhead = 64;
constexpr std::uint32_t kLeastCost = 512;
constexpr Nanoseconds kLocalRetry = 50 * kMicrosecond;

bool needs_receive(WorkKind kind) { return kind != WorkKind::kWrite && kind < WorkKind::kRead; }
bool is_read(WorkKind kind) { return kind == WorkKind::kRead; }

}  // namespace

Requester::Requester(const ConnectionSettings& connection, const SendSettings& settings,
                     Owner& owner)
    : owner_(owner),
      maker_(connection.transport, connection.destination_qp),
      path_mtu_(connection.path_mtu),
      first_psn_(settings.first_psn & wire::kPsnMask),
      initiator_depth_(std::max(settings.initiator_depth, 1u)),
      timeout_(settings.timeout),
      retry_count_(settings.retry_count),
      rnr_retry_(settings.rnr_retry),
      window_(settings.most_in_flight, cost_of(connection.path_mtu)),
      retries_left_(settings.retry_count),
      rnr_left_(settings.rnr_retry) {}

std::uint32_t Requester::cost_of(std::uint64_t payload) const {
  return std::max(static_cast<std::uint32_t>(payload) + kPacketOverhead, kLeastCost);
}

// What everything before `position` costs, which lies in `request` or right behind it.
std::uint64_t Requester::cost_at(const Request& request, std::uint64_t position) const {
  const std::uint64_t full = cost_of(path_mtu_);
  const std::uint64_t before = position - request.first;
  if (before < request.packets) return request.cost + before * full;
  const std::uint64_t rest = request.length - (request.packets - 1) * std::uint64_t{path_mtu_};
  return request.cost + (request.packets - 1) * full + cost_of(rest);
}

std::uint64_t Requester::in_flight() const {
  if (requests_.empty()) return 0;
  const std::uint64_t sent =
      cursor_ == requests_.size() ? cost_ : cost_at(requests_[cursor_], next_);
  return sent - cost_at(requests_.front(), unacked_);
}

bool Requester::poll_transmit(Nanoseconds now, Transmit* transmit) {
  if (stopped_ || now < rnr_until_) return false;
  if (probe_wanted_) {
    if (make_probe(transmit)) return true;
    if (probe_wanted_) return false;
  }
  if (!skip_acknowledged() && !begin_request(now)) return false;
  Request& request = requests_[cursor_];
  if (request.work >= failed_work_ || !may_send(request)) return false;
  if (!load_work(request.work)) return false;
  make_packet(request, transmit);
  if (transmit->payload_bytes > 0 && !owner_.has_bytes(*transmit)) return false;
  sent(request, is_read(request.kind) ? request.end() : next_ + 1, now, transmit);
  return true;
}

// To the next position that must be sent. False: it belongs to no request yet. After a read's
// answer was lost, what followed it may have been acknowledged already: it is not sent again.
bool Requester::skip_acknowledged() {
  while (cursor_ < requests_.size()) {
    const Request& request = requests_[cursor_];
    if (next_ < acknowledged_ && !request.is_answered()) {
      next_ = std::min(acknowledged_, request.end());
    }
    if (next_ < request.end()) return true;
    ++cursor_;
  }
  return false;
}

bool Requester::load_work(std::uint64_t number) {
  if (work_number_ == number) return true;
  if (!owner_.work(static_cast<std::uint32_t>(number - completed_), &work_)) return false;
  work_number_ = number;
  return true;
}

// Gives the next work, or the next piece of a read, its PSNs. False: there is none, or it must
// wait.
bool Requester::begin_request(Nanoseconds now) {
  while (load_work(next_work_)) {
    if (work_.error == Status::kSuccess && work_.length > kMostMessage) {
      work_.error = Status::kLocalLengthError;
    }
    if (work_.error == Status::kSuccess && work_.kind != WorkKind::kLocal) break;
    if (!begin_local(now)) return false;
  }
  if (work_number_ != next_work_) return false;
  Request request{};
  request.first = next_;
  request.kind = work_.kind;
  request.work = next_work_;
  request.cost = cost_;
  request.asked_from = next_;
  request.length = work_.length;
  if (request.is_answered()) {
    // No more than the other side holds resources for.
    if (reads_outstanding_ >= initiator_depth_) return false;
  }
  if (work_.fence && reads_outstanding_ > 0 && read_offset_ == 0) return false;
  request.ends_work = true;
  if (is_read(work_.kind) && !size_read(&request)) return false;
  if (request.is_answered() && !is_read(request.kind)) request.length = 8;
  request.packets =
      is_read(request.kind) || !request.is_answered() ? packets_of(request.length, path_mtu_) : 1;
  if (is_read(request.kind) && next_ + request.packets - unacked_ > kMostOutstanding) return false;
  request.needs_receive = needs_receive(request.kind);
  request.ssn = ssn_ = wire::psn_add(ssn_, 1);
  if (request.is_answered()) ++reads_outstanding_;
  read_offset_ = request.ends_work ? 0 : read_offset_ + request.length;
  if (request.ends_work) ++next_work_;
  requests_.push_back(request);
  cost_ = cost_at(request, request.end());
  return true;
}

// A work that sends nothing: its turn comes once all before it have completed. What has to wait is
// tried again with every look at the connection, and by its timer.
bool Requester::begin_local(Nanoseconds now) {
  if (completed_ != next_work_) return false;
  const std::optional<Status> status =
      work_.error != Status::kSuccess ? work_.error : owner_.carry_out_local();
  local_again_at_ = status ? 0 : now + kLocalRetry;
  if (!status) return false;
  ++next_work_;
  complete(*status);
  progress(now);
  return !stopped_;
}

// How much of a read to ask for at once: what the window has room for, but no crumbs.
bool Requester::size_read(Request* request) {
  request->offset = read_offset_;
  const std::uint64_t rest = work_.length - read_offset_;
  const std::uint64_t full = cost_of(path_mtu_);
  const std::uint64_t used = in_flight();
  const std::uint64_t room = window_.size() > used ? window_.size() - used : 0;
  const std::uint64_t most = initiator_depth_ > 1 ? window_.size() / 2 : window_.size();
  std::uint64_t packets = std::min(room, most) / full;
  const std::uint64_t wanted = packets_of(rest, path_mtu_);
  if (packets < wanted && used > 0 && packets < window_.size() / full / 4) {
    window_.held_back();
    return false;
  }
  packets = std::min(std::max<std::uint64_t>(packets, 1), wanted);
  request->length = std::min(rest, packets * path_mtu_);
  request->ends_work = request->length == rest;
  return true;
}

bool Requester::window_permits(std::uint64_t cost) {
  const std::uint64_t used = in_flight();
  if (used == 0 || used + cost <= window_.size()) return true;
  window_.held_back();
  return false;
}

// No credits for it: the responder has promised receives for fewer messages (9.7.7.2.5).
bool Requester::limited(const Request& request) const {
  return request.needs_receive && !unlimited_ && wire::psn_distance(limit_, request.ssn) > 0;
}

bool Requester::may_send(const Request& request) {
  if (next_ - unacked_ >= kMostOutstanding) return false;
  if (knocking_ && next_ != unacked_) return false;  // the rest would only be ignored again
  if (limited(request)) {
    // One packet, once everything before it is acknowledged; the rest when that one is.
    const bool first = next_ == request.first;
    if (first ? unacked_ != next_ : unacked_ <= request.first) return false;
  }
  if (is_read(request.kind)) return true;  // its size was made for the window
  return window_permits(cost_at(request, next_ + 1) - cost_at(request, next_));
}

void Requester::make_packet(Request& request, Transmit* transmit) {
  if (is_read(request.kind)) {
    make_read(request, transmit);
  } else if (request.is_answered()) {
    make_atomic(request, transmit);
  } else {
    maker_.request(work_, static_cast<std::uint32_t>(next_ - request.first), request.packets,
                   path_mtu_, psn_of(next_), transmit);
  }
  transmit->work = static_cast<std::uint32_t>(request.work - completed_);
}

// From next_ on: the whole piece, or what of its answer is missing (C9-108: the PSN of the first
// missing response, its address and the length that remains).
void Requester::make_read(Request& request, Transmit* transmit) {
  request.asked_from = next_;
  const std::uint64_t done = (next_ - request.first) * path_mtu_;
  maker_.begin(wire::Operation::kReadRequest, psn_of(next_), transmit);
  transmit->packet.reth = {work_.remote_address + request.offset + done, work_.rkey,
                           static_cast<std::uint32_t>(request.length - done)};
  transmit->packet.xrc_srq = work_.xrc_srq;
}

void Requester::make_atomic(const Request& request, Transmit* transmit) {
  const bool swaps = request.kind == WorkKind::kCompareSwap;
  maker_.begin(swaps ? wire::Operation::kCompareSwap : wire::Operation::kFetchAdd, psn_of(next_),
               transmit);
  transmit->packet.atomic = {work_.remote_address, work_.rkey,
                             swaps ? work_.swap : work_.compare_or_add,
                             swaps ? work_.compare_or_add : 0};
  transmit->packet.xrc_srq = work_.xrc_srq;
}

// Often enough that the window never stalls, and does not hang on one acknowledgement that may be
// lost: with the last packet of a message, one of every few, and the last that may go, unless an
// answer that makes room is on its way: each costs the other side a system call.
bool Requester::asks_for_acknowledgement(const Request& request, bool last) {
  const std::uint64_t full = cost_of(path_mtu_);
  const bool answer_comes = asked_ > unacked_ && asked_ < next_;
  if (last || knocking_ || limited(request)) return true;
  if (in_flight() + full > window_.size() && !answer_comes) return true;
  ++without_request_bit_;
  return without_request_bit_ >= kMostWithoutAcknowledge ||
         (without_request_bit_ + 1) * kAcknowledgesInWindow * full > window_.size();
}

// The packet at next_ goes out; the one behind it is at `end`.
void Requester::sent(const Request& request, std::uint64_t end, Nanoseconds now,
                     Transmit* transmit) {
  if (next_ < highest_) {
    transmit->retransmitted = true;
    owner_.count(Event::kRetransmittedPacket);
  }
  if (!outstanding()) progress_at_ = heard_at_ = now;
  next_ = end;
  if (end == request.end()) ++cursor_;
  const bool asks = asks_for_acknowledgement(request, end == request.end());
  if (asks) {
    asked_ = end;
    without_request_bit_ = 0;
    if (timed_ == 0 && end > highest_) {
      timed_ = is_read(request.kind) ? request.first + 1 : end;
      timed_at_ = now;
    }
  }
  transmit->packet.ack_request = asks;
  highest_ = std::max(highest_, end);
}

// The oldest unacknowledged packet once more, to hear where the other side is. False with
// probe_wanted_: its bytes come soon, and nothing else is sent before.
bool Requester::make_probe(Transmit* transmit) {
  probe_wanted_ = false;
  if (!outstanding() || next_ == unacked_ || requests_.empty()) return false;
  Request& request = requests_.front();
  if (request.work >= failed_work_ || !load_work(request.work)) return false;
  const std::uint64_t next = next_;
  next_ = unacked_;
  make_packet(request, transmit);
  next_ = next;
  probe_wanted_ = transmit->payload_bytes > 0 && !owner_.has_bytes(*transmit);
  if (probe_wanted_) return false;
  transmit->packet.ack_request = true;
  transmit->retransmitted = true;
  owner_.count(Event::kRetransmittedPacket);
  probed_read_ = is_read(request.kind);
  probe_end_ = probed_read_ ? request.end() : unacked_ + 1;
  timed_ = 0;
  return true;
}

}  // namespace gdr::engine
