#include "perf/client.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "perf/figures.h"
#include "perf/probe.h"
#include "perf/rules.h"
#include "perf/unreachable.h"
#include "text/format.h"

namespace gdr::perf {
namespace {

constexpr Nanoseconds kAnswer = 30 * kSecond;
constexpr Nanoseconds kSetUp = 300 * kSecond;  // thousands of queue pairs, gigabytes of memory
constexpr Nanoseconds kLook = 20 * kMillisecond;
// For a probe to arrive, the first time, the second time, ...: as many as a server sends.
constexpr Nanoseconds kProbes[] = {
    100 * kMillisecond, 200 * kMillisecond, 400 * kMillisecond, kSecond, kSecond, 2 * kSecond};
// A row that should have ended that long ago does not: large messages on a slow network take
// minutes.
constexpr Nanoseconds kOverdue = 600 * kSecond;
constexpr Nanoseconds kTell = 200 * kMillisecond;

bool is_ipv4(const std::uint8_t* gid) {
  in6_addr address;
  std::memcpy(&address, gid, sizeof address);
  return IN6_IS_ADDR_V4MAPPED(&address);
}

// Drivers only say "Invalid argument".
Result<void> check_families(const rdma::PortAddress& near, const StationAddress& far,
                            const std::string& far_gid) {
  if (!far.global || is_ipv4(near.gid.raw) == is_ipv4(far.gid.data())) return {};
  return Error{EINVAL,
               "the GIDs " + text_of_gid(near.gid.raw) + " (client) and " + far_gid +
                   " (server) mix IPv4 and IPv6; choose GIDs of one kind with --gid-index on both "
                   "sides (show_gids or ibv_devinfo -v lists them)"};
}

}  // namespace

// It may have said why before it went.
Error Client::ended_early() {
  const Result<Received> last = control_.receive_any(kTell);
  if (last && last->kind == number_of<Failure>()) {
    const Error why = Control::take<Nothing>(*last).error();
    return {ECONNRESET, "the server ended the session: " + why.message};
  }
  return {ECONNRESET, "the server ended during a measurement; its output may say why"};
}

Result<void> Client::greet(const std::optional<Secret>& secret) {
  Result<void> met = perf::greet(control_, {kMagic, kProtocol, version_, "gdr perf"}, secret);
  if (!met) return met;
  Result<Open::Reply> opened = control_.call(Open{}, kAnswer);
  if (!opened) return opened.error();
  opened_ = *std::move(opened);
  if (Result<void> right = check_opened(); !right) return right;
  proved_.resize(ports_.size());
  opened_.ports.resize(ports_.size());
  opened_.side.ports.resize(ports_.size());
  opened_.facts.nics.resize(ports_.size());
  return {};
}

Result<void> Client::check_opened() const {
  const std::size_t there = opened_.ports.size(), wanted = ports_.size();
  if (opened_.side.ports.size() != there || opened_.facts.nics.size() != there) {
    return Error{EPROTO, "the server sent inconsistent ports"};
  }
  if (there < wanted) {
    return Error{EINVAL, "--nic names " + text::plural(wanted, "port") + ", but the server has " +
                             std::to_string(there) +
                             "; give it more (gdr perf --server --nic NIC,NIC), or use fewer here"};
  }
  const bool right = std::ranges::all_of(opened_.ports, [](const Open::Port& port) {
    return port.mtu >= IBV_MTU_256 && port.mtu <= IBV_MTU_4096;
  });
  if (!right) return Error{EPROTO, "the server sent an unknown path MTU"};
  return {};
}

Result<void> Client::begin(const std::vector<Group>& groups) {
  Begin request;
  for (const Group& group : groups) {
    request.nanoseconds += group.sizes.size() * least_time(group.timing);
  }
  Result<Nothing> begun = control_.call(request, kAnswer);
  if (!begun) return begun.error();
  return {};
}

Result<void> Client::answer_probes(const Load& load) {
  if (unreachable_) return *unreachable_;
  for (std::size_t port = 0; port < load.ports; ++port) {
    if (proved_[port]) continue;
    if (Result<void> done = answer_probe(port); !done) return done;
    proved_[port] = true;
  }
  return {};
}

Result<void> Client::answer_probe(std::size_t port) {
  const Devices& devices = *ports_[port];
  Result<ProbeTarget> target = ProbeTarget::create(devices);
  if (!target) return target.error();
  const rdma::Endpoint here = devices.endpoint();
  Probe probe;
  probe.port = static_cast<std::uint16_t>(port);
  probe.lid = here.lid;
  probe.global = here.global;
  std::copy(std::begin(here.gid.raw), std::end(here.gid.raw), probe.gid.begin());
  probe.queue_pair = target->queue_pair();
  for (const Nanoseconds patience : kProbes) {
    Result<Nothing> sent = control_.call(probe, kAnswer);
    if (!sent) return Error{sent.error().code, "the server: " + sent.error().message};
    const std::vector<std::uint32_t> values = target->await(patience);
    if (interrupted_.load()) return Error{EINTR, "interrupted"};
    if (values.empty()) continue;
    Result<Nothing> right = control_.call(ProbeAnswer{values}, kAnswer);
    if (!right) return Error{right.error().code, "the server: " + right.error().message};
    return {};
  }
  unreachable_ = unreachable(far().ports[port], devices.names().nic, text_of_gid(here.gid.raw));
  return *unreachable_;
}

// The smallest one of all ports, or what was asked for.
ibv_mtu Client::path_mtu(const Load& load) const {
  int mtu = IBV_MTU_4096;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    mtu =
        std::min({mtu, static_cast<int>(ports_[i]->port().active_mtu), int{opened_.ports[i].mtu}});
  }
  while (load.path_mtu != 0 && mtu > IBV_MTU_256 &&
         rdma::bytes_of(static_cast<ibv_mtu>(mtu)) > load.path_mtu) {
    --mtu;
  }
  return static_cast<ibv_mtu>(mtu);
}

