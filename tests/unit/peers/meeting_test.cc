// How processes find and meet each other: slots, and who is alive.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "peers/peers.h"
#include "peers/rendezvous.h"
#include "peers/slots.h"
#include "shown.h"
#include "soon.h"

namespace gdr::peers {
namespace {

Nanoseconds in_time() { return now() + kAnswerPatience; }

TEST(Slots, AreHeldByOneAndFreeAgainWithItsEnd) {
  std::uint32_t number = 0;
  {
    auto slot = claim_slot();
    ASSERT_TRUE(slot) << slot.error().message;
    number = slot->number;
    EXPECT_GE(number, 1u);
    EXPECT_LT(number, rnic::kSlots);
    auto connection = connect_slot(number, in_time());
    ASSERT_TRUE(connection) << connection.error().message;
    EXPECT_EQ(identify(connection->get())->pid, getpid());
    auto other = claim_slot();
    ASSERT_TRUE(other);
    EXPECT_NE(other->number, number);
  }
  auto nobody = connect_slot(number, in_time());
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ECONNREFUSED);
}

// As root only: another account takes the names that anybody can take, and calls at a slot.
TEST(Slots, OfAnotherUserAreNobodys) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  const MeetingPlace abstract;
  auto slot = claim_slot();
  ASSERT_TRUE(slot);
  const std::uint32_t number = slot->number;
  UniqueFd listener = *abstract.listen_at(number);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(600);
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(9);
    // At an abstract name of root's, which it can call.
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const int length =
        std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "gdrkit-rnic-0-%u", number);
    const UniqueFd connection(socket(AF_UNIX, SOCK_SEQPACKET, 0));
    if (connect(connection.get(), reinterpret_cast<sockaddr*>(&name),
                static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                       static_cast<std::size_t>(length))) != 0) {
      _exit(8);
    }
    const auto peer = identify(connection.get());
    if (peer || peer.error().code != EACCES) _exit(7);
    char end = 0;
    _exit(read(ends[0], &end, 1) == 1 ? 0 : 6);
  }
  UniqueFd connection;
  ASSERT_TRUE(test::soon([&] {
    connection.reset(accept(listener.get(), nullptr, nullptr));
    return static_cast<bool>(connection);
  }));
  const auto peer = identify(connection.get());
  EXPECT_FALSE(peer);
  EXPECT_EQ(peer.error().code, EACCES);
  ASSERT_EQ(write(ends[1], "e", 1), 1);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(ends[0]), close(ends[1]);
}

// A process as others meet it: slot, segment, doorbell, and a thread that answers calls.
class Place {
 public:
  Place()
      : slot_(*claim_slot()),
        doorbell_(*Doorbell::make()),
        token_(rnic::make_token(slot_.number, 5)),
        segment_(*rnic::Segment::create(token_, {})),
        peers(token_, doorbell_.outer.get()) {
    peers.show(*segment_);
    peers.on_waiting([this](int connection) {
      const std::lock_guard guard(mutex_);
      waiting_.push_back(connection);
    });
  }
  // Takes calls, and goes on with them as a service thread would until this caller is met.
  // Processes of other tests may call as well, and before it.
  void answer_call_of(rnic::Token caller) {
    bool met = false;
    answer([&](Peer& peer) { met |= peer.token() == caller; }, [&] { return met; });
  }
  // Until `enough` says so; who has been met is told.
  void answer(const std::function<void(Peer&)>& tell, const std::function<bool()>& enough) {
    for (const Nanoseconds end = now() + test::kLastResort; !enough() && now() < end;
         usleep(1000)) {
      UniqueFd connection(
          accept4(slot_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (connection) peers.answer(std::move(connection));
      std::vector<int> waiting;
      {
        const std::lock_guard guard(mutex_);
        waiting = std::exchange(waiting_, {});
      }
      for (const int one : waiting) {
        if (const auto peer = peers.go_on_meeting(one)) tell(*peer);
      }
    }
  }
  rnic::Token token() const { return token_; }
  std::uint32_t number() const { return slot_.number; }

 private:
  Slot slot_;
  Doorbell doorbell_;
  rnic::Token token_;
  std::unique_ptr<rnic::Segment> segment_;
  std::mutex mutex_;
  std::vector<int> waiting_;  // under mutex_

 public:
  Peers peers;
};

Identity this_process() {
  return {.pid = getpid(),
          .proc_pid = getpid(),
          .pidfd = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)))};
}

class PeersTest : public testing::Test {
 protected:
  // A child that answers this process's call and then does as told.
  void start(void (*then)()) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    child_ = fork();
    if (child_ == 0) {
      alarm(600);
      Place place;
      const rnic::Token token = place.token();
      if (write(ends[1], &token, sizeof token) < 0) _exit(1);
      place.answer_call_of(own_.token());
      then();
      while (true) pause();
    }
    ASSERT_EQ(read(ends[0], &token_, sizeof token_), ssize_t{sizeof token_});
    close(ends[0]), close(ends[1]);
  }
  void TearDown() override { end_child(); }
  void end_child() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  // Whoever holds that slot; where the processors are busy, it may not have answered yet.
  Result<std::shared_ptr<Peer>> find(std::uint32_t number) {
    Result<std::shared_ptr<Peer>> peer = own_.peers.find(number);
    (void)test::soon([&] {
      if (!peer && peer.error().code == EAGAIN) peer = own_.peers.find(number);
      return peer || peer.error().code != EAGAIN;
    });
    return peer;
  }

  Place own_;
  pid_t child_ = -1;
  rnic::Token token_ = 0;
};

