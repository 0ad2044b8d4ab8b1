#include "fabric/hub/hub.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "collector/fake_run.h"
#include "soon.h"

namespace gdr::fabric {
namespace {

constexpr const char* kVersion = "1.2.3";
constexpr Nanoseconds kPatience = test::kLastResort;
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

// Comes in, up to where a member says which host it is.
Result<void> knock(Talk& talk, MemberId member, const std::string& token,
                   const std::string& version = kVersion) {
  const Result<Welcome> welcome = talk.receive<Welcome>(kPatience);
  if (!welcome) return welcome.error();
  Knock knock;
  knock.version = version;
  knock.rank = member;
  const process::Share own = share_of(token);
  knock.point = own.point();
  const process::Agreement agreement = *agree_on(own, welcome->point, Side::kClient, member,
                                                 endpoint_of(talk.descriptor(), Side::kClient));
  knock.proof = agreement.proof(Side::kClient);
  if (Result<void> sent = talk.send(knock); !sent) return sent;
  const Result<Admitted> admitted = talk.receive<Admitted>(kPatience);
  if (!admitted) return admitted.error();
  EXPECT_EQ(admitted->proof, agreement.proof(Side::kServer));
  talk.seal(agreement, Side::kClient);
  return {};
}

// A run of two hosts and one round, served by a thread of its own.
class Served {
 public:
  explicit Served(const std::string& token = "", MemberId own_members = 0)
      : run_({"a", "b"}, {pairs(0, kBothWays)}), token_(token) {
    run_.options.join_limit = kPatience;
    HubOptions options;
    options.version = kVersion;
    options.own_members = own_members;
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
    if (Result<void> knocked = knock(talk, member, token_); !knocked) return knocked;
    if (Result<void> sent = talk.send(run_.join_of(member)); !sent) return sent;
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
  EXPECT_LT(now() - begin, 30 * kSecond);
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
  EXPECT_TRUE(test::soon([&] { return !stranger.send(Nothing{}); }));
}

TEST(FabricHub, StrangerOfAnotherVersionCannotHaveAMemberLeftOut) {
  Served served;  // no token: whoever comes is let in
  served.begin();
  Talk zero(connection_to(served.port));
  ASSERT_TRUE(knock(zero, 0, ""));
  ASSERT_TRUE(zero.send(Join{"a", "machine 0"}));
  ASSERT_TRUE(zero.receive<Begin>(kPatience));
  Talk stranger(connection_to(served.port));
  EXPECT_EQ(knock(stranger, 0, "", "0.0.1").error().message,
            "it runs gdrkit 0.0.1, and the collector 1.2.3: install the same version");
  EXPECT_EQ(zero.receive_any(300 * kMillisecond).error().code, ETIMEDOUT);  // it is still in
}

TEST(FabricHub, WhoDoesNotKnowTheTokenIsToldNothing) {
  Served served("secret");
  served.begin();
  Talk stranger(connection_to(served.port));
  EXPECT_EQ(knock(stranger, 1, "another").error().message, "the token of the run is another one");
  EXPECT_EQ(stranger.receive_any(kPatience).error().code, ECONNRESET);
}

// What a stranger in between could do to a member's words: change them, say them again, leave one
// out, send the collector's own back to it.
TEST(FabricHub, WhatIsNotSealedByTheMemberInItsTurnIsNotTaken) {
  const auto refuses = [](const std::function<void(UniqueFd&, const process::Agreement&)>& send) {
    Served served("secret");
    served.begin();
    UniqueFd raw = connection_to(served.port);
    Talk talk(UniqueFd(dup(raw.get())));
    const Result<Welcome> welcome = talk.receive<Welcome>(kPatience);
    Knock knock;
    knock.version = kVersion;
    knock.rank = 1;
    const process::Share own = share_of("secret");
    knock.point = own.point();
    const process::Agreement agreement =
        *agree_on(own, welcome->point, Side::kClient, 1, endpoint_of(raw.get(), Side::kClient));
    knock.proof = agreement.proof(Side::kClient);
    ASSERT_TRUE(talk.send(knock));
    ASSERT_TRUE(talk.receive<Admitted>(kPatience));
    send(raw, agreement);
    EXPECT_EQ(talk.receive_any(kPatience).error().code, ECONNRESET);
  };
  const auto put = [](const UniqueFd& to, const Bytes& all) {
    EXPECT_EQ(send(to.get(), all.data(), all.size(), MSG_NOSIGNAL), ssize_t(all.size()));
  };
  const std::uint8_t kind = Talk::number_of<Join>();
  const Bytes join = process::encode(Join{"b", "machine 1"});
  refuses([&](UniqueFd& to, const process::Agreement&) { put(to, process::frame(kind, join)); });
  refuses([&](UniqueFd& to, const process::Agreement& agreement) {
    process::Seal seal(agreement.frame_key(Side::kServer));
    put(to, process::frame(kind, join, &seal));
  });
  refuses([&](UniqueFd& to, const process::Agreement& agreement) {
    process::Seal seal(agreement.frame_key(Side::kClient));
    (void)process::frame(kind, join, &seal);
    put(to, process::frame(kind, join, &seal));
  });
  refuses([&](UniqueFd& to, const process::Agreement& agreement) {
    process::Seal seal(agreement.frame_key(Side::kClient));
    Bytes changed = process::frame(kind, join, &seal);
    changed[process::kFrameHead + 4] ^= std::byte{1};
    put(to, changed);
  });
}

// The member has dialed another address than the one at which the collector was reached.
TEST(FabricHub, WhoPassesOnWhatBothSayAtAnotherPlaceIsNotLetIn) {
  Served served("secret");
  served.begin();
  Talk talk(connection_to(served.port));
  const Result<Welcome> welcome = talk.receive<Welcome>(kPatience);
  Endpoint other = endpoint_of(talk.descriptor(), Side::kClient);
  other[17] ^= 1;
  Knock knock;
  knock.version = kVersion;
  knock.rank = 1;
  const process::Share own = share_of("secret");
  knock.point = own.point();
  knock.proof = agree_on(own, welcome->point, Side::kClient, 1, other)->proof(Side::kClient);
  ASSERT_TRUE(talk.send(knock));
  EXPECT_EQ(talk.receive<Admitted>(kPatience).error().message,
            "the token of the run is another one");
}

TEST(FabricHub, OfTwoThatSayTheyAreOneRankNoneTakesPart) {
  Served served("secret");
  served.begin();
  Talk first(connection_to(served.port)), second(connection_to(served.port));
  for (Talk* const each : {&first, &second}) {
    ASSERT_TRUE(knock(*each, 1, "secret"));
    ASSERT_TRUE(each->send(Join{"b", "machine 1"}));
  }
  EXPECT_TRUE(served.take_part(0));
  const Report& report = served.report();
  EXPECT_EQ(report.hosts[0].state, HostState::kThere);
  EXPECT_EQ(report.hosts[1].state, HostState::kLeftOut);
  EXPECT_EQ(report.hosts[1].problem,
            "two processes say that they are rank 1: one of them may lie, so neither takes part");
}

TEST(FabricHub, OwnMembersRankIsNobodyElses) {
  Served served("secret", 1);
  served.begin();
  Talk stranger(connection_to(served.port));
  ASSERT_TRUE(knock(stranger, 0, "secret"));
  ASSERT_TRUE(stranger.send(Join{"a", "machine 0"}));
  EXPECT_EQ(stranger.receive<Nothing>(kPatience).error().message, "rank 0 has joined already");
}

TEST(FabricHub, MemberOfAnotherVersionIsToldSoWhateverItsToken) {
  Served served("secret");
  served.begin();
  Talk talk(connection_to(served.port));
  EXPECT_EQ(knock(talk, 0, "another", "0.0.1").error().message,
            "it runs gdrkit 0.0.1, and the collector 1.2.3: install the same version");
  std::thread other([&] { EXPECT_TRUE(served.take_part(1)); });
  EXPECT_TRUE(served.take_part(0));  // its rank was not taken from it
  other.join();
  expect_all_proved(served.report());
}

TEST(FabricHub, CutOffKnockIsNobodys) {
  Served served;
  served.begin();
  Talk stranger(connection_to(served.port));
  ASSERT_TRUE(stranger.receive<Welcome>(kPatience));
  Bytes bytes = process::encode(Knock{});
  bytes.resize(4);  // the magic number
  ASSERT_TRUE(stranger.send_raw(Talk::number_of<Knock>(), bytes));
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
  ASSERT_TRUE(knock(one, 1, ""));
  ASSERT_TRUE(one.send(Join{"b", "machine 1"}));
  ASSERT_TRUE(one.send(Unable{"no NIC"}));
  EXPECT_TRUE(served.take_part(zero, 0));
  EXPECT_EQ(served.report().hosts[1].state, HostState::kLeftOut);
}

TEST(FabricHub, WhoComesTooLateIsToldAtOnce) {
  Served served;
  served.begin();
  {
    Talk one(connection_to(served.port));
    ASSERT_TRUE(knock(one, 1, ""));
    ASSERT_TRUE(one.send(Join{}));
    ASSERT_TRUE(one.send(Unable{"no NIC"}));
    while (one.receive_any(kPatience)) {
    }
  }
  EXPECT_EQ(served.take_part(1).error().message,
            "the run goes on without this host; the report says why");
}

}  // namespace
}  // namespace gdr::fabric
