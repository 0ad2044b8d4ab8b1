// What a client of gdr perf may have its server do, with all that a server has: its session, its
// crew's threads, queue pairs and memory, on the software NIC. The client is where it says, so that
// it gets as far as rows that run; its messages are right ones that the input spoils, in any order.
// Whatever it says, the session ends soon after its time is up or the client has gone.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "input.h"
#include "perf/session.h"

namespace gdr::perf {
namespace {

using test::Input;

constexpr Nanoseconds kWhole = 150 * kMillisecond;
constexpr Nanoseconds kSoon = 4 * kSecond;  // sanitizers, and a machine with other work

void require(bool claim, const char* what) {
  if (claim) return;
  fprintf(stderr, "%s\n", what);
  std::abort();
}

// Never destroyed: the NIC lives as long as the process.
const Ports& soft_ports() {
  static const Ports& ports = *[] {
    char program[4096] = "";
    require(readlink("/proc/self/exe", program, sizeof program - 1) > 0, "no /proc/self/exe");
    std::string folder = program;
    for (int i = 0; i < 3; ++i) folder.erase(folder.rfind('/'));
    DeviceNames names;
    names.verbs = folder + "/lib/gdrkit/soft-nic/libibverbs.so.1";
    names.nic = "soft0";
    Result<Ports> opened = open_ports({names});
    require(static_cast<bool>(opened), opened ? "" : opened.error().message.c_str());
    return new Ports(*std::move(opened));
  }();
  return ports;
}

class Client {
 public:
  explicit Client(UniqueFd fd) : fd_(std::move(fd)) {}

  // A kind, how many of its bytes are changed, and which to what; then whether to wait for the
  // answer.
  bool step(Input& input) {
    const std::uint8_t kind = input.byte() % std::tuple_size_v<Messages>;
    process::Bytes message = right_message(kind);
    const std::uint8_t how = input.byte();
    for (int changes = how & 7; changes > 0; --changes) {
      const std::size_t at = input.byte();
      const std::byte to{input.byte()};
      if (at < message.size()) {
        message[at] = to;
      } else {
        message.push_back(to);
      }
    }
    if ((how & 8) != 0) fill_up(message);
    process::Bytes all;
    for (int shift = 24; shift >= 0; shift -= 8) {
      all.push_back(static_cast<std::byte>(message.size() >> shift));
    }
    all.push_back(std::byte{kind});
    all.insert(all.end(), message.begin(), message.end());
    if (send(fd_.get(), all.data(), all.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return false;
    return (how & 16) != 0 || hear();
  }

 private:
  // Numbers at the end as large as they can be.
  static void fill_up(process::Bytes& message) {
    for (std::size_t i = 0; i < 8 && i < message.size(); ++i) {
      message[message.size() - 1 - i] = std::byte{0xff};
    }
  }

  bool hear() {
    pollfd entry{fd_.get(), POLLIN, 0};
    if (poll(&entry, 1, 500) <= 0) return false;
    std::byte bytes[8192];
    const ssize_t got = recv(fd_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 5) return false;
    if (bytes[4] == std::byte{number_of<SetUp::Reply>()}) {
      const auto body = std::span<const std::byte>(bytes).subspan(5, got - 5);
      const Result<SetUp::Reply> reply = process::decode<SetUp::Reply>(body);
      if (reply) address_ = reply->address;
    }
    return true;
  }

  process::Bytes right_message(std::uint8_t kind) {
    const rdma::Endpoint here = soft_ports().front()->endpoint();
    SetUp set_up;
    set_up.largest = 64;
    set_up.mtu = IBV_MTU_1024;
    set_up.load.operation = Operation::kSend;
    set_up.load.depth = 8;
    Start start;
    start.size = 64;
    start.timing = {0, 1'000'000, 0, 2};
    switch (kind) {
      case number_of<Hello>():
        return process::encode(Hello{kMagic, kProtocol, "1"});
      case number_of<Challenge>():
        return process::encode(Challenge{});
      case number_of<Begin>():
        return process::encode(Begin{1});
      case number_of<SetUp>():
        return process::encode(set_up);
      case number_of<Probe>(): {
        if (!target_) {
          Result<ProbeTarget> made = ProbeTarget::create(*soft_ports().front());
          if (made) target_ = *std::move(made);
        }
        Probe probe{0, here.lid, {}, here.global, target_ ? target_->queue_pair() : 0};
        std::copy(std::begin(here.gid.raw), std::end(here.gid.raw), probe.gid.begin());
        return process::encode(probe);
      }
      case number_of<ProbeAnswer>():
        return process::encode(ProbeAnswer{target_ ? target_->await(50 * kMillisecond)
                                                   : std::vector<std::uint32_t>{}});
      case number_of<Connect>():  // to itself: what it sends comes back
        return process::encode(Connect{address_});
      case number_of<Start>():
        return process::encode(start);
      case number_of<FillWindow>():
        return process::encode(FillWindow{{0, 0, 2}});
      case number_of<MoveWindow>():
        return process::encode(MoveWindow{{0, 0, 2}});
      case number_of<VerifyWindow>():
        return process::encode(VerifyWindow{{0, 0, 2}});
      case number_of<Finish>():
        return process::encode(Finish{{0}});
      default:
        return {};
    }
  }

  UniqueFd fd_;
  SideAddress address_;
  std::optional<ProbeTarget> target_;
};

const Terms& short_terms() {
  static const Terms terms = [] {
    Terms made;
    made.whole = kWhole;
    made.greeting = made.before_plan = made.patience = made.others = kWhole;
    return made;
  }();
  return terms;
}

void converse(Input input) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return;
  std::optional<Control> control(std::in_place, UniqueFd(sockets[0]));
  static const Description told;
  std::atomic<bool> interrupted{false};
  Stage stage;
  std::atomic<bool> ended{false};
  std::thread server([&] {
    Session session(*control, soft_ports(), told, interrupted, short_terms(), stage);
    (void)session.serve();
    control.reset();  // a client that waits for an answer sees it
    ended.store(true);
  });
  const Nanoseconds began = now();
  {
    std::optional<Client> client(std::in_place, UniqueFd(sockets[1]));
    // First whether it leaves at the end, as a rule; is ended by Ctrl-C; or stays.
    const std::uint8_t at_the_end = input.byte() % 8;
    for (int steps = 0; steps < 32 && !input.empty() && client->step(input); ++steps) {
    }
    if (at_the_end < 6) client.reset();
    if (at_the_end == 6) interrupted.store(true);
    while (!ended.load()) {
      require(now() - began < kSoon, "the session does not end");
      usleep(500);
    }
  }
  server.join();
}

}  // namespace
}  // namespace gdr::perf

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gdr::perf::converse({data, size});
  return 0;
}
