#include "process/agreement.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "process/conversation.h"

namespace gdr::process {
namespace {

const Digest kKey{7};

Agreement anything() {
  return *Agreement::make(Share(kKey), Share(kKey).point(), Side::kClient, "");
}

TEST(Agreement, IsTheSameOnBothSidesAndEachPartOfItMakesAnother) {
  const Share client(kKey), server(kKey);
  const Agreement there = *Agreement::make(server, client.point(), Side::kServer, "a run");
  const Digest proof = there.proof(Side::kClient);
  EXPECT_EQ(Agreement::make(client, server.point(), Side::kClient, "a run")->proof(Side::kClient),
            proof);
  EXPECT_NE(there.proof(Side::kServer), proof);
  EXPECT_NE(there.frame_key(Side::kClient), proof);
  const auto differs = [&](const Share& own, const Point& theirs, Side self, const char* about) {
    return Agreement::make(own, theirs, self, about)->proof(Side::kClient) != proof;
  };
  EXPECT_TRUE(differs(client, server.point(), Side::kClient, "another"));
  EXPECT_TRUE(differs(client, server.point(), Side::kServer, "a run"));
  EXPECT_TRUE(differs(client, Share(kKey).point(), Side::kClient, "a run"));
  EXPECT_TRUE(differs(Share(kKey), server.point(), Side::kClient, "a run"));
  EXPECT_TRUE(differs(Share(Digest{8}), server.point(), Side::kClient, "a run"));
  EXPECT_FALSE(Agreement::make(client, Point{}, Side::kClient, "a run"));
}

// An impostor that has one proof of the client, and both points: no guess can be tried on them, but
// the one that it took its own point of. (Knowing the key, and the points, does not give the
// proof.)
TEST(Agreement, ProofShowsNothingOfAWeakKeyToWhomDidNotTakePartWithIt) {
  const Digest weak{1}, guessed{2};
  const Share client(weak), impostor(guessed);
  const Digest heard =
      Agreement::make(client, impostor.point(), Side::kClient, "a run")->proof(Side::kClient);
  const Share again(weak);
  EXPECT_NE(Agreement::make(impostor, client.point(), Side::kServer, "a run")->proof(Side::kClient),
            heard);
  EXPECT_NE(Agreement::make(again, client.point(), Side::kServer, "a run")->proof(Side::kClient),
            heard);
}

TEST(Seal, OpensWhatTheOtherSideHasSealedInItsTurn) {
  const Agreement agreement = anything();
  Seal leaving(agreement.frame_key(Side::kClient)), arriving(agreement.frame_key(Side::kClient));
  for (std::size_t size : {0, 1, 100}) {
    const Bytes bytes(size, std::byte{9}), all = frame(3, bytes, &leaving);
    EXPECT_EQ(all.size(), kFrameHead + size + Seal::kBytes);
    Received received{3, Bytes(all.begin() + kFrameHead, all.end())};
    ASSERT_TRUE(arriving.open(received)) << size;
    EXPECT_EQ(received.bytes, bytes);
  }
}

TEST(Seal, FrameThatIsChangedRepeatedOrSentBackIsAnError) {
  const Agreement agreement = anything();
  const auto opens = [&](auto change, Side opener = Side::kServer, std::uint8_t kind = 3,
                         int skipped = 0) {
    Seal leaving(agreement.frame_key(Side::kClient));
    Seal arriving(agreement.frame_key(other(opener)));
    for (int i = 0; i < skipped; ++i) (void)arriving.mark(0, {});
    const Bytes all = frame(3, Bytes(10, std::byte{9}), &leaving);
    Received received{kind, Bytes(all.begin() + kFrameHead, all.end())};
    change(received.bytes);
    return static_cast<bool>(arriving.open(received));
  };
  const auto nothing = [](Bytes&) {};
  EXPECT_TRUE(opens(nothing));
  EXPECT_FALSE(opens(nothing, Side::kServer, 4));
  EXPECT_FALSE(opens(nothing, Side::kServer, 3, 1));
  EXPECT_FALSE(opens(nothing, Side::kClient));
  EXPECT_FALSE(opens([](Bytes& bytes) { bytes.pop_back(); }));
  EXPECT_FALSE(opens([](Bytes& bytes) { bytes.push_back({}); }));
  EXPECT_FALSE(opens([](Bytes& bytes) { bytes.clear(); }));
  for (std::size_t at = 0; at < 10 + Seal::kBytes; ++at) {
    EXPECT_FALSE(opens([at](Bytes& bytes) { bytes[at] ^= std::byte{1}; })) << at;
  }
}

TEST(Conversation, SealedTakesNoMessageThatIsNotSealed) {
  using Talk = Conversation<std::tuple<Failure, Nothing>>;
  auto ends = *Connection::pair();
  Talk one(std::move(ends[0])), two(std::move(ends[1]));
  const Agreement agreement = anything();
  ASSERT_TRUE(one.send(Nothing{}));
  ASSERT_TRUE(two.receive<Nothing>(kSecond));
  one.seal(agreement, Side::kClient);
  two.seal(agreement, Side::kServer);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(one.send(Nothing{}));
    ASSERT_TRUE(two.receive<Nothing>(kSecond));
    ASSERT_TRUE(two.send(Nothing{}));
    ASSERT_TRUE(one.receive<Nothing>(kSecond));
  }
  // Goes on under another kind.
  Talk moved(static_cast<Connection&&>(one));
  ASSERT_TRUE(moved.send(Nothing{}));
  ASSERT_TRUE(two.receive<Nothing>(kSecond));
  const Bytes plain = frame(1, {});
  ASSERT_EQ(write(moved.descriptor(), plain.data(), plain.size()), ssize_t(plain.size()));
  EXPECT_EQ(two.receive<Nothing>(kSecond).error().code, EBADMSG);
}

}  // namespace
}  // namespace gdr::process
