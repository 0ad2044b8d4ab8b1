// What may come to the collector of gdr fabric over its sockets, from members and from strangers:
// any bytes, and any messages in any order, sealed rightly or not. Without the token nobody is told
// anything or has a host left out.
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <deque>

#include "base/printable.h"
#include "fabric/hub/hub.h"
#include "fabric/judge/judge.h"
#include "input.h"

namespace gdr {
// So that no input means two things: each number is another, and the same for each input.
std::uint64_t drawn = 0;
std::uint64_t random_u64() { return ++drawn * 0x9e3779b97f4a7c15; }
}  // namespace gdr

// What was written is there at once, so the hub waits for nothing.
extern "C" int epoll_wait(int epoll, epoll_event* events, int most, int) {
  return epoll_pwait(epoll, events, most, 0, nullptr);
}

namespace gdr::fabric {
namespace {

using process::Received;
using process::Seal;
using test::Input;
using test::require;

constexpr const char *kVersion = "1.2.3", *kToken = "of the run";
constexpr std::size_t kMostPeers = 6;

void put(int to, const Bytes& bytes) {
  (void)send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::string word(Input& input) {
  constexpr const char* kWords[] = {"", "a", "b", "c", "\x1b[2J", "\xff", "x'; reboot #"};
  const std::uint8_t choice = input.byte();
  if (choice < 7) return kWords[choice];
  std::string text;
  for (const char letter : input.bytes<char>(choice)) text += letter;
  return choice > 250 ? text + std::string(3'000, 'x') : text;
}

double figure(Input& input) {
  constexpr double kFigures[] = {0, 1e9, 1.1e9, 2000, -1, 1e300, 1e-300, NAN, INFINITY};
  return kFigures[input.byte() % 9];
}

// The other end of one connection to the hub: a member, or a stranger.
class Peer {
 public:
  Peer(UniqueFd fd, bool is_own) : fd_(std::move(fd)), is_own_(is_own) {}

  // What has come. Each frame after the admission is sealed by the collector.
  void read() {
    std::byte piece[8192];
    for (ssize_t got; (got = recv(fd_.get(), piece, sizeof piece, MSG_DONTWAIT)) > 0;) {
      arriving_.add(std::span(piece).first(static_cast<std::size_t>(got)));
    }
    for (;;) {
      Result<std::optional<Received>> message = arriving_.next();
      require(static_cast<bool>(message));
      if (!*message) return;
      take(**message);
    }
  }

  void knock(Input& input) {
    if (welcome_ == std::nullopt) return;
    const std::uint8_t wrong = input.byte();
    Knock knock;
    knock.version = wrong == 1 ? "0.0.1" : wrong == 2 ? word(input) : kVersion;
    if (wrong == 3) knock.protocol = input.byte();
    if (wrong == 4) knock.magic = input.byte();
    rank_ = input.byte() % 5;
    knock.rank = rank_;
    const process::Share own = share_of(is_own_ ? "" : wrong == 5 ? "another" : kToken);
    knock.point = own.point();
    const Endpoint endpoint = wrong == 6 ? Endpoint{1} : endpoint_of(fd_.get(), Side::kClient);
    agreement_ = agree_on(own, *welcome_, Side::kClient, rank_, endpoint);
    knock.proof = agreement_->proof(wrong == 7 ? Side::kServer : Side::kClient);
    knows_ = knows_ || wrong < 5 || wrong > 7;
    Bytes bytes = process::encode(knock);
    if (wrong == 8) bytes.resize(std::min<std::size_t>(bytes.size(), input.byte()));
    put(fd_.get(), process::frame(Talk::number_of<Knock>(), bytes));
  }

  template <typename Message>
  void say(const Message& message) {
    say(Talk::number_of<Message>(), process::encode(message));
  }
  void say(std::uint8_t kind, const Bytes& bytes) {
    put(fd_.get(), process::frame(kind, bytes, leaving_ ? &*leaving_ : nullptr));
  }
  void say_plain(std::uint8_t kind, const Bytes& bytes) {
    put(fd_.get(), process::frame(kind, bytes));
  }
  void say_out_of_turn(Input& input) {
    if (leaving_) (void)leaving_->mark(input.byte(), {});
  }
  void put_raw(const Bytes& bytes) { put(fd_.get(), bytes); }

  void answer(Input& input) {
    StepDone done;
    const std::uint8_t wrong = input.byte();
    done.round = wrong == 1 ? input.byte() : connect_.round;
    done.phase = wrong == 2 ? static_cast<Phase>(input.byte()) : phase_;
    for (const Part& part : connect_.parts) {
      RailResult& result = done.results.emplace_back();
      result.rail = wrong == 3 ? input.byte() : part.rail;
      if (wrong == 4) {
        result.code = input.delta();
        result.problem = word(input);
        result.received_code = input.delta();
        result.received_problem = word(input);
        result.damage.kind = static_cast<participants::Damage::Kind>(input.byte() % 8);
        result.damage.offset = input.number();
      }
      result.value = figure(input);
    }
    if (wrong == 5) done.results.resize(input.number() % 200);
    say(done);
  }

  void reset() {
    const linger now{1, 0};  // no port stays behind
    setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    fd_.reset();
  }
  bool is_open() const { return static_cast<bool>(fd_); }
  bool knows() const { return knows_ || is_own_; }

 private:
  void take(Received& received) {
    if (arriving_seal_) require(static_cast<bool>(arriving_seal_->open(received)));
    if (received.kind == Talk::number_of<Welcome>()) {
      welcome_ = process::decode<Welcome>(received.bytes)->point;
    } else if (received.kind == Talk::number_of<Admitted>()) {
      require(knows());
      require(process::decode<Admitted>(received.bytes)->proof == agreement_->proof(Side::kServer));
      leaving_.emplace(agreement_->frame_key(Side::kClient));
      arriving_seal_.emplace(agreement_->frame_key(Side::kServer));
    } else if (received.kind == Talk::number_of<Connect>()) {
      connect_ = *process::decode<Connect>(received.bytes);
      phase_ = Phase::kConnect;
    } else if (received.kind == Talk::number_of<Go>()) {
      phase_ = process::decode<Go>(received.bytes)->phase;
    }
    // A stranger is told who this is, and to go.
    require(arriving_seal_ || received.kind == Talk::number_of<Welcome>() ||
            received.kind == Talk::number_of<Failure>());
  }

  UniqueFd fd_;
  const bool is_own_;
  bool knows_ = false;
  std::uint32_t rank_ = 0;
  process::FrameBuffer arriving_{1 << 20};
  std::optional<Point> welcome_;
  std::optional<process::Agreement> agreement_;
  std::optional<Seal> leaving_, arriving_seal_;
  Connect connect_;
  Phase phase_ = Phase::kConnect;
};

Ready ready(Input& input) {
  Ready ready;
  const std::uint8_t wrong = input.byte();
  for (std::uint16_t rail = 0; rail < (wrong == 1 ? input.byte() % 70 : 1); ++rail) {
    MemberRail& one = ready.rails.emplace_back();
    one.rail = wrong == 2 ? input.byte() : rail;
    one.nic = wrong == 3 ? word(input) : "mlx5_0";
    one.link_bits_per_second = wrong == 4 ? figure(input) : 4e11;
    one.software_nic = wrong == 5;
    one.leaf = wrong == 6 ? word(input) : "";
  }
  if (wrong == 7) ready.notes = {word(input), word(input)};
  return ready;
}

class Rounds : public Campaign {
 public:
  void begin(Report& report) override { report.rounds_planned = 3; }
  std::optional<Round> next(Report&) override {
    if (at_ == 3) return std::nullopt;
    const HostIndex one = at_ % 2, two = at_ == 0 ? 1 : 2;
    Round round;
    round.number = at_++;
    round.edges = {{one, two}, {two, one}};
    round.is_retest = at_ == 3;
    return round;
  }
  void judge(Report& report) override { fabric::judge(&report); }

 private:
  std::uint32_t at_ = 0;
};

UniqueFd connection_to(std::uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

class HubInput {
 public:
  explicit HubInput(Input& input) : input_(input) {}

  void run() {
    CollectorOptions options;
    options.expected = {{"a", 0}, {"b", 1}, {"", 2}, {"", 2}};
    const std::uint8_t setting = input_.byte();
    options.processes_as_hosts = (setting & 1) != 0;
    options.ask_doctor = (setting & 2) != 0;
    HubOptions hub_options;
    hub_options.version = kVersion;
    hub_options.own_members = 1;
    hub_options.meanwhile = [this](Collector&) { go_on(); };
    const std::unique_ptr<Hub> hub = *Hub::make(std::move(hub_options));
    Result<std::uint16_t> port = hub->listen(0);
    require(static_cast<bool>(port));
    port_ = *port;
    hub->require_token(kToken);
    auto ends = *process::Connection::pair();
    require(static_cast<bool>(hub->add(0, std::move(ends[0]))));
    peers_.emplace_back(std::move(ends[1]), true);
    Report report;
    Rounds rounds;
    Listener listener;
    Collector collector(options, rounds, listener, report, now());
    hub->serve(collector, options.expected.size(), is_over_);
    check(report);
  }

 private:
  // One thing that a peer does, between two turns of the hub.
  void go_on() {
    for (Peer& peer : peers_) {
      if (peer.is_open()) peer.read();
    }
    if (input_.empty()) {
      // A member that stays would be waited for.
      for (Peer& peer : peers_) peer.reset();
      is_over_ = true;
      return;
    }
    const std::uint8_t action = input_.byte();
    if (action % 16 == 0 && peers_.size() < kMostPeers) {
      peers_.emplace_back(connection_to(port_), false);
      return;
    }
    Peer& peer = peers_[action / 16 % peers_.size()];
    if (peer.is_open()) act(peer, action % 16);
  }

  void act(Peer& peer, int action) {
    switch (action) {
      case 1:
        return peer.knock(input_);
      case 2:
      case 3:
        return peer.say(Join{word(input_), word(input_)});
      case 4:
      case 5:
        return peer.say(ready(input_));
      case 6:
      case 7:
      case 8:
        return peer.answer(input_);
      case 9:
        return peer.say(Unable{word(input_)});
      case 10:
        return peer.say(Examined{word(input_), {{input_.byte(), word(input_), input_.delta()}}});
      case 11:
        return peer.say(Failure{input_.delta(), word(input_)});
      case 12:
        return peer.say(input_.byte() % 20, input_.bytes(input_.byte()));
      case 13:
        return peer.say_plain(input_.byte() % 20, input_.bytes(input_.byte()));
      case 14:
        return input_.byte() % 2 == 0 ? peer.say_out_of_turn(input_)
                                      : peer.put_raw(input_.bytes(input_.byte()));
      default:
        return peer.reset();
    }
  }

  void check(const Report& report) const {
    std::size_t known = 0;
    for (const Peer& peer : peers_) known += peer.knows();
    for (const Host& host : report.hosts) {
      require(host.name.size() < 200 && printable(host.name) == host.name);
      require(host.problem.size() < 1'000);
      require(host.rails.size() <= 64);
      // It takes somebody who knows the token.
      if (known == 1 && &host != &report.hosts[0]) {
        require(host.state == HostState::kThere || host.state == HostState::kNeverCame);
        require(host.rails.empty());
      }
    }
    require(rail_count(report) <= 64 && report.rails.size() <= 64);
    for (const Measurement& one : report.measurements) {
      require(one.from < report.hosts.size() && one.to < report.hosts.size());
      require(one.rail < rail_count(report) && one.far_rail < rail_count(report));
    }
    for (const Finding& finding : report.findings) {
      for (const HostIndex host : finding.hosts) require(host < report.hosts.size());
      const std::string& next = finding.next.text();
      require(next.find("reboot") == next.npos || next.find('\'') != next.npos);
    }
  }

  Input& input_;
  std::uint16_t port_ = 0;
  std::atomic<bool> is_over_{false};
  std::deque<Peer> peers_;
};

}  // namespace
}  // namespace gdr::fabric

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gdr::test::Input input(data, size);
  gdr::drawn = 0;
  gdr::fabric::HubInput(input).run();
  return 0;
}
