#include "perf/session.h"

#include "perf/caught.h"
#include "perf/rules.h"

namespace gdr::perf {
namespace {

constexpr Nanoseconds kTick = 200 * kMillisecond;  // between two looks at whether to go on
constexpr Nanoseconds kLook = 10 * kMillisecond;   // the same, while it does something

}  // namespace

Session::~Session() { end_crew(); }

Result<void> Session::serve() {
  control_.watch(interrupted_);
  control_.set_most(kLargestGreeting);
  came_at_ = heard_at_ = now();
  Result<void> ended =
      caught([&] { return talk(); },
             [&](const Error& thrown) {
               (void)caught([&] { return control_.send(Failure{thrown.code, thrown.message}); });
             });
  end_crew();
  if (begun_) stage_.leave();
  return ended;
}

Result<void> Session::talk() {
  for (;;) {
    Result<Received> received = control_.receive_any(kTick);
    if (!received && received.error().code != ETIMEDOUT) {
      if (received.error().code == ECONNRESET && !started_) return {};
      return received.error();
    }
    if (Result<void> may = has_time(); !may) {
      (void)control_.send(Failure{may.error().code, may.error().message});
      return may;
    }
    if (!received) continue;
    if (Result<void> answered = answer(*received); !answered) return answered;
    admission_.seal(control_);
    if (refused_) return *refused_;
    heard_at_ = now();
  }
}

Result<void> Session::has_time() const {
  const Nanoseconds time = now();
  if (!admission_.is_done() && time - came_at_ > terms_.greeting) {
    return Error{ETIMEDOUT,
                 "the client did not introduce itself within " + text_of_time(terms_.greeting)};
  }
  if (!begun_ && time - came_at_ > terms_.before_plan) {
    return Error{ETIMEDOUT,
                 "the client asked for nothing within " + text_of_time(terms_.before_plan)};
  }
  if (ends_at_ && time >= *ends_at_) {
    return Error{ETIME, "this server ends a session after " + text_of_time(*terms_.whole) +
                            "; raise its --session-limit"};
  }
  if (!begun_ || (started_ && !row_)) return {};
  const Nanoseconds patience = terms_.patience + row_.value_or(0);
  if (time - heard_at_ <= patience) return {};
  return Error{ETIMEDOUT, "the client sent nothing for " + text_of_time(patience)};
}

bool Session::go_on() {
  const Nanoseconds time = coarse_now();
  if (!goes_on_ || time < looked_at_ + kLook) return goes_on_;
  looked_at_ = time;
  goes_on_ = !interrupted_.load() && !control_.is_closed() && !(ends_at_ && time >= *ends_at_);
  return goes_on_;
}

template <typename Request>
auto Session::carry_out(const Request& request) -> decltype(handle(request)) {
  return caught([&] { return handle(request); }, [&](const Error&) { end_crew(); });
}

Result<void> Session::answer(const Received& received) {
  Result<void> answered =
      control_.answer(received, [this](const auto& request) -> decltype(this->handle(request)) {
        return carry_out(request);
      });
  if (answered) return answered;
  if (answered.error().code == EPROTO)
    return Error{EPROTO, "the other side is not a client of gdr perf"};
  if (answered.error().code != EMSGSIZE) return answered;
  return control_.send(
      Failure{EMSGSIZE, "the results do not fit into one message; use fewer --repeats"});
}

Result<SetUp::Reply> Session::handle(const SetUp& request) {
  if (!begun_) return too_early("set-up");
  end_crew();
  if (Result<void> right = check_load(request.load, request.largest); !right) return right.error();
  if (request.mtu < IBV_MTU_256 || request.mtu > IBV_MTU_4096) {
    return Error{EINVAL, "the client sent an unknown path MTU"};
  }
  if (request.load.ports > ports_.size()) {
    return Error{EINVAL, "the client wants " + std::to_string(request.load.ports) +
                             " ports, but only " + std::to_string(ports_.size()) + " are open"};
  }
  Result<std::unique_ptr<Crew>> crew =
      Crew::create(ports_,
                   {request.load, request.load.far, request.largest,
                    static_cast<ibv_mtu>(request.mtu), request.load.queue_pairs},
                   false, terms_.processors);
  if (!crew) return crew.error();
  crew_ = *std::move(crew);
  SetUp::Reply reply;
  reply.address = crew_->address();
  reply.registered_bytes = crew_->registered_bytes();
  return reply;
}

Result<Nothing> Session::handle(const Connect& request) {
  if (crew_ == nullptr || connected_) return too_early("connect");
  // The connection manager has the other side answer before a connection is established.
  if (!crew_->load().rdma_cm) {
    if (Result<void> right = check_destinations(request.address); !right) return right.error();
  }
  Result<void> done = crew_->connect(request.address, [this] { return go_on(); });
  if (!done) return done.error();
  connected_ = true;
  return Nothing{};
}

Result<Nothing> Session::handle(const Start& request) {
  if (!connected_ || started_) return too_early("start");
  if (Result<void> right = check_timing(request.timing); !right) return right.error();
  if (request.signal_every < 1 || request.signal_every > requests_queued(crew_->load())) {
    return Error{EINVAL, "no request within the depth asks for a completion"};
  }
  if (request.size < 1 || request.size > crew_->largest()) {
    return Error{EINVAL, "a message is larger than its buffer"};
  }
  // Queue pairs and receives were made for one measure.
  if (request.measure != crew_->load().measure) {
    return Error{EINVAL, "the row does not match the set-up"};
  }
  const Nanoseconds row = least_time(request.timing);
  if (ends_at_ && now() + row > *ends_at_) {
    return Error{ETIME, "a measurement of " + text_of_time(row) +
                            " does not fit into a session of " + text_of_time(*terms_.whole) +
                            "; use a shorter --duration, or raise the server's --session-limit"};
  }
  if (Result<void> done = crew_->start(request, terms_.clock, nullptr); !done) {
    end_crew();  // some of its threads may be there
    return done.error();
  }
  started_ = true;
  if (request.timing.slice_messages == 0) row_ = row;
  return Nothing{};
}

Result<Nothing> Session::handle(const FillWindow& request) {
  if (!started_) return too_early("fill");
  Result<void> done = crew_->fill(request.window, [this] { return go_on(); });
  if (!done) return done.error();
  return Nothing{};
}

Result<Nothing> Session::handle(const MoveWindow& request) {
  if (!started_) return too_early("move");
  if (Result<void> done = crew_->move(request.window); !done) return done.error();
  return Nothing{};
}

Result<VerifyWindow::Reply> Session::handle(const VerifyWindow& request) {
  if (!started_) return too_early("verify");
  return crew_->verify(request.window, [this] { return go_on(); });
}

Result<Finish::Reply> Session::handle(const Finish& request) {
  if (!started_) return too_early("finish");
  if (Result<void> right = crew_->expect(request.sent); !right) return right.error();
  started_ = false;
  row_.reset();
  ++rows_;
  const CrewOutcome outcome = crew_->join([this] { return go_on(); });
  Finish::Reply reply;
  reply.slices = outcome.slices;
  reply.sent = crew_->sent();
  reply.received = outcome.received;
  reply.lost = outcome.lost;
  reply.checked = outcome.checked;
  reply.wrong = outcome.wrong;
  reply.first_wrong = outcome.first_wrong;
  reply.cores = outcome.cores;
  if (!outcome.done) reply.problem = outcome.done.error().message;
  return reply;
}

Result<Nothing> Session::handle(const TearDown&) {
  end_crew();
  return Nothing{};
}

void Session::end_crew() {
  crew_.reset();
  connected_ = started_ = false;
  row_.reset();
}

}  // namespace gdr::perf
