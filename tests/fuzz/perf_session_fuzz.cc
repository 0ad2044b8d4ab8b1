// What a client of gdr perf may send its server: any bytes over the connection, and any fields in
// messages of every kind, in any order. The session answers or ends; and the crew, of which there
// is a double here, is only asked for what it can do.
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "input.h"
#include "perf/rules.h"
#include "perf/session.h"

namespace gdr {
std::uint64_t random_u64() { return 7; }
}  // namespace gdr

namespace gdr::perf {
namespace {

using gdr::test::require;
using test::Input;

// What the double knows of its only crew.
struct State {
  Load load;
  std::uint64_t largest = 0;
  bool connected = false, running = false;
};
State state;

}  // namespace

Station::~Station() = default;

// Destinations to which a probe's number was sent.
std::vector<Destination> probed;
Result<void> send_probe(const Devices&, const Destination& to, std::uint32_t, std::uint32_t) {
  require(probed.size() < 100);
  probed.push_back(to);
  return {};
}
bool is_probed(const StationAddress& station) {
  const Result<Destination> to = destination_of(0, false, station.lid, station.gid, station.global);
  return to && std::ranges::find(probed, *to) != probed.end();
}

// Without the time that it takes.
TickClock::TickClock(const Moment&, const Moment&) {}
TickClock TickClock::calibrate(Nanoseconds) { return {{}, {}}; }

Result<std::unique_ptr<Crew>> Crew::create(const Ports&, const StationPlan& plan, bool is_client,
                                           std::vector<int>, std::optional<std::uint64_t>) {
  require(!is_client && plan.place == plan.load.far);
  require(static_cast<bool>(check_load(plan.load, plan.largest)));
  require(plan.mtu >= IBV_MTU_256 && plan.mtu <= IBV_MTU_4096);
  if (plan.load.depth == 7) return Error{ENOMEM, "none"};
  state = {plan.load, plan.largest, false, false};
  std::unique_ptr<Crew> crew(new Crew(is_client));
  crew->load_ = plan.load;
  return crew;
}
Crew::~Crew() = default;
// Numbers that nobody foresees would make no input mean the same twice.
constexpr std::uint32_t kRandom = 7;
SideAddress Crew::address() const { return {}; }
std::uint64_t Crew::registered_bytes() const { return 1; }
std::uint64_t Crew::largest() const { return state.largest; }
Result<void> Crew::connect(const SideAddress& theirs, const GoOn& go_on) {
  require(static_cast<bool>(go_on));
  // Nobody sends anywhere before that place has answered.
  for (const StationAddress& station : theirs.stations) {
    require(load_.rdma_cm || is_probed(station));
  }
  require(!state.connected);
  if (theirs.stations.size() > 1) return Error{EPROTO, "too many"};
  state.connected = true;
  return {};
}
Result<void> Crew::start(const Start& row, const TickClock&, Verifier* verifier) {
  require(state.connected && !state.running && verifier == nullptr);
  require(row.size >= 1 && row.size <= state.largest && row.measure == load_.measure);
  require(row.signal_every >= 1 && row.signal_every <= load_.depth);
  require(static_cast<bool>(check_timing(row.timing)));
  state.running = true;
  return {};
}
std::vector<std::uint64_t> Crew::sent() const { return {1}; }
Result<void> Crew::expect(const std::vector<std::uint64_t>& sent) {
  require(state.running);
  if (sent.size() > 2) return Error{EPROTO, "too many"};
  return {};
}
CrewOutcome Crew::join(const GoOn& go_on) {
  require(static_cast<bool>(go_on));
  require(state.running);
  state.running = false;
  return {};
}
Result<VerifyWindow::Reply> Crew::verify(const Window&, const GoOn&) {
  require(state.running);
  return VerifyWindow::Reply{};
}
Result<void> Crew::fill(const Window&, const GoOn&) {
  require(state.running);
  return {};
}
Result<void> Crew::move(const Window&) {
  require(state.running);
  return {};
}

namespace {

// A session asks its devices for what the port says alone; all of it is zeros here. Never
// destroyed.
const Ports& no_devices() {
  alignas(Devices) static std::byte storage[sizeof(Devices)]{};
  static const Ports& ports = *[] {
    auto* made = new Ports(1);
    made->front().reset(reinterpret_cast<Devices*>(storage));
    return made;
  }();
  return ports;
}

constexpr std::uint8_t kKinds = std::tuple_size_v<Messages>;

template <typename Message>
process::Bytes whole(const Message& message) {
  return process::encode(message);
}

// The right message of a kind, which the input then spoils.
process::Bytes right_message(std::uint8_t kind) {
  SetUp set_up;
  set_up.largest = 64;
  set_up.mtu = IBV_MTU_1024;
  Start start;
  start.size = 64;
  start.timing = {0, 1'000'000, 0, 1};
  switch (kind) {
    case number_of<Hello>():
      return whole(Hello{kMagic, kProtocol, "1"});
    case number_of<SetUp>():
      return whole(set_up);
    case number_of<Challenge>():
      return whole(Challenge{});
    case number_of<Authenticate>():
      return whole(Authenticate{});
    case number_of<Begin>():
      return whole(Begin{1});
    case number_of<Probe>():
      return whole(Probe{0, 1, {}, false, 2});
    case number_of<ProbeAnswer>():
      return whole(ProbeAnswer{{kRandom}});
    case number_of<Connect>():
      return whole(Connect{{{StationAddress{.lid = 1}}}});
    case number_of<Start>():
      return whole(start);
    case number_of<VerifyWindow>():
      return whole(VerifyWindow{});
    case number_of<FillWindow>():
      return whole(FillWindow{});
    case number_of<Finish>():
      return whole(Finish{{1, 2}});
    default:
      return {};
  }
}

template <std::size_t... I>
void decode_as_every_kind(std::span<const std::byte> bytes, std::index_sequence<I...>) {
  const auto decode = [&]<typename Message>(const Message*) {
    const Result<Message> message = process::decode<Message>(bytes);
    if (message) {
      const Result<Message> again = process::decode<Message>(process::encode(*message));
      require(static_cast<bool>(again));
    }
  };
  (decode(static_cast<const std::tuple_element_t<I, Messages>*>(nullptr)), ...);
}

// Steps: a kind, how many of its bytes are changed, and at which offsets to what. One kind is none,
// and what follows goes over the connection as it is.
process::Bytes conversation(Input input) {
  process::Bytes all;
  while (!input.empty()) {
    const std::uint8_t kind = input.byte();
    if (kind == 0xff) {
      const auto rest = std::as_bytes(input.rest());
      all.insert(all.end(), rest.begin(), rest.end());
      break;
    }
    process::Bytes message = right_message(kind % kKinds);
    for (std::uint8_t changes = input.byte() % 8; changes > 0; --changes) {
      const std::size_t at = input.byte();
      const std::byte to{input.byte()};
      if (at < message.size()) {
        message[at] = to;
      } else {
        message.push_back(to);
      }
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
      all.push_back(static_cast<std::byte>(message.size() >> shift));
    }
    all.push_back(std::byte(kind % kKinds));
    all.insert(all.end(), message.begin(), message.end());
  }
  return all;
}

}  // namespace
}  // namespace gdr::perf

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gdr;
  using namespace gdr::perf;
  decode_as_every_kind(std::as_bytes(std::span(data, size)), std::make_index_sequence<kKinds>());
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return 0;
  UniqueFd client(sockets[1]);
  std::optional<Control> control(std::in_place, UniqueFd(sockets[0]));
  // All of it at once, and no more: a session then ends by itself.
  const process::Bytes said = conversation({data, size});
  require(send(client.get(), said.data(), said.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 ||
          said.empty());
  shutdown(client.get(), SHUT_WR);
  static const Description told;
  static const std::atomic<bool> never{false};
  state = {};
  probed.clear();
  Terms terms;
  terms.whole = kSecond;
  Stage stage;
  Session session(*control, no_devices(), told, never, terms, stage);
  // Answers that nobody takes would be waited for.
  std::thread reader([&] {
    char bytes[4096];
    while (recv(client.get(), bytes, sizeof bytes, 0) > 0) {
    }
  });
  (void)session.serve();
  control.reset();
  reader.join();
  return 0;
}
