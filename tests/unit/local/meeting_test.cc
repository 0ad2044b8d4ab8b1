// How processes find and meet each other: slots, introductions, and who is alive.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "local/peers.h"
#include "local/rendezvous.h"
#include "local/slots.h"
#include "open_descriptors.h"

namespace gdr::local {
namespace {

std::pair<UniqueFd, UniqueFd> sockets() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// What a process has to show.
struct Shown {
  std::unique_ptr<rnic::Segment> segment;
  UniqueFd doorbell{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Face face;

  explicit Shown(rnic::Token token) : segment(*rnic::Segment::create(token, {})) {
    face = {token, segment->descriptor(), doorbell.get(), segment->secret()};
  }
};

// As a message of a handshake, but with as many bytes and descriptors as asked for.
struct Message {
  std::uint64_t magic = rnic::kSegmentMagic;
  std::uint32_t layout = rnic::kSegmentLayout;
  std::uint32_t kind = 1;
  rnic::Token token = rnic::make_token(4, 4);
  std::int32_t segment = -1;
  rnic::Secret proof{};
};
constexpr std::uint32_t kHello = 1, kProof = 2, kShown = 3, kShownToo = 4;

void send_forged(int to, const Message& message, std::size_t bytes = sizeof(Message),
                 const std::vector<int>& descriptors = {}) {
  char longer[128] = {};
  std::memcpy(longer, &message, sizeof message);
  iovec data{longer, bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size() * sizeof(int));
  }
  ASSERT_EQ(sendmsg(to, &header, 0), static_cast<ssize_t>(bytes));
}

// A caller and an answerer of one process, connected.
struct Pair {
  Shown callers{rnic::make_token(4, 4)}, answerers{rnic::make_token(5, 5)};
  std::optional<Handshake> call, answer;

  Pair() {
    auto [here, there] = sockets();
    answer = *Handshake::answer(std::move(there), answerers.face);
    call = *Handshake::call(std::move(here), callers.face);
  }
};

TEST(Handshakes, ShowEachTheOthersTokenSegmentAndDoorbell) {
  Pair pair;
  EXPECT_FALSE(*pair.answer->go_on());
  EXPECT_FALSE(*pair.call->go_on());
  auto heard = pair.answer->go_on();
  ASSERT_TRUE(heard && *heard) << heard.error().message;
  ASSERT_TRUE(pair.answer->show_too(pair.answer->connection()));
  heard = pair.call->go_on();
  ASSERT_TRUE(heard && *heard) << heard.error().message;
  for (auto& [handshake, shown] :
       {std::pair{&*pair.call, &pair.answerers}, std::pair{&*pair.answer, &pair.callers}}) {
    Introduction introduction = handshake->take_introduction();
    EXPECT_EQ(introduction.token, shown->face.token);
    EXPECT_NE(fcntl(introduction.segment.get(), F_GETFD) & FD_CLOEXEC, 0);
    const auto mapped = rnic::Segment::map(std::move(introduction.segment));
    ASSERT_TRUE(mapped);
    EXPECT_EQ((*mapped)->header().token, shown->face.token);
    const std::uint64_t one = 1;
    EXPECT_EQ(write(introduction.doorbell.get(), &one, sizeof one), ssize_t{sizeof one});
    std::uint64_t rings = 0;
    EXPECT_EQ(read(shown->doorbell.get(), &rings, sizeof rings), ssize_t{sizeof rings});
  }
}

TEST(Handshakes, ShowNothingToACallerWhoDoesNotKnowTheSecret) {
  const Shown own(rnic::make_token(5, 5)), caller(rnic::make_token(4, 4));
  auto [here, there] = sockets();
  Handshake answer = *Handshake::answer(std::move(there), own.face);
  send_forged(here.get(), {.segment = caller.segment->descriptor()});
  ASSERT_FALSE(*answer.go_on());
  rnic::Secret wrong = own.face.secret;
  wrong[7] ^= 1;
  send_forged(here.get(), {.kind = kShown, .proof = wrong}, sizeof(Message),
              {caller.segment->descriptor(), caller.doorbell.get()});
  const auto heard = answer.go_on();
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, EACCES);
}

TEST(Handshakes, ShowNothingToAnAnswererWhoDoesNotKnowTheSecret) {
  const Shown own(rnic::make_token(4, 4)), answerer(rnic::make_token(5, 5));
  auto [here, there] = sockets();
  Handshake call = *Handshake::call(std::move(here), own.face);
  rnic::Secret wrong = own.face.secret;
  wrong[0] ^= 0x80;
  send_forged(there.get(), {.kind = kProof,
                            .token = answerer.face.token,
                            .segment = answerer.segment->descriptor(),
                            .proof = wrong});
  const auto heard = call.go_on();
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, EACCES);
  // Nothing but its hello has left it.
  Message got{};
  ASSERT_EQ(recv(there.get(), &got, sizeof got, 0), ssize_t{sizeof got});
  EXPECT_EQ(got.kind, kHello);
  EXPECT_EQ(recv(there.get(), &got, sizeof got, MSG_DONTWAIT), -1);
}

