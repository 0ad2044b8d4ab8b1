#include "engine/unreliable_requester.h"

namespace gdr::engine {
namespace {

constexpr std::uint64_t kMostMessage = 1u << 31;

bool sends(WorkKind kind) { return kind < WorkKind::kRead && kind != WorkKind::kSendInvalidate; }

}  // namespace

UnreliableRequester::UnreliableRequester(const ConnectionSettings& connection,
                                         const SendSettings& settings, Owner& owner)
    : owner_(owner),
      maker_(connection.transport, connection.destination_qp),
      path_mtu_(connection.path_mtu),
      psn_(settings.first_psn & wire::kPsnMask) {}

void UnreliableRequester::sent() {
  wants_poll_ = local_waits_;
  if (ended_ == 0) return;
  while (ended_ > 0 && !stopped_) {
    --ended_;
    owner_.complete(Status::kSuccess);
  }
  wants_poll_ = load_work() || local_waits_;  // local work may have waited for them
}

Nanoseconds UnreliableRequester::next_timeout() const {
  return !stopped_ && (ended_ > 0 || wants_poll_) ? 0 : kNever;
}

// The next work that sends something. What sends nothing is done in its turn.
bool UnreliableRequester::load_work() {
  while (!loaded_ && !stopped_) {
    if (!owner_.work(ended_, &work_)) return false;
    Status error = work_.error;
    if (error == Status::kSuccess && work_.length > kMostMessage) error = Status::kLocalLengthError;
    if (error == Status::kSuccess && sends(work_.kind)) {
      loaded_ = true;
      sent_ = 0;
      return true;
    }
    if (ended_ > 0) return false;  // first those before it
    if (error == Status::kSuccess) {
      const std::optional<Status> carried_out =
          work_.kind == WorkKind::kLocal ? owner_.carry_out_local() : Status::kLocalProtectionError;
      wants_poll_ = local_waits_ = !carried_out;
      if (!carried_out) return false;
      error = *carried_out;
    }
    stopped_ = error != Status::kSuccess;
    owner_.complete(error);
  }
  return loaded_ && !stopped_;
}

bool UnreliableRequester::poll_transmit(Transmit* transmit) {
  if (!load_work()) return false;
  const std::uint32_t packets = packets_of(work_.length, path_mtu_);
  maker_.request(work_, sent_, packets, path_mtu_, psn_, transmit);
  transmit->work = ended_;
  if (transmit->payload_bytes > 0 && !owner_.has_bytes(*transmit)) return false;
  psn_ = wire::psn_add(psn_, 1);
  if (++sent_ == packets) {
    loaded_ = false;
    ++ended_;
  }
  return true;
}

// Its message is broken off; works before it have been sent.
void UnreliableRequester::payload_unavailable(const Transmit& transmit) {
  if (stopped_) return;
  for (std::uint32_t i = 0; i < transmit.work; ++i) owner_.complete(Status::kSuccess);
  stopped_ = true;
  owner_.complete(Status::kLocalProtectionError);
}

}  // namespace gdr::engine