Result<void> Client::suits(const Load& load, std::uint64_t largest) const {
  for (std::uint32_t port = 0; port < load.ports; ++port) {
    if (Result<void> able = suits(load, largest, port); !able) return able;
  }
  return {};
}

Result<void> Client::suits(const Load& load, std::uint64_t largest, std::uint32_t port) const {
  const Devices& near = *ports_[port];
  const Open::Port& far = opened_.ports[port];
  const ibv_device_attr& device = near.attributes();
  const std::string& nic = near.names().nic;
  const auto needs = [&](const char* what, std::uint64_t wanted, std::uint64_t has,
                         const char* option) {
    return Error{ENOTSUP, nic + " has " + std::to_string(has) + " " + what + ", but " +
                              std::to_string(wanted) + " are needed; use a smaller " + option};
  };
  if (is_atomic(load.operation) && (!near.has_atomics() || !far.atomics)) {
    return Error{ENOTSUP,
                 (near.has_atomics() ? opened_.side.ports[port].nic : nic) + " has no atomics"};
  }
  const std::uint32_t pairs =
      queue_pairs_on(load, port) * (load.transport == Transport::kXrc ? 2 : 1);
  if (pairs > static_cast<std::uint32_t>(device.max_qp)) {
    return needs("queue pairs", pairs, static_cast<std::uint64_t>(device.max_qp), "--queue-pairs");
  }
  if (load.depth > static_cast<std::uint32_t>(device.max_qp_wr)) {
    return needs("requests per queue pair", load.depth,
                 static_cast<std::uint64_t>(device.max_qp_wr), "--depth");
  }
  const std::uint64_t most =
      load.transport == Transport::kUd
          ? rdma::bytes_of(path_mtu(load))
          : std::min<std::uint64_t>(near.port().max_msg_sz, far.largest_message);
  if (largest > most) {
    return Error{ENOTSUP, std::string(name_of(load.transport)) + " has at most " +
                              std::to_string(most) + " bytes per message here, not " +
                              std::to_string(largest)};
  }
  return {};
}

Result<void> Client::set_up(const Load& load, std::uint64_t largest) {
  const Nanoseconds start = now();
  if (Result<void> right = check_load(load, largest); !right) return right;
  if (Result<void> able = suits(load, largest); !able) return able;
  const ibv_mtu mtu = path_mtu(load);
  Result<std::unique_ptr<Crew>> crew =
      Crew::create(ports_, {load, load.near, largest, mtu, load.queue_pairs}, true, processors_);
  if (!crew) return crew.error();
  crew_ = *std::move(crew);
  Result<SetUp::Reply> there =
      control_.call(SetUp{load, largest, static_cast<std::uint8_t>(mtu)}, kSetUp);
  if (!there) return Error{there.error().code, "the server: " + there.error().message};
  const std::vector<StationAddress>& stations = there->address.stations;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    const std::size_t port = i % ports_.size();
    Result<void> same = check_families(ports_[port]->address(), stations[i], far().ports[port].gid);
    if (!same) return same;
  }
  // With rdma_cm the manager's own handshake shows as much.
  if (!load.rdma_cm) {
    if (Result<void> answered = answer_probes(load); !answered) return answered;
  }
  // Both at once: rdma_cm has each side wait for the other.
  Result<void> sent = control_.send(Connect{crew_->address()});
  if (!sent) return sent;
  Result<void> done = crew_->connect(there->address, [this] { return !interrupted_.load(); });
  Result<Nothing> connected = control_.receive<Nothing>(kSetUp);
  // Where one side fails the other one waits in vain, which says less.
  const bool in_vain = !done && done.error().code == EHOSTUNREACH;
  if (!done && (connected || !in_vain)) return done;
  if (!connected) return Error{connected.error().code, "the server: " + connected.error().message};
  set_up_seconds_ = static_cast<double>(now() - start) * 1e-9;
  return {};
}

