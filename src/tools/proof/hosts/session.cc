#include "proof/hosts/session.h"

#include "base/random.h"
#include "perf/loopback.h"
#include "proof/hosts/far_worker.h"
#include "proof/hosts/relay.h"
#include "text/format.h"

namespace gdr::proof {
namespace {

constexpr Nanoseconds kTick = 200 * kMillisecond;  // between two looks at whether to go on
constexpr Nanoseconds kGreeting = 10 * kSecond;    // until it is known who the client is
constexpr Nanoseconds kPatience = 300 * kSecond;   // between two requests: it measures meanwhile

}  // namespace

std::optional<std::uint64_t> Booth::enter(perf::DeviceNames device) {
  const std::lock_guard guard(mutex_);
  if (ticket_ != 0) return std::nullopt;
  while (ticket_ == 0) ticket_ = random_u64();
  device_ = std::move(device);
  return ticket_;
}

void Booth::leave(std::uint64_t ticket) {
  const std::lock_guard guard(mutex_);
  if (ticket_ == ticket) ticket_ = 0;
}

std::optional<perf::DeviceNames> Booth::device_of(std::uint64_t ticket) {
  const std::lock_guard guard(mutex_);
  if (ticket == 0 || ticket_ != ticket) return std::nullopt;
  return device_;
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

Result<void> Session::may_go_on() const {
  if (interrupted_.load()) return Error{EINTR, "interrupted"};
  const Nanoseconds passed = now() - came_at_;
  if (!admission_.is_done() && passed > kGreeting) {
    return Error{ETIMEDOUT, "the client did not introduce itself within 10 s"};
  }
  if (passed <= options_.session_limit) return {};
  return Error{ETIME, "this server ends a session after " +
                          std::to_string(options_.session_limit / kSecond) +
                          " s; raise its --session-limit"};
}

Result<std::string> Session::serve() {
  if (Result<void> received = receive_client(); !received) return received.error();
  if (measures_) return measure();
  if (ticket_ == 0) return std::string("asked what this host has");
  Result<std::string> proved = prove();
  booth_.leave(ticket_);
  return proved;
}

Result<void> Session::receive_client() {
  while (ticket_ == 0 && !measures_) {
    const Result<process::Received> received = talk_.receive_any(kTick);
    if (!received && received.error().code == ECONNRESET) return {};
    if (!received && received.error().code != ETIMEDOUT) return received.error();
    if (Result<void> may = may_go_on(); !may) return may;
    if (!received) continue;
    Result<void> answered =
        talk_.answer(*received, [this](const auto& request) -> decltype(this->handle(request)) {
          return this->handle(request);
        });
    if (!answered) return answered;
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
  Result<Machine> machine = take_stock(asked);
  if (!machine) return machine.error();
  machine_ = *std::move(machine);
  const Result<Selection> chosen = choose_own(machine_->inventory, asked);
  FarHost told = describe(*machine_, asked, chosen);
  if (told.obstacle.seen.empty()) chosen_ = *chosen;
  return told;
}

Result<BeginProof::Reply> Session::handle(const BeginProof&) {
  if (!chosen_) return perf::too_early("the proof");
  const PortChoice& port = chosen_->far;
  const std::optional<std::uint64_t> ticket = booth_.enter({{}, {}, port.nic, port.port, {}});
  if (!ticket) return Error{EBUSY, "the server proves for another client; try again later"};
  ticket_ = *ticket;
  return BeginProof::Reply{ticket_};
}

Result<Nothing> Session::handle(const BeginRows& request) {
  if (!admission_.is_done()) return perf::too_early("a measurement");
  if (!booth_.device_of(request.ticket)) return Error{EACCES, "no proof has this ticket"};
  ticket_ = request.ticket;
  measures_ = true;
  return Nothing{};
}

Result<std::string> Session::prove() {
  Talk talk(talk_.take_socket(), "the other side is not a client of gdr prove");
  talk.watch(interrupted_);
  Result<FarWorker> worker = FarWorker::start(options_.proof, *machine_, *chosen_);
  if (!worker) {
    (void)talk.send(Failure{worker.error().code, worker.error().message});
    return worker.error();
  }
  Nanoseconds heard_at = now();
  for (;;) {
    const Result<process::Received> received = talk.receive_any(kTick);
    if (!received && received.error().code == ECONNRESET) break;
    if (!received && received.error().code != ETIMEDOUT) return received.error();
    Result<void> may = may_go_on();
    if (may && now() - heard_at > kPatience) {
      may = Error{ETIMEDOUT, "the client asked for nothing for 300 s"};
    }
    if (!may) {
      (void)talk.send(Failure{may.error().code, may.error().message});
      return may.error();
    }
    if (!received) continue;
    heard_at = now();
    if (Result<void> answered = worker->answer(talk, *received); !answered) return answered.error();
    if (worker->is_lost()) return Error{EIO, "its worker was lost"};
  }
  return "proof done, " + text::plural(worker->requests(), "request");
}

// The worker is the server of a loopback run, which ends when its socket is closed.
Result<std::string> Session::measure() {
  const std::optional<perf::DeviceNames> device = booth_.device_of(ticket_);
  if (!device) return Error{ECANCELED, "the proof has ended"};
  perf::Options options;
  options.libraries.soft = options_.proof.soft;
  options.libraries.require_hardware = options_.proof.require_hardware;
  options.program = options_.proof.program;
  Result<process::Worker> server = perf::start_loopback_server(options, {*device});
  if (!server) return server.error();
  const UniqueFd here = server->take_socket(), there = talk_.take_socket();
  relay(there, here, [this] { return may_go_on() && booth_.device_of(ticket_); });
  return std::string("measured");
}

}  // namespace gdr::proof
