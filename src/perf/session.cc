#include "perf/session.h"

#include "perf/rules.h"

namespace gdr::perf {
namespace {

constexpr Nanoseconds kTick = 200 * kMillisecond;  // between two looks at whether to go on
constexpr Nanoseconds kGreeting = 10 * kSecond;    // for a client's first word
constexpr Nanoseconds kIdle = 600 * kSecond;       // a client that says nothing for so long is gone

Error too_early(const char* what) {
  return {EPROTO, std::string(what) + " before what must come first"};
}

}  // namespace

Result<void> Session::serve() {
  Nanoseconds heard = now();
  for (;;) {
    Result<Received> received = control_.receive_any(kTick);
    if (!received) {
      const int code = received.error().code;
      if (code == ETIMEDOUT && !interrupted_.load() &&
          now() - heard < (greeted_ ? kIdle : kGreeting)) {
        continue;
      }
      const bool in_order = code == ECONNRESET && !started_;
      end_crew();
      if (in_order) return {};
      return received.error();
    }
    heard = now();
    if (Result<void> answered = dispatch(*received); !answered) return answered;
  }
}

template <typename Request>
Result<void> Session::answer(const Received& received) {
  Result<Request> request = Control::take<Request>(received);
  if (!request) return request.error();
  auto reply = handle(*request);
  if (reply) return control_.send(*reply);
  return control_.send(Failure{reply.error().code, reply.error().message});
}

Result<void> Session::dispatch(const Received& received) {
  switch (received.kind) {
    case number_of<Hello>():
      return answer<Hello>(received);
    case number_of<Open>():
      return answer<Open>(received);
    case number_of<SetUp>():
      return answer<SetUp>(received);
    case number_of<Connect>():
      return answer<Connect>(received);
    case number_of<Start>():
      return answer<Start>(received);
    case number_of<FillWindow>():
      return answer<FillWindow>(received);
    case number_of<MoveWindow>():
      return answer<MoveWindow>(received);
    case number_of<VerifyWindow>():
      return answer<VerifyWindow>(received);
    case number_of<Finish>():
      return answer<Finish>(received);
    case number_of<TearDown>():
      return answer<TearDown>(received);
    default:
      return Error{EPROTO, "not a client of gdr perf"};
  }
}

// The reply says what this side is, whether they match or not: the client tells its user.
Result<Hello> Session::handle(const Hello& request) {
  greeted_ = request.magic == kMagic && request.protocol == kProtocol;
  return Hello{kMagic, kProtocol, told_.side.version};
}

Result<Open::Reply> Session::handle(const Open&) {
  if (!greeted_) return too_early("open");
  Open::Reply reply;
  reply.side = told_.side;
  reply.facts = told_.facts;
  for (const auto& port : ports_) {
    reply.ports.push_back({static_cast<std::uint8_t>(port->port().active_mtu), port->has_atomics(),
                           port->port().max_msg_sz});
  }
  return reply;
}

Result<SetUp::Reply> Session::handle(const SetUp& request) {
  if (!greeted_) return too_early("set-up");
  end_crew();
  if (Result<void> right = check_load(request.load, request.largest); !right) return right.error();
  if (request.mtu < IBV_MTU_256 || request.mtu > IBV_MTU_4096) {
    return Error{EINVAL, "a path MTU that verbs does not know"};
  }
  if (request.load.ports > ports_.size()) {
    return Error{EINVAL, std::to_string(request.load.ports) + " ports are wanted, and " +
                             std::to_string(ports_.size()) + " are open"};
  }
  Result<std::unique_ptr<Crew>> crew =
      Crew::create(ports_,
                   {request.load, request.load.far, request.largest,
                    static_cast<ibv_mtu>(request.mtu), request.load.queue_pairs},
                   false, processors_);
  if (!crew) return crew.error();
  crew_ = *std::move(crew);
  SetUp::Reply reply;
  reply.address = crew_->address();
  reply.registered_bytes = crew_->registered_bytes();
  return reply;
}

Result<Nothing> Session::handle(const Connect& request) {
  if (crew_ == nullptr || connected_) return too_early("connect");
  if (Result<void> done = crew_->connect(request.address); !done) return done.error();
  connected_ = true;
  return Nothing{};
}

Result<Nothing> Session::handle(const Start& request) {
  if (!connected_ || started_) return too_early("start");
  if (Result<void> right = check_timing(request.timing); !right) return right.error();
  if (request.signal_every < 1 || request.signal_every > requests_queued(crew_->load())) {
    return Error{EINVAL, "no completion within the depth"};
  }
  if (request.size < 1 || request.size > crew_->largest()) {
    return Error{EINVAL, "a message that does not fit into its place"};
  }
  // Queue pairs and receives were made for one measure.
  if (request.measure != crew_->load().measure) {
    return Error{EINVAL, "another measure than what was set up"};
  }
  if (Result<void> done = crew_->start(request, clock_, nullptr); !done) return done.error();
  started_ = true;
  return Nothing{};
}

Result<Nothing> Session::handle(const FillWindow& request) {
  if (!started_) return too_early("fill");
  if (Result<void> done = crew_->fill(request.window); !done) return done.error();
  return Nothing{};
}

Result<Nothing> Session::handle(const MoveWindow& request) {
  if (!started_) return too_early("move");
  if (Result<void> done = crew_->move(request.window); !done) return done.error();
  return Nothing{};
}

Result<VerifyWindow::Reply> Session::handle(const VerifyWindow& request) {
  if (!started_) return too_early("verify");
  return crew_->verify(request.window);
}

Result<Finish::Reply> Session::handle(const Finish& request) {
  if (!started_) return too_early("finish");
  started_ = false;
  ++rows_;
  crew_->expect(request.sent);
  const CrewOutcome outcome = crew_->join();
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
}

}  // namespace gdr::perf
