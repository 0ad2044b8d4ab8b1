// Session: what comes before a client may have anything done: that it is let in, that it is its
// turn, and that the places that it names are its own.
#include <algorithm>

#include "base/random.h"
#include "perf/rules.h"
#include "perf/session.h"

namespace gdr::perf {
namespace {

// For one place: a datagram may be lost on its way.
constexpr int kMostProbes = 6;
constexpr std::size_t kMostAnswers = 4;
constexpr std::size_t kMostDestinations = kMostPorts * 4;

}  // namespace

Result<Hello> Session::handle(const Hello& request) { return admission_.handle(request); }

Result<Challenge::Reply> Session::handle(const Challenge& request) {
  return admitted_by(admission_.handle(request));
}

Result<Authenticate::Reply> Session::handle(const Authenticate& request) {
  return admitted_by(admission_.handle(request));
}

template <typename Reply>
Result<Reply> Session::admitted_by(Result<Reply> reply) {
  refused_ = admission_.refused();
  if (admission_.is_done()) control_.set_most(kLargestMessage);
  return reply;
}

Result<Open::Reply> Session::handle(const Open&) {
  if (!admission_.is_done()) return too_early("open");
  Open::Reply reply;
  reply.side = told_.side;
  reply.facts = told_.facts;
  for (const auto& port : ports_) {
    reply.ports.push_back({static_cast<std::uint8_t>(port->port().active_mtu), port->has_atomics(),
                           port->port().max_msg_sz});
  }
  return reply;
}

Result<Nothing> Session::handle(const Begin& request) {
  if (!admission_.is_done() || begun_) return too_early("begin");
  if (terms_.whole && request.nanoseconds > *terms_.whole) {
    return Error{ETIME, "the plan takes at least " + text_of_time(request.nanoseconds) +
                            ", but this server ends a session after " +
                            text_of_time(*terms_.whole) +
                            "; measure less, use a shorter --duration, or raise the server's "
                            "--session-limit"};
  }
  if (!stage_.enter(terms_.others, [this] { return go_on(); })) {
    return Error{EBUSY, "this server is measuring for another client; try again later"};
  }
  begun_ = true;
  if (terms_.whole) ends_at_ = now() + *terms_.whole;
  return Nothing{};
}

Result<Destination> Session::destination(std::size_t port, std::uint16_t lid,
                                         const std::array<std::uint8_t, 16>& gid,
                                         bool global) const {
  const bool ethernet = ports_[port]->port().link_layer == IBV_LINK_LAYER_ETHERNET;
  return destination_of(port, ethernet, lid, gid, global);
}

Result<Nothing> Session::handle(const Probe& request) {
  if (!begun_) return too_early("probe");
  if (request.port >= ports_.size())
    return Error{EINVAL, "the probe names a port that is not open"};
  const Result<Destination> to =
      destination(request.port, request.lid, request.gid, request.global);
  if (!to) return to.error();
  if (pending_ && (pending_->to != *to || pending_->sent >= kMostProbes)) {
    refused_ = Error{EACCES, "the client is not at the address it gave"};
    return Error{EACCES, "an earlier probe was not answered"};
  }
  if (!pending_) {
    if (proved_.size() >= kMostDestinations)
      return Error{EINVAL, "too many destinations in one session"};
    if (!stage_.take_probe(terms_.others, [this] { return go_on(); })) {
      return Error{EBUSY, "too many probes are unanswered; try again later"};
    }
    pending_ = Pending{*to, static_cast<std::uint32_t>(random_u64()), 0};
  }
  ++pending_->sent;
  Result<void> sent = send_probe(*ports_[request.port], *to, request.queue_pair, pending_->value);
  if (!sent) return sent.error();
  return Nothing{};
}

Result<Nothing> Session::handle(const ProbeAnswer& request) {
  if (!pending_) return too_early("an answer to a probe");
  const bool right = request.values.size() <= kMostAnswers &&
                     std::ranges::find(request.values, pending_->value) != request.values.end();
  if (!right) {
    refused_ = Error{EACCES, "the client is not at the address it gave"};
    return Error{EACCES, "wrong answer to the probe"};
  }
  stage_.give_back_probe();
  proved_.push_back(pending_->to);
  pending_.reset();
  return Nothing{};
}

Result<void> Session::check_destinations(const SideAddress& theirs) const {
  for (std::size_t i = 0; i < theirs.stations.size(); ++i) {
    const StationAddress& station = theirs.stations[i];
    const Result<Destination> to =
        destination(i % crew_->load().ports, station.lid, station.gid, station.global);
    if (!to) return to.error();
    if (std::ranges::find(proved_, *to) == proved_.end()) {
      return Error{EACCES, "this destination has not answered a probe"};
    }
  }
  return {};
}

}  // namespace gdr::perf
