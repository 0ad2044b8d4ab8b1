// How processes find and meet each other: slots, introductions, and who is alive.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "local/peers.h"
#include "local/slots.h"
#include "open_descriptors.h"

namespace gdr::local {
namespace {

std::pair<UniqueFd, UniqueFd> sockets() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const timeval patience{0, 100'000};
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

struct Message {
  std::uint64_t magic = rnic::kSegmentMagic;
  std::uint32_t layout = rnic::kSegmentLayout;
  rnic::Token token = rnic::make_token(4, 4);
};

// As an introduction, but with as many bytes and descriptors as asked for.
void send_forged(int to, const Message& message, std::size_t bytes, std::size_t descriptors) {
  std::vector<int> sent;
  for (std::size_t i = 0; i < descriptors; ++i) sent.push_back(open("/dev/null", O_RDWR));
  char longer[64] = {};
  std::memcpy(longer, &message, sizeof message);
  iovec data{longer, bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (descriptors > 0) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
    std::memcpy(CMSG_DATA(part), sent.data(), descriptors * sizeof(int));
  }
  ASSERT_EQ(sendmsg(to, &header, 0), static_cast<ssize_t>(bytes));
  for (const int descriptor : sent) close(descriptor);
}

TEST(Introductions, CarryTokenAndDescriptors) {
  auto [here, there] = sockets();
  const UniqueFd segment(open("/dev/null", O_RDWR)), doorbell(eventfd(5, 0));
  ASSERT_TRUE(send_introduction(there.get(), 1234, segment.get(), doorbell.get()));
  auto got = receive_introduction(here.get());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->token, 1234u);
  EXPECT_NE(fcntl(got->segment.get(), F_GETFD) & FD_CLOEXEC, 0);
  std::uint64_t value = 0;
  ASSERT_EQ(read(got->doorbell.get(), &value, sizeof value), ssize_t{sizeof value});
  EXPECT_EQ(value, 5u);
}

TEST(Introductions, ThatAreNoneAreRefusedAndLeakNoDescriptor) {
  Message wrong_magic, wrong_layout, no_token;
  wrong_magic.magic ^= 1;
  wrong_layout.layout += 1;
  no_token.token = 0;
  const struct {
    Message message;
    std::size_t bytes, descriptors;
  } kinds[] = {
      {wrong_magic, 16, 2}, {wrong_layout, 16, 2}, {no_token, 16, 2}, {{}, 15, 2}, {{}, 1, 2},
      {{}, 17, 2},          {{}, 64, 2},           {{}, 16, 0},       {{}, 16, 1}, {{}, 4, 7}};
  const int before = test::open_descriptors();
  for (const auto& kind : kinds) {
    auto [here, there] = sockets();
    send_forged(there.get(), kind.message, kind.bytes, kind.descriptors);
    auto got = receive_introduction(here.get());
    ASSERT_FALSE(got) << kind.bytes << " bytes, " << kind.descriptors << " descriptors";
    EXPECT_EQ(got.error().code, EPROTO);
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST(Introductions, WithMoreDescriptorsThanThereShouldBeLeakNone) {
  const int before = test::open_descriptors();
  {
    auto [here, there] = sockets();
    send_forged(there.get(), {}, 16, 7);
    (void)receive_introduction(here.get());
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

// Interrupts a thread again and again until it ends.
class Interruptions {
 public:
  Interruptions() : target_(pthread_self()) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGUSR1, &action, nullptr);  // no SA_RESTART
    thread_ = std::thread([this] {
      for (; !stop_; usleep(1000)) pthread_kill(target_, SIGUSR1);
    });
  }
  ~Interruptions() {
    stop_ = true;
    thread_.join();
    signal(SIGUSR1, SIG_DFL);
  }

 private:
  const pthread_t target_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(Introductions, ArriveThoughSignalsInterruptTheWait) {
  auto pair = sockets();
  const UniqueFd segment(open("/dev/null", O_RDWR)), doorbell(eventfd(0, 0));
  std::thread later([&, there = pair.second.get()] {
    usleep(50'000);
    (void)send_introduction(there, 1234, segment.get(), doorbell.get());
  });
  const Interruptions interruptions;
  auto got = receive_introduction(pair.first.get());
  later.join();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->token, 1234u);
}

TEST(Introductions, AreNotWaitedForWithoutEndThoughSignalsInterruptTheWait) {
  auto [here, there] = sockets();
  const Interruptions interruptions;
  auto got = receive_introduction(here.get());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, EAGAIN);
}

TEST(Introductions, AreNotWaitedForWithoutEnd) {
  auto [here, there] = sockets();
  auto got = receive_introduction(here.get());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, EAGAIN);
  there.reset();
  got = receive_introduction(here.get());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ECONNRESET);  // hung up
}

TEST(Slots, AreHeldByOneAndFreeAgainWithItsEnd) {
  std::uint32_t number = 0;
  {
    auto slot = claim_slot();
    ASSERT_TRUE(slot) << slot.error().message;
    number = slot->number;
    EXPECT_GE(number, 1u);
    EXPECT_LT(number, rnic::kSlots);
    auto connection = connect_slot(number);
    ASSERT_TRUE(connection) << connection.error().message;
    EXPECT_EQ(*same_user_peer(connection->get()), getpid());
    auto other = claim_slot();
    ASSERT_TRUE(other);
    EXPECT_NE(other->number, number);
  }
  auto nobody = connect_slot(number);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ECONNREFUSED);
}

// As root only: the name of this user's slot, held by another user.
TEST(Slots, HeldByAnotherUserAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  auto slot = claim_slot();
  ASSERT_TRUE(slot);
  const pid_t child = fork();
  if (child == 0) {
    // Another user who calls at the name of root's slot.
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
                                     "gdrkit-rnic-0-%u", slot->number);
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(9);
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (connect(connection, reinterpret_cast<sockaddr*>(&name),
                static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                       static_cast<std::size_t>(length))) != 0) {
      _exit(8);
    }
    const auto peer = same_user_peer(connection);
    _exit(!peer && peer.error().code == EACCES ? 0 : 7);
  }
  UniqueFd connection;
  for (int i = 0; i < 5000 && !connection; ++i) {
    connection.reset(accept(slot->listener.get(), nullptr, nullptr));
    usleep(1000);
  }
  ASSERT_TRUE(connection);
  const auto peer = same_user_peer(connection.get());
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, EACCES);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
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
    peers.show(segment_->descriptor());
  }
  void answer_one() {
    for (int i = 0; i < 5000; ++i) {
      UniqueFd connection(accept4(slot_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (connection) {
        (void)peers.answer(std::move(connection));
        return;
      }
      usleep(1000);
    }
  }
  rnic::Token token() const { return token_; }
  std::uint32_t number() const { return slot_.number; }

 private:
  Slot slot_;
  UniqueFd doorbell_;
  rnic::Token token_;
  std::unique_ptr<rnic::Segment> segment_;

 public:
  Peers peers;
};

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
  late.answer_one();
  const auto caller = late.peers.known(own_.number());
  ASSERT_NE(caller, nullptr);
  EXPECT_TRUE(caller->check_alive());
  const Nanoseconds start = now();
  const auto second = own_.peers.find(late.number());
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ((*second)->token(), late.token());
  EXPECT_LT(now() - start, 200 * kMillisecond);
  EXPECT_TRUE(caller->check_alive());
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
  const UniqueFd doorbell(eventfd(0, EFD_CLOEXEC));
  const rnic::Token lie = rnic::make_token(slot.number + 1, 5);
  const auto segment = *rnic::Segment::create(lie, {});
  std::thread liar([&] {
    UniqueFd connection;
    for (int i = 0; i < 5000 && !connection; ++i) {
      connection.reset(accept(slot.listener.get(), nullptr, nullptr));
      usleep(1000);
    }
    (void)send_introduction(connection.get(), lie, segment->descriptor(), doorbell.get());
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
  const auto peer = Peer::meet(getpid(), std::move(introduction), std::move(here));
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
    return *Peer::meet(getpid(), std::move(introduction), std::move(here));
  };
  EXPECT_GE(meet()->memory_file(), 0);
  segment->header().mapped_at += 4096;
  EXPECT_EQ(meet()->memory_file(), -1);
}

}  // namespace
}  // namespace gdr::local
