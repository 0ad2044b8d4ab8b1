#include "fabric/hub/hub.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "collector/fake_run.h"

namespace gdr::fabric {
namespace {

constexpr const char* kVersion = "1.2.3";
constexpr Nanoseconds kPatience = 20 * kSecond;
const std::vector<Edge> kBothWays = {{0, 1}, {1, 0}};

UniqueFd connection_to(std::uint16_t port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return {};
  return fd;
}

// A run of two hosts and one round, served by a thread of its own.
class Served {
 public:
  explicit Served(const std::string& token = "")
      : run_({"a", "b"}, {pairs(0, kBothWays)}), token_(token) {
    run_.options.join_limit = 10 * kSecond;
    HubOptions options;
    options.version = kVersion;
    options.meanwhile = [this](Collector&) { ++turns; };
    hub_ = *Hub::make(options);
    port = *hub_->listen(0);
    hub_->require_token(token);
    run_.time = now();
    run_.start();
  }
  ~Served() {
    interrupted_ = true;
    if (thread_.joinable()) thread_.join();
  }

  void begin() {
    thread_ = std::thread([this] { hub_->serve(*run_.collector, 2, interrupted_); });
  }
  // What a good member does, to its end. An error: what it was told instead of a part in the run.
  Result<void> take_part(Talk& talk, MemberId member) {
    const Result<Welcome> welcome = talk.receive<Welcome>(kPatience);
    if (!welcome) return welcome.error();
    Join join = run_.join_of(member);
    join.version = kVersion;
    join.proof = prove_token(token_, welcome->nonce, member);
    if (Result<void> sent = talk.send(join); !sent) return sent;
    Connect connect;
    for (;;) {
      const Result<process::Received> received = talk.receive_any(kPatience);
      if (!received) return received.error();
      if (received->kind == Talk::number_of<Finish>()) return {};
      if (received->kind == Talk::number_of<Failure>()) {
        return Error{EACCES, process::decode<Failure>(received->bytes)->text};
      }
      if (received->kind == Talk::number_of<Begin>()) (void)talk.send(run_.ready_of(member));
      StepDone done;
      if (received->kind == Talk::number_of<Connect>()) {
        connect = *process::decode<Connect>(received->bytes);
      } else if (received->kind == Talk::number_of<Go>()) {
        done.phase = process::decode<Go>(received->bytes)->phase;
      } else {
        continue;
      }
      done.round = connect.round;
      for (const Part& part : connect.parts) done.results.emplace_back().rail = part.rail;
      (void)talk.send(done);
    }
  }
  Result<void> take_part(MemberId member) {
    Talk talk(connection_to(port));
    return take_part(talk, member);
  }
  const Report& report() {
    thread_.join();
    return run_.report;
  }

  std::uint16_t port = 0;
  std::atomic<int> turns{0};