TEST_F(PeersTest, AreAliveUntilTheyDie) {
  start([] {});
  const auto peer = find(rnic::slot_of(token_));
  ASSERT_TRUE(peer) << peer.error().message;
  EXPECT_EQ((*peer)->pid(), child_);
  EXPECT_EQ((*peer)->token(), token_);
  EXPECT_TRUE(own_.peers.alive(token_));
  end_child();
  EXPECT_FALSE(own_.peers.alive(token_));
  const auto nobody = own_.peers.find(rnic::slot_of(token_));
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ECONNREFUSED);
  own_.peers.forget_dead();
  EXPECT_TRUE(own_.peers.everyone().empty());
  EXPECT_FALSE(own_.peers.alive(token_));  // also when it is long forgotten
}

TEST_F(PeersTest, AreNotAliveOnceTheyHaveCalledExec) {
  start([] {
    usleep(100'000);  // so that it is met before
    execl("/bin/sleep", "sleep", "600", nullptr);
  });
  const auto peer = find(rnic::slot_of(token_));
  ASSERT_TRUE(peer) << peer.error().message;
  EXPECT_TRUE(test::soon([&] { return !own_.peers.alive(token_); }));
  EXPECT_EQ(kill(child_, 0), 0);  // the process itself goes on
}

TEST_F(PeersTest, OfAnotherIncarnationAreNotTakenForAlive) {
  start([] {});
  ASSERT_TRUE(find(rnic::slot_of(token_)));
  EXPECT_TRUE(own_.peers.alive(own_.token()));
  // Who had this process's slot before: nobody has to be asked.
  EXPECT_FALSE(own_.peers.alive(own_.token() ^ 1));
}

// Whoever takes a call over late holds on to it, and its end would be the caller's death.
TEST_F(PeersTest, WhoAnswerACallLateTakeTheCallerForAlive) {
  Place late;
  const auto first = own_.peers.find(late.number());
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, EAGAIN);
  std::thread answers([&] { late.answer_call_of(own_.token()); });
  const auto second = find(late.number());
  answers.join();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ((*second)->token(), late.token());
  const auto caller = late.peers.known(own_.number());
  ASSERT_NE(caller, nullptr);
  EXPECT_TRUE(caller->check_alive());
}

TEST_F(PeersTest, OfWhomManyAreSilentAreWaitedForTogether) {
  std::vector<Slot> silent;
  for (int i = 0; i < 60; ++i) silent.push_back(*claim_slot());
  const Nanoseconds start = now();
  own_.peers.meet_everyone();
  EXPECT_LT(now() - start, 30 * kAnswerPatience);
}

// Connected, of the same account, and silent: as one that the kernel does not let prove itself.
TEST_F(PeersTest, WhoCallAndStaySilentKeepNobodyElseOut) {
  std::vector<UniqueFd> callers;
  const auto call = [&] {
    auto [here, there] = sockets();
    own_.peers.answer(std::move(there));
    callers.push_back(std::move(here));
  };
  for (int i = 0; i < 256; ++i) call();
  EXPECT_TRUE(is_connected(callers.back().get()));
  call();
  EXPECT_FALSE(is_connected(callers.back().get()));
  usleep(5'200'000);
  call();
  EXPECT_TRUE(is_connected(callers.back().get()));
  EXPECT_FALSE(is_connected(callers.front().get()));
}

TEST_F(PeersTest, WhoDoNotAnswerAreWaitedForOnce) {
  const Slot silent = *claim_slot();
  ASSERT_FALSE(own_.peers.find(silent.number));
  const Nanoseconds start = now();
  for (int i = 0; i < 60; ++i) EXPECT_EQ(own_.peers.find(silent.number).error().code, EAGAIN);
  EXPECT_LT(now() - start, 30 * kAnswerPatience);
}

TEST_F(PeersTest, OfWhomAnEarlierHolderDidNotAnswerAreMetAllTheSame) {
  auto silent = std::make_optional(*claim_slot());
  const std::uint32_t number = silent->number;
  ASSERT_FALSE(own_.peers.find(number));
  silent.reset();
  EXPECT_EQ(own_.peers.find(number).error().code, ECONNREFUSED);
}

// Answers each call with a token of a slot that is not its own, until it is stopped. Whoever calls
// may give up on a call before this thread gets to it, and processes of other tests call, too.
class Liar {
 public:
  Liar() : thread_([this] { run(); }) {}
  ~Liar() {
    stops_ = true;
    thread_.join();
  }
  std::uint32_t number() const { return slot_.number; }

