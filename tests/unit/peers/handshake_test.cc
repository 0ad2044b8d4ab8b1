// What two processes say to each other when they meet, and what they take from each other.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <vector>

#include "is_readable.h"
#include "open_descriptors.h"
#include "send_descriptors.h"
#include "shown.h"

namespace gdr::peers {
namespace {

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
  ASSERT_EQ(test::send_descriptors(to, longer, bytes, descriptors), static_cast<ssize_t>(bytes));
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
    EXPECT_FALSE(test::is_readable(shown->doorbell.inner.get()));
    ring_doorbell(introduction.doorbell.get());
    EXPECT_TRUE(test::is_readable(shown->doorbell.inner.get()));
    shown->doorbell.take_ring();
    EXPECT_FALSE(test::is_readable(shown->doorbell.inner.get()));
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
              {caller.segment->descriptor(), caller.doorbell.outer.get()});
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

// What a process is rung by never makes the ringer wait, and is nobody's but this host's.
TEST(Handshakes, WithADoorbellThatIsNoneAreRefused) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const UniqueFd read_end(ends[0]), write_end(ends[1]);
  const UniqueFd file(open("/dev/null", O_RDWR | O_NONBLOCK)), counter(eventfd(0, EFD_NONBLOCK)),
      network(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)),
      stream(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
  for (const int doorbell :
       {write_end.get(), file.get(), counter.get(), network.get(), stream.get()}) {
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

// As its owner may leave it at any time: the flags are shared, and nobody empties it.
TEST(Doorbells, ThatAreFullAndMayWaitMakeNoRingerWait) {
  const Doorbell doorbell = *Doorbell::make();
  fcntl(doorbell.outer.get(), F_SETFL, 0);
  fcntl(doorbell.inner.get(), F_SETFL, 0);
  alarm(600);
  for (int i = 0; i < 100'000; ++i) ring_doorbell(doorbell.outer.get());
  for (int i = 0; i < 100'000; ++i) doorbell.take_ring();
  shutdown(doorbell.outer.get(), SHUT_RDWR);
  ring_doorbell(doorbell.outer.get());
  doorbell.take_ring();
  alarm(0);
}

TEST(Handshakes, WithASegmentOfHugePagesAreRefused) {
  const Shown own(rnic::make_token(5, 5));
  UniqueFd pages(memfd_create("gdrkit-rnic-0123", MFD_CLOEXEC | MFD_HUGETLB | MFD_ALLOW_SEALING));
  if (!pages) GTEST_SKIP() << "the kernel has no huge pages";
  const auto mapped = rnic::Segment::map(std::move(pages));
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().message, "a peer's segment is not plain memory");
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

}  // namespace
}  // namespace gdr::peers