 private:
  FakeRun run_;
  const std::string token_;
  std::unique_ptr<Hub> hub_;
  std::atomic<bool> interrupted_{false};
  std::thread thread_;
};

void expect_all_proved(const Report& report) {
  EXPECT_EQ(report.hosts[0].state, HostState::kThere) << report.hosts[0].problem;
  EXPECT_EQ(report.hosts[1].state, HostState::kThere) << report.hosts[1].problem;
  EXPECT_EQ(report.measurements.size(), 2u);
}

TEST(FabricHub, MembersThatKnowTheTokenAreServedToTheEnd) {
  Served served("secret");
  served.begin();
  std::thread other([&] { EXPECT_TRUE(served.take_part(1)); });
  EXPECT_TRUE(served.take_part(0));
  other.join();
  expect_all_proved(served.report());
}

TEST(FabricHub, StrangerThatNeverStopsTalkingHoldsUpNobody) {
  Served served("secret");
  const UniqueFd stranger = connection_to(served.port);
  const timeval patience{1, 0};  // nobody reads after the end
  setsockopt(stranger.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::atomic<bool> over{false};
  std::vector<std::thread> senders;  // together faster than the hub reads
  for (int i = 0; i < 4; ++i) {
    senders.emplace_back([&] {
      const std::vector<char> bytes(256 << 10);  // messages that are none of a member's
      while (!over && send(stranger.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
      }
    });
  }
  served.begin();
  usleep(100'000);
  const Nanoseconds begin = now();
  std::thread other([&] { EXPECT_TRUE(served.take_part(1)); });
  EXPECT_TRUE(served.take_part(0));
  other.join();
  EXPECT_LT(now() - begin, 3 * kSecond);
  over = true;
  for (std::thread& sender : senders) sender.join();
  expect_all_proved(served.report());
}

TEST(FabricHub, StrangerThatWasRefusedAndStaysIsDropped) {
  Served served("secret");
  served.begin();
  Talk stranger(connection_to(served.port));
  ASSERT_TRUE(stranger.receive<Welcome>(kPatience));
  ASSERT_TRUE(stranger.send(Nothing{}));
  EXPECT_EQ(stranger.receive<Nothing>(kPatience).error().message,
            "this is the collector of gdr fabric");
  // It goes on for as long as it is let: the connection ends under it.
  const Nanoseconds end = now() + 9 * kSecond;
  bool is_dropped = false;
  while (!is_dropped && now() < end) {
    is_dropped = !stranger.send(Nothing{});
    usleep(50'000);
  }
  EXPECT_TRUE(is_dropped);
}

TEST(FabricHub, StrangerOfAnotherVersionCannotHaveAMemberLeftOut) {
  Served served;  // no token: whoever comes is let in
  served.begin();
  Talk zero(connection_to(served.port));
  ASSERT_TRUE(zero.receive<Welcome>(kPatience));
  Join join;
  join.version = kVersion;
  join.host = "a";
  join.machine = "machine 0";
  ASSERT_TRUE(zero.send(join));
  ASSERT_TRUE(zero.receive<Begin>(kPatience));
  Talk stranger(connection_to(served.port));
  ASSERT_TRUE(stranger.receive<Welcome>(kPatience));
  join.version = "0.0.1";
  ASSERT_TRUE(stranger.send(join));
  EXPECT_EQ(stranger.receive<Nothing>(kPatience).error().message, "rank 0 has joined already");
  EXPECT_EQ(zero.receive_any(300 * kMillisecond).error().code, ETIMEDOUT);  // it is still in
}

TEST(FabricHub, MemberOfAnotherVersionIsToldSoWhateverItsToken) {
  Served served("secret");
  served.begin();
  Talk talk(connection_to(served.port));
  ASSERT_TRUE(talk.receive<Welcome>(kPatience));
  Join join;
  join.version = "0.0.1";
  ASSERT_TRUE(talk.send(join));
  EXPECT_EQ(talk.receive<Nothing>(kPatience).error().message,
            "it runs gdrkit 0.0.1, and the collector 1.2.3: install the same version");
  std::thread other([&] { EXPECT_TRUE(served.take_part(1)); });
  EXPECT_TRUE(served.take_part(0));  // its rank was not taken from it
  other.join();
  expect_all_proved(served.report());
}

TEST(FabricHub, CutOffJoinIsNobodys) {
  Served served;
  served.begin();
  Talk stranger(connection_to(served.port));
  ASSERT_TRUE(stranger.receive<Welcome>(kPatience));
  Bytes bytes = process::encode(Join{});
  bytes.resize(4);  // the magic number
  ASSERT_TRUE(stranger.send_raw(Talk::number_of<Join>(), bytes));
  EXPECT_FALSE(stranger.receive<Begin>(kPatience));
  std::thread other([&] { EXPECT_TRUE(served.take_part(1)); });
  EXPECT_TRUE(served.take_part(0));
  other.join();
  expect_all_proved(served.report());
}

// Allows no descriptor but those that are open, and so many more.
class FewDescriptors {
 public:
  explicit FewDescriptors(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const UniqueFd next(dup(STDERR_FILENO));
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(next.get() + more);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(FabricHub, SilentStrangersAtTheLimitOfDescriptorsMakeRoomForMembers) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer opens a pipe to look at an object";
#endif
  Served served("secret");
  std::vector<UniqueFd> strangers;  // in front of the members
  for (int i = 0; i < 100; ++i) strangers.push_back(connection_to(served.port));
  Talk zero(connection_to(served.port)), one(connection_to(served.port));
  const FewDescriptors few(8);
  served.begin();
  std::thread other([&] { EXPECT_TRUE(served.take_part(one, 1)); });
  EXPECT_TRUE(served.take_part(zero, 0));
  other.join();
  expect_all_proved(served.report());
}

TEST(FabricHub, WaitsWithoutDescriptorsAndGoesOnOnceThereAreSome) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer opens a pipe to look at an object";
#endif
  Served served("secret");
  Talk zero(connection_to(served.port)), one(connection_to(served.port));
  {
    const FewDescriptors none(0);
    served.begin();
    usleep(500'000);
    EXPECT_LT(served.turns, 500);
  }
  std::thread other([&] { EXPECT_TRUE(served.take_part(one, 1)); });
  EXPECT_TRUE(served.take_part(zero, 0));
  other.join();
  expect_all_proved(served.report());
}

TEST(FabricHub, EndsAlthoughAMemberStaysConnected) {
  Served served;
  served.begin();
  Talk zero(connection_to(served.port)), one(connection_to(served.port));
  ASSERT_TRUE(one.receive<Welcome>(kPatience));
  Join join;
  join.version = kVersion;
  join.rank = 1;
  join.host = "b";
  join.machine = "machine 1";
  ASSERT_TRUE(one.send(join));
  ASSERT_TRUE(one.send(Unable{"no NIC"}));
  EXPECT_TRUE(served.take_part(zero, 0));
  EXPECT_EQ(served.report().hosts[1].state, HostState::kLeftOut);
}

TEST(FabricHub, WhoComesTooLateIsToldAtOnce) {
  Served served;
  served.begin();
  {
    Talk one(connection_to(served.port));
    ASSERT_TRUE(one.receive<Welcome>(kPatience));
    Join join;
    join.version = kVersion;
    join.rank = 1;
    ASSERT_TRUE(one.send(join));
    ASSERT_TRUE(one.send(Unable{"no NIC"}));
    while (one.receive_any(kPatience)) {
    }
  }
  EXPECT_EQ(served.take_part(1).error().message,
            "the run goes on without this host; the report says why");
}

}  // namespace
}  // namespace gdr::fabric