 private:
  void run() {
    while (!stops_) {
      UniqueFd connection(
          accept4(slot_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (connection) lie(std::move(connection));
      usleep(1000);
    }
  }
  void lie(UniqueFd connection) {
    Result<Handshake> answer = Handshake::answer(
        std::move(connection),
        {token_, segment_->descriptor(), doorbell_.outer.get(), segment_->secret()});
    if (!answer) return;
    for (; !stops_; usleep(1000)) {
      const auto done = answer->go_on();
      if (!done) return;
      if (*done) break;
    }
    (void)answer->show_too(answer->connection());
    lied_.push_back(*std::move(answer));  // its end would look like this process's
  }

  Slot slot_ = *claim_slot();
  const Doorbell doorbell_ = *Doorbell::make();
  const rnic::Token token_ = rnic::make_token(slot_.number + 1, 5);
  const std::unique_ptr<rnic::Segment> segment_ = *rnic::Segment::create(token_, {});
  std::vector<Handshake> lied_;
  std::atomic<bool> stops_{false};
  std::thread thread_;  // last: it uses the others
};

TEST_F(PeersTest, ThatPretendToHaveAnothersSlotAreRefused) {
  const Liar liar;
  const auto peer = find(liar.number());
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, EPROTO);
}

// Processes of other tests come and go meanwhile, and some are silent.
TEST_F(PeersTest, KnowsEveryoneOnceAllHaveAnsweredWhoHoldASlot) {
  Place late;
  EXPECT_FALSE(own_.peers.knows_everyone()) << "it has been called, and has not answered";
  EXPECT_EQ(own_.peers.known(late.number()), nullptr);
  std::atomic<bool> enough{false};
  std::thread answers([&] { late.answer([](Peer&) {}, [&] { return enough.load(); }); });
  std::shared_ptr<Peer> met;
  EXPECT_TRUE(test::soon([&] {
    const bool knows = own_.peers.knows_everyone();
    return (met = own_.peers.known(late.number())) != nullptr && knows;
  }));
  enough = true;
  answers.join();
  ASSERT_NE(met, nullptr);
  EXPECT_EQ(met->token(), late.token());
}

TEST_F(PeersTest, WhoStaysSilentIsNotCountedOnForLong) {
  const Slot silent = *claim_slot();
  const Nanoseconds start = now();
  EXPECT_FALSE(own_.peers.knows_everyone());
  EXPECT_TRUE(test::soon([&] { return own_.peers.knows_everyone(); }));
  EXPECT_GE(now() - start, kSilencePatience);
}

TEST_F(PeersTest, WhatIsLeftOfADeadProcessIsNobodyToWaitFor) {
  { const Slot dead = *claim_slot(); }
  EXPECT_TRUE(test::soon([&] { return own_.peers.knows_everyone(); }));
}

TEST_F(PeersTest, WhoIsMetIsTold) {
  std::atomic<int> told{0};
  own_.peers.on_met([&](Peer&) { ++told; });
  Place other;
  std::thread answers([&] { other.answer_call_of(own_.token()); });
  EXPECT_TRUE(find(other.number()));
  answers.join();
  EXPECT_GE(told.load(), 1);
  const int before = told.load();
  EXPECT_TRUE(own_.peers.find(other.number()));
  EXPECT_EQ(told.load(), before) << "once";
}

TEST_F(PeersTest, WhoseSegmentSaysAnotherTokenAreRefused) {
  auto [here, there] = sockets();
  Introduction introduction;
  introduction.token = rnic::make_token(8, 8);
  const auto segment = *rnic::Segment::create(rnic::make_token(8, 9), {});
  introduction.segment.reset(fcntl(segment->descriptor(), F_DUPFD_CLOEXEC, 0));
  introduction.doorbell = std::move(Doorbell::make()->outer);
  const auto peer = Peer::meet(this_process(), std::move(introduction), std::move(here));
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, EPROTO);
}

// As where /proc is another pid namespace's, and the number somebody else's there.
TEST_F(PeersTest, WhoseMemoryFileDoesNotHoldWhatTheirSegmentSaysAreCopiedToWithoutIt) {
  const rnic::Token token = rnic::make_token(8, 8);
  const auto segment = *rnic::Segment::create(token, {});
  std::vector<UniqueFd> other_ends;
  const auto meet = [&] {
    auto [here, there] = sockets();
    other_ends.push_back(std::move(there));
    Introduction introduction;
    introduction.token = token;
    introduction.segment.reset(fcntl(segment->descriptor(), F_DUPFD_CLOEXEC, 0));
    introduction.doorbell = std::move(Doorbell::make()->outer);
    return *Peer::meet(this_process(), std::move(introduction), std::move(here));
  };
  EXPECT_GE(meet()->memory_file(), 0);
  segment->header().mapped_at += 4096;
  EXPECT_EQ(meet()->memory_file(), -1);
}

}  // namespace
}  // namespace gdr::peers
