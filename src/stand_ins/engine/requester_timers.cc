// The requester's timers: the local ACK timeout (9.7.6.1.3), the wait after an RNR NAK, and the
// probe. The ACK timeout of programs is 67 ms and more, so that alone it would make a stall of each
// lost last packet; the probe asks after four round trips already and is no retry.
#include <algorithm>

#include "engine/requester.h"

namespace gdr::engine {
namespace {

constexpr Nanoseconds kLeastProbe = kMillisecond;
constexpr Nanoseconds kMostProbe = kSecond;
constexpr Nanoseconds kLeastSuspicion = 50 * kMicrosecond;
constexpr std::uint32_t kMostBackoff = 16;

}  // namespace

void Requester::measure(std::uint64_t reached, Nanoseconds now) {
  if (reached < timed_) return;
  timed_ = 0;
  const Nanoseconds trip = std::max<Nanoseconds>(now - timed_at_, 1);
  shortest_ = shortest_ == 0 ? trip : std::min(shortest_, trip);
  smoothed_ = smoothed_ == 0 ? trip : (smoothed_ * 7 + trip) / 8;
}

Nanoseconds Requester::probe_deadline() const {
  if (!outstanding() || next_ == unacked_) return kNever;
  const Nanoseconds first = std::max(kLeastProbe, 4 * smoothed_);
  const Nanoseconds most = timeout_ == 0 ? kMostProbe : std::max(timeout_, kLeastProbe);
  return heard_at_ + std::min(first << probe_backoff_, std::max(most, first));
}

Nanoseconds Requester::timeout_deadline() const {
  return timeout_ == 0 || !outstanding() ? kNever : progress_at_ + timeout_;
}

Nanoseconds Requester::next_timeout() const {
  if (stopped_) return kNever;
  if (rnr_until_ != 0) return rnr_until_;
  const Nanoseconds probe = probe_wanted_ ? kNever : probe_deadline();
  return std::min({timeout_deadline(), probe, suspect_at_ == 0 ? kNever : suspect_at_,
                   local_again_at_ == 0 ? kNever : local_again_at_});
}

// The probe is acknowledged, and if it is so alone, nothing behind it has been taken: it was lost,
// or the other side is slow and has only begun with it. A moment tells.
void Requester::suspect(Nanoseconds now) {
  const bool alone = unacked_ == probe_end_ && acknowledged_ == probe_end_;
  probe_end_ = 0;
  if (alone && next_ != unacked_) suspect_at_ = now + std::max(2 * smoothed_, kLeastSuspicion);
}

void Requester::handle_timeout(Nanoseconds now) {
  if (stopped_) return;
  if (rnr_until_ != 0) {
    if (now < rnr_until_) return;
    rnr_until_ = 0;
    progress_at_ = heard_at_ = now;
    return;
  }
  if (now >= timeout_deadline()) return retry_after_timeout(now);
  if (suspect_at_ != 0 && now >= suspect_at_) {
    suspect_at_ = 0;
    if (!probed_read_) return go_back(now);
    probe_wanted_ = true;  // a read's answer says nothing of what follows
    return;
  }
  if (!probe_wanted_ && now >= probe_deadline()) {
    probe_wanted_ = true;
    probe_backoff_ = std::min(probe_backoff_ + 1, kMostBackoff);
    heard_at_ = now;
  }
}

void Requester::retry_after_timeout(Nanoseconds now) {
  owner_.count(Event::kTimeout);
  if (retries_left_ == 0) return fail(Status::kRetryExceeded);  // C9-140
  --retries_left_;
  go_back(now);
  window_.timed_out(highest_);
  progress_at_ = heard_at_ = now;
  probe_backoff_ = 0;
}

void Requester::congested(Nanoseconds now) {
  if (stopped_) return;
  heard(now);
  owner_.count(Event::kCongestionNotified);
  window_.congested(unacked_, highest_);
}

// The memory of a work is gone. Those before it complete, then it ends with that; but if it is only
// the repetition of a packet that has arrived all the same, its acknowledgement may come first.
void Requester::payload_unavailable(const Transmit& transmit, Nanoseconds now) {
  if (stopped_) return;
  failed_work_ = std::min(failed_work_, completed_ + transmit.work);
  if (transmit.work == 0) return fail(Status::kLocalProtectionError);
  progress_at_ = now;
}

}  // namespace gdr::engine