TEST(Handshakes, WithADescriptorThatIsNoSegmentAreRefused) {
  const Shown own(rnic::make_token(5, 5));
  for (const int descriptor : {-1, 0, 1 << 20}) {
    auto [here, there] = sockets();
    Handshake answer = *Handshake::answer(std::move(there), own.face);
    send_forged(here.get(), {.segment = descriptor});
    const auto heard = answer.go_on();
    ASSERT_FALSE(heard) << descriptor;
    EXPECT_EQ(heard.error().code, EACCES);
  }
}

// What a process is rung by must be a counter that never makes the ringer wait.
TEST(Handshakes, WithADoorbellThatIsNoneAreRefused) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const UniqueFd read_end(ends[0]), write_end(ends[1]);
  const UniqueFd file(open("/dev/null", O_RDWR | O_NONBLOCK)), waits(eventfd(0, EFD_CLOEXEC));
  for (const int doorbell : {write_end.get(), file.get(), waits.get()}) {
    Pair pair;
    EXPECT_FALSE(*pair.answer->go_on());
    Shown forged(rnic::make_token(4, 4));
    auto [here, there] = sockets();
    Handshake answer = *Handshake::answer(std::move(there), pair.answerers.face);
    send_forged(here.get(), {.segment = forged.segment->descriptor()});
    ASSERT_FALSE(*answer.go_on());
    send_forged(here.get(), {.kind = kShown, .proof = pair.answerers.face.secret}, sizeof(Message),
                {forged.segment->descriptor(), doorbell});
    const auto heard = answer.go_on();
    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().code, EPROTO);
  }
}

