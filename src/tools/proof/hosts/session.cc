#include "proof/hosts/session.h"

#include "base/random.h"
#include "perf/loopback.h"
#include "perf/rules.h"
#include "proof/hosts/far_worker.h"
#include "proof/hosts/relay.h"
#include "text/format.h"

namespace gdr::proof {
namespace {

constexpr Nanoseconds kTick = 200 * kMillisecond;   // between two looks at whether to go on
constexpr Nanoseconds kGreeting = 10 * kSecond;     // until it is known who the client is
constexpr Nanoseconds kBeforeProof = 60 * kSecond;  // until it begins one
constexpr Nanoseconds kPatience = 300 * kSecond;    // between two requests: it measures meanwhile

}  // namespace

std::uint64_t Booth::enter(perf::DeviceNames device) {
  const std::lock_guard guard(mutex_);
  if (ticket_ != 0) return 0;
  while (ticket_ == 0) ticket_ = random_u64();
  device_ = std::move(device);
  measures_ = false;
  return ticket_;
}

void Booth::leave(std::uint64_t ticket) {
  const std::lock_guard guard(mutex_);
  if (ticket_ == ticket) ticket_ = 0;
}

std::optional<perf::DeviceNames> Booth::begin_rows(std::uint64_t ticket) {
  const std::lock_guard guard(mutex_);
  if (ticket == 0 || ticket_ != ticket || measures_) return std::nullopt;
  measures_ = true;
  return device_;
}

void Booth::end_rows(std::uint64_t ticket) {
  const std::lock_guard guard(mutex_);
  if (ticket_ == ticket) measures_ = false;
}

bool Booth::is_held_by(std::uint64_t ticket) {
  const std::lock_guard guard(mutex_);
  return ticket != 0 && ticket_ == ticket;
}

Session::Session(UniqueFd client, const ServerOptions& options,
                 const std::optional<perf::Secret>& secret, Booth& booth,
                 const std::atomic<bool>& interrupted)
    : talk_(std::move(client), "the other side is not a client of gdr prove"),
      options_(options),
      booth_(booth),
      interrupted_(interrupted),
      admission_({kMagic, kProtocol, options.proof.facts.version, "gdr prove"}, secret),
      came_at_(now()) {
  talk_.watch(interrupted_);
  talk_.set_most(perf::kLargestGreeting);
}

Session::~Session() {
  if (ticket_ != 0) booth_.leave(ticket_);
  if (measured_ != 0) booth_.end_rows(measured_);
}

Result<void> Session::may_go_on() const {
  if (interrupted_.load()) return Error{EINTR, "interrupted"};
  const Nanoseconds passed = now() - came_at_;
  if (!admission_.is_done() && passed > kGreeting) {
    return Error{ETIMEDOUT, "the client did not introduce itself within 10 s"};
  }
  if (ticket_ == 0 && measured_ == 0 && passed > kBeforeProof) {
    return Error{ETIMEDOUT, "the client began nothing within 60 s"};
  }
  if (passed <= options_.session_limit) return {};
  return Error{ETIME, "this server ends a session after " +
                          perf::text_of_time(options_.session_limit) +
                          "; raise its --session-limit"};
}

Result<std::string> Session::serve() {
  if (Result<void> received = receive_client(); !received) return received.error();
  if (measured_ != 0) return measure();
  if (ticket_ != 0) return prove();
  return std::string(machine_ ? "asked what this host has" : "came and went");
}

Result<void> Session::receive_client() {
  while (ticket_ == 0 && measured_ == 0) {
    const Result<process::Received> received = talk_.receive_any(kTick);
    if (!received && received.error().code == ECONNRESET) return {};
    if (!received && received.error().code != ETIMEDOUT) return received.error();
    if (Result<void> may = may_go_on(); !may) {
      (void)talk_.send(Failure{may.error().code, may.error().message});
      return may;
    }
    if (!received) continue;
    Result<void> answered =
        talk_.answer(*received, [this](const auto& request) -> decltype(this->handle(request)) {
          return this->handle(request);
        });
    if (!answered) return answered;
    admission_.seal(talk_);
    if (admission_.refused()) return *admission_.refused();
  }
  return {};
}

Result<perf::Hello> Session::handle(const perf::Hello& request) {
  return admission_.handle(request);
}

Result<perf::Challenge::Reply> Session::handle(const perf::Challenge& request) {
  return admission_.handle(request);
}

Result<perf::Authenticate::Reply> Session::handle(const perf::Authenticate& request) {
  return admission_.handle(request);
}

Result<Describe::Reply> Session::handle(const Describe& request) {
  if (!admission_.is_done() || machine_) return perf::too_early("describe");
  Options asked = options_.proof;
  if (!request.gpus) asked.device_memory.clear();
  asked.require_hardware = asked.require_hardware || (request.require_hardware && !asked.soft);
  const std::lock_guard one_at_a_time(booth_.inquiry());
  Result<Machine> machine = take_stock(asked);
  if (!machine) return machine.error();
  machine_ = *std::move(machine);
  const Result<Selection> chosen = choose_own(machine_->inventory, asked);
  FarHost told = describe(*machine_, asked, chosen);
  if (request.require_hardware && asked.soft) {
    told.obstacle = {
        {"the server was started with --soft, and real hardware is required; start it with "
         "--require-hardware"},
        {},
        {}};
  }
  if (told.obstacle.seen.empty()) chosen_ = *chosen;
  return told;
}

Result<BeginProof::Reply> Session::handle(const BeginProof&) {
  if (!chosen_) return perf::too_early("the proof");
  const PortChoice& port = chosen_->far;
  ticket_ = booth_.enter({{}, {}, port.nic, port.port, {}});
  if (ticket_ == 0) return Error{EBUSY, "the server proves for another client; try again later"};
  return BeginProof::Reply{ticket_};
}

Result<Nothing> Session::handle(const BeginRows& request) {
  if (!admission_.is_done()) return perf::too_early("a measurement");
  device_ = booth_.begin_rows(request.ticket);
  if (!device_) return Error{EACCES, "no proof has this ticket, or it is being measured for"};
  measured_ = request.ticket;
  return Nothing{};
}

Result<std::string> Session::prove() {
  Talk talk(std::move(talk_));
  talk.set_most(process::kLargestMessage);
  Result<FarWorker> worker = FarWorker::start(options_.proof, *machine_, *chosen_);
  if (!worker) {
    (void)talk.send(Failure{worker.error().code, worker.error().message});
    return worker.error();
  }
  Nanoseconds heard_at = now();
  for (;;) {
    const Result<process::Received> received = talk.receive_any(kTick);
    if (!received && received.error().code == ECONNRESET) break;
    Result<void> may = may_go_on();
    if (may && !received && received.error().code != ETIMEDOUT) return received.error();
    if (may && now() - heard_at > kPatience) {
      may = Error{ETIMEDOUT, "the client asked for nothing for 300 s"};
    }
    if (!may) {
      (void)talk.send(Failure{kSessionEnded, "the server on " + options_.proof.facts.host +
                                                 " ended the proof: " + may.error().message});
      return may.error();
    }
    if (!received) continue;
    heard_at = now();
    if (Result<void> answered = worker->answer(talk, *received); !answered) return answered.error();
    if (worker->is_lost()) return Error{EIO, "its worker was lost"};
  }
  return "proof ended, " + text::plural(worker->requests(), "request");
}

// The worker is the server of a loopback run, which ends when its socket is closed.
Result<std::string> Session::measure() {
  perf::Options options;
  options.libraries.soft = options_.proof.soft;
  options.libraries.require_hardware = options_.proof.require_hardware;
  options.program = options_.proof.program;
  Result<process::Worker> server = perf::start_loopback_server(options, {*device_});
  if (!server) return server.error();
  process::Connection here(server->take_socket());
  talk_.set_most(process::kLargestMessage);
  relay(talk_, here, [this] { return may_go_on() && booth_.is_held_by(measured_); });
  return std::string("measured");
}

}  // namespace gdr::proof