Result<void> Client::tear_down() {
  crew_.reset();
  Result<Nothing> done = control_.call(TearDown{}, kSetUp);
  if (!done) return done.error();
  return {};
}

Result<void> Client::run(const Group& group, const std::function<void(Row)>& done,
                         std::function<void(const Load&)> running) {
  running_ = std::move(running);
  const std::uint64_t largest = *std::max_element(group.sizes.begin(), group.sizes.end());
  Load load = group.load;
  if (Result<void> ready = set_up(load, largest); !ready) {
    const int code = ready.error().code;
    if (code == ECONNRESET || code == ETIMEDOUT || code == EINTR) return ready;
    for (const std::uint64_t size : group.sizes) {
      Row row;
      row.load = load;
      row.load.size = size;
      row.problem = ready.error().message;
      done(std::move(row));
    }
    return tear_down();
  }
  for (const std::uint64_t size : group.sizes) {
    load.size = size;
    Result<Row> row = run_row(load, group.timing);
    if (!row) return row.error();
    const bool failed = !row->problem.empty();
    done(*std::move(row));
    if (interrupted_.load()) return Error{EINTR, "interrupted"};
    if (!failed) continue;
    // Queue pairs in error carry nothing any more.
    if (Result<void> ended = tear_down(); !ended) return ended;
    if (Result<void> ready = set_up(load, largest); !ready) return ready;
  }
  return tear_down();
}

Result<Row> Client::run_row(const Load& load, const Timing& timing) {
  Row row;
  row.load = load;
  row.registered_bytes = crew_->registered_bytes();
  row.set_up_seconds = set_up_seconds_;
  const Nanoseconds begin = now();
  CrewOutcome near;
  const Start start{load.size, load.measure, requests_for_completion(load, load.size), timing,
                    begin};
  Result<Finish::Reply> far = carry_out(start, near);
  row.seconds = static_cast<double>(now() - begin) * 1e-9;
  if (!far && far.error().code == EINTR) {
    row.problem = "interrupted";
    return row;
  }
  if (!far) return far.error();
  fill_row(row, near, *far, clock_);
  return row;
}

Result<Finish::Reply> Client::carry_out(const Start& start, CrewOutcome& near) {
  Result<Nothing> ready = control_.call(start, kAnswer);
  if (!ready) return ready.error();
  if (Result<void> started = crew_->start(start, clock_, this); !started) return started.error();
  const timespec look{0, static_cast<long>(kLook)};
  const Nanoseconds overdue_at = now() + least_time(start.timing) + kOverdue;
  while (!crew_->has_sent()) {
    nanosleep(&look, nullptr);
    if (start.timing.slice_messages == 0 && now() > overdue_at) {
      crew_->abort();
      near = crew_->join();
      return Error{ETIMEDOUT, "the measurement is " + text_of_time(kOverdue) +
                                  " late: the server accepts no messages"};
    }
    if (now() - told_at_ > kTell) {
      told_at_ = now();
      running_(crew_->load());
      // Unreliable transports would send on to nobody.
      if (control_.is_closed()) {
        crew_->abort();
        near = crew_->join();
        return ended_early();
      }
    }
    if (!interrupted_.load()) continue;
    crew_->abort();
    near = crew_->join();
    return Error{EINTR, "interrupted"};
  }
  Result<Finish::Reply> far = control_.call(Finish{crew_->sent()}, kAnswer);
  if (far) {
    if (Result<void> right = crew_->expect(far->sent); !right) far = right.error();
  }
  if (!far) crew_->abort();
  near = crew_->join([this] { return !interrupted_.load(); });
  if (!far && far.error().code == ECONNRESET) return ended_early();
  return far;
}

Result<void> Client::fill(const Window& window) {
  const std::lock_guard guard(control_mutex_);
  Result<Nothing> done = control_.call(FillWindow{window}, kAnswer);
  if (!done) return done.error();
  return {};
}

// The time that it takes to get at the connection is none of the window's.
Result<Ticks> Client::move(const Window& window) {
  const std::lock_guard guard(control_mutex_);
  const Ticks asked = ticks();
  Result<Nothing> done = control_.call(MoveWindow{window}, kAnswer);
  if (!done) return done.error();
  return asked;
}

Result<VerifyWindow::Reply> Client::verify(const Window& window) {
  const std::lock_guard guard(control_mutex_);
  Result<VerifyWindow::Reply> reply = control_.call(VerifyWindow{window}, kAnswer);
  if (!reply) return reply;
  const std::uint64_t most = std::uint64_t{window.count} * kMostQueuePairs;
  if (reply->lost > most || reply->wrong > most || reply->nanoseconds > 2 * kAnswer) {
    return Error{EPROTO, "the server sent inconsistent results for a window"};
  }
  return reply;
}

}  // namespace gdr::perf