TEST(Handshakes, ThatAreNoneAreRefusedAndLeakNoDescriptor) {
  Message wrong_magic, wrong_layout, no_token, wrong_kind, none;
  wrong_magic.magic ^= 1;
  wrong_layout.layout += 1;
  no_token.token = 0;
  wrong_kind.kind = kShownToo;
  const struct {
    Message message;
    std::size_t bytes, descriptors;
  } kinds[] = {{wrong_magic, 40, 0}, {wrong_layout, 40, 0}, {no_token, 40, 0}, {wrong_kind, 40, 2},
               {none, 39, 0},        {none, 1, 0},          {none, 41, 0},     {none, 128, 0},
               {none, 40, 1},        {none, 40, 2},         {none, 4, 7}};
  const Shown own(rnic::make_token(5, 5));
  const UniqueFd file(open("/dev/null", O_RDWR | O_CLOEXEC));
  const int before = test::open_descriptors();
  for (const auto& kind : kinds) {
    auto [here, there] = sockets();
    Handshake answer = *Handshake::answer(std::move(there), own.face);
    send_forged(here.get(), kind.message, kind.bytes,
                std::vector<int>(kind.descriptors, file.get()));
    auto got = answer.go_on();
    ASSERT_FALSE(got) << kind.bytes << " bytes, " << kind.descriptors << " descriptors";
    EXPECT_EQ(got.error().code, EPROTO);
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

// It looks like the end of the connection, and brings descriptors all the same.
TEST(Handshakes, OfAMessageOfNoBytesLeakNoDescriptor) {
  const Shown own(rnic::make_token(5, 5));
  const UniqueFd file(open("/dev/null", O_RDWR | O_CLOEXEC));
  const int before = test::open_descriptors();
  {
    auto [here, there] = sockets();
    Handshake answer = *Handshake::answer(std::move(there), own.face);
    send_forged(here.get(), {}, 0, {file.get(), file.get()});
    const auto got = answer.go_on();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ECONNRESET);
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST(Handshakes, DoNotWait) {
  auto [here, there] = sockets();
  const Shown own(rnic::make_token(4, 4));
  Handshake call = *Handshake::call(std::move(here), own.face);
  EXPECT_FALSE(*call.go_on());
  there.reset();
  const auto hung_up = call.go_on();
  ASSERT_FALSE(hung_up);
  EXPECT_EQ(hung_up.error().code, ECONNRESET);
}

Nanoseconds soon() { return now() + kAnswerPatience; }

TEST(Slots, AreHeldByOneAndFreeAgainWithItsEnd) {
  std::uint32_t number = 0;
  {
    auto slot = claim_slot();
    ASSERT_TRUE(slot) << slot.error().message;
    number = slot->number;
    EXPECT_GE(number, 1u);
    EXPECT_LT(number, rnic::kSlots);
    auto connection = connect_slot(number, soon());
    ASSERT_TRUE(connection) << connection.error().message;
    EXPECT_EQ(identify(connection->get())->pid, getpid());
    auto other = claim_slot();
    ASSERT_TRUE(other);
    EXPECT_NE(other->number, number);
  }
  auto nobody = connect_slot(number, soon());
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ECONNREFUSED);
}

// As root only: another account takes the names that anybody can take, and calls at a slot.
TEST(Slots, OfAnotherUserAreNobodys) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  const Place abstract;
  auto slot = claim_slot();
  ASSERT_TRUE(slot);
  const std::uint32_t number = slot->number;
  UniqueFd listener = *abstract.listen_at(number);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
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
  for (int i = 0; i < 5000 && !connection; ++i) {
    connection.reset(accept(listener.get(), nullptr, nullptr));
    usleep(1000);
  }
  ASSERT_TRUE(connection);
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
        doorbell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        token_(rnic::make_token(slot_.number, 5)),
        segment_(*rnic::Segment::create(token_, {})),
        peers(token_, doorbell_.get()) {
    peers.show(*segment_);
    peers.on_waiting([this](int connection) {
      const std::lock_guard guard(mutex_);
      waiting_.push_back(connection);
    });
  }
  // Takes calls, and goes on with them as a service thread would until a caller is met. Processes
  // of other tests may call as well.
  void answer_one() {
    for (int i = 0; i < 5000; ++i, usleep(1000)) {
      UniqueFd connection(
          accept4(slot_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (connection) peers.answer(std::move(connection));
      std::vector<int> waiting;
      {
        const std::lock_guard guard(mutex_);
        waiting = waiting_;
      }
      for (const int one : waiting) {
        bool waits = false;
        if (peers.go_on_meeting(one, &waits) != nullptr) return;
      }
    }
  }
  rnic::Token token() const { return token_; }
  std::uint32_t number() const { return slot_.number; }

 private:
  Slot slot_;
  UniqueFd doorbell_;
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
  // A child that answers one call and then does as told.
  void start(void (*then)()) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    child_ = fork();
    if (child_ == 0) {
      alarm(30);
      Place place;
      const rnic::Token token = place.token();
      if (write(ends[1], &token, sizeof token) < 0) _exit(1);
      place.answer_one();
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
  static bool within_two_seconds(auto condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      usleep(1000);
    }
    return false;
  }

  Place own_;
  pid_t child_ = -1;
  rnic::Token token_ = 0;
};

TEST_F(PeersTest, AreAliveUntilTheyDie) {
  start([] {});
  const auto peer = own_.peers.find(rnic::slot_of(token_));
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
    execl("/bin/sleep", "sleep", "20", nullptr);
  });
  const auto peer = own_.peers.find(rnic::slot_of(token_));
  ASSERT_TRUE(peer) << peer.error().message;
  EXPECT_TRUE(within_two_seconds([&] { return !own_.peers.alive(token_); }));
  EXPECT_EQ(kill(child_, 0), 0);  // the process itself goes on
}

TEST_F(PeersTest, OfAnotherIncarnationAreNotTakenForAlive) {
  start([] {});
  ASSERT_TRUE(own_.peers.find(rnic::slot_of(token_)));
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
  std::thread answers([&] { late.answer_one(); });
  Result<std::shared_ptr<Peer>> second = first;
  EXPECT_TRUE(within_two_seconds([&] {
    second = own_.peers.find(late.number());
    return static_cast<bool>(second);
  }));
  answers.join();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ((*second)->token(), late.token());
  const auto caller = late.peers.known(own_.number());
  ASSERT_NE(caller, nullptr);
  EXPECT_TRUE(caller->check_alive());
}

TEST_F(PeersTest, OfWhomManyAreSilentAreWaitedForTogether) {
  std::vector<Slot> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(*claim_slot());
  const Nanoseconds start = now();
  own_.peers.meet_everyone();
  EXPECT_LT(now() - start, 3 * kAnswerPatience);
}

TEST_F(PeersTest, WhoDoNotAnswerAreWaitedForOnce) {
  const Slot silent = *claim_slot();
  ASSERT_FALSE(own_.peers.find(silent.number));
  const Nanoseconds start = now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(own_.peers.find(silent.number).error().code, EAGAIN);
  EXPECT_LT(now() - start, 300 * kMillisecond);
}

TEST_F(PeersTest, OfWhomAnEarlierHolderDidNotAnswerAreMetAllTheSame) {
  auto silent = std::make_optional(*claim_slot());
  const std::uint32_t number = silent->number;
  ASSERT_FALSE(own_.peers.find(number));
  silent.reset();
  EXPECT_EQ(own_.peers.find(number).error().code, ECONNREFUSED);
}

TEST_F(PeersTest, ThatPretendToHaveAnothersSlotAreRefused) {
  // Answers with a token of a slot that is not its own.
  Slot slot = *claim_slot();
  const UniqueFd doorbell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const rnic::Token lie = rnic::make_token(slot.number + 1, 5);
  const auto segment = *rnic::Segment::create(lie, {});
  std::thread liar([&] {
    UniqueFd connection;
    for (int i = 0; i < 5000 && !connection; ++i) {
      connection.reset(accept(slot.listener.get(), nullptr, nullptr));
      usleep(1000);
    }
    Handshake answer = *Handshake::answer(
        std::move(connection), {lie, segment->descriptor(), doorbell.get(), segment->secret()});
    fcntl(answer.connection(), F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 5000; ++i, usleep(1000)) {
      const auto done = answer.go_on();
      if (!done || *done) break;
    }
    (void)answer.show_too(answer.connection());
    usleep(50'000);
  });
  const auto peer = own_.peers.find(slot.number);
  liar.join();
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, EPROTO);
}

TEST_F(PeersTest, WhoseSegmentSaysAnotherTokenAreRefused) {
  auto [here, there] = sockets();
  Introduction introduction;
  introduction.token = rnic::make_token(8, 8);
  const auto segment = *rnic::Segment::create(rnic::make_token(8, 9), {});
  introduction.segment.reset(fcntl(segment->descriptor(), F_DUPFD_CLOEXEC, 0));
  introduction.doorbell.reset(eventfd(0, EFD_CLOEXEC));
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
    introduction.doorbell.reset(eventfd(0, EFD_CLOEXEC));
    return *Peer::meet(this_process(), std::move(introduction), std::move(here));
  };
  EXPECT_GE(meet()->memory_file(), 0);
  segment->header().mapped_at += 4096;
  EXPECT_EQ(meet()->memory_file(), -1);
}

}  // namespace
}  // namespace gdr::local
