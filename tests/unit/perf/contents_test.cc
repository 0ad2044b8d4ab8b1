#include "perf/contents.h"

#include <gtest/gtest.h>

#include "soft_devices.h"

namespace gdr::perf {
namespace {

constexpr std::uint64_t kSize = 256;

// A client's memory and a server's; between them the test moves the messages itself.
class Pair {
 public:
  explicit Pair(Transport transport, std::uint32_t depth = 4) {
    Load load;
    load.transport = transport;
    load.operation = transport == Transport::kUd ? Operation::kSend : Operation::kWrite;
    load.check = true;
    load.depth = depth;
    for (auto& station : stations_) {
      Result<std::unique_ptr<Station>> made =
          Station::create(soft_devices(), {load, load.near, kSize, IBV_MTU_1024, 2});
      if (!made) ADD_FAILURE() << made.error().message;
      station = *std::move(made);
    }
  }

  Contents of(bool is_client, std::uint32_t thread = 0) {
    tasks_.push_back(std::unique_ptr<Task>(new Task{.station = *stations_[is_client ? 0 : 1],
                                                    .clock = clock_,
                                                    .index = thread,
                                                    .size = kSize,
                                                    .timing = {},
                                                    .seed = 77,
                                                    .is_client = is_client}));
    return Contents(*tasks_.back());
  }
  std::byte* at(int side, bool outgoing, std::uint32_t queue, std::uint64_t message) {
    Station& station = *stations_[side];
    const Station::Queue& places = station.queues()[queue];
    return reinterpret_cast<std::byte*>(
        (outgoing ? places.outgoing : places.incoming + station.layout().head) +
        station.layout().slot(message));
  }
  // The client's, and the server's.
  std::byte* outgoing(std::uint32_t queue, std::uint64_t message) {
    return at(0, true, queue, message);
  }
  std::byte* incoming(std::uint32_t queue, std::uint64_t message) {
    return at(1, false, queue, message);
  }
  void move(std::uint32_t queue, std::uint64_t message) {
    std::copy_n(outgoing(queue, message), kSize, incoming(queue, message));
  }

  Outcome outcome;

 private:
  const TickClock clock_ = TickClock::calibrate();
  std::unique_ptr<Station> stations_[2];
  std::vector<std::unique_ptr<Task>> tasks_;
};

TEST(Contents, OfEveryMessageThatWasMovedAreRight) {
  for (const Transport transport : {Transport::kRc, Transport::kUc, Transport::kUd}) {
    Pair pair(transport);
    Contents client = pair.of(true), server = pair.of(false);
    for (std::uint64_t message = 0; message < 10; ++message) {
      for (std::uint32_t queue = 0; queue < 2; ++queue) {
        ASSERT_TRUE(client.fill_outgoing(queue, message, pair.outcome));
        pair.move(queue, message);
        ASSERT_TRUE(server.verify_incoming(queue, message, pair.outcome));
      }
    }
    EXPECT_EQ(pair.outcome.checked, 20u);
    EXPECT_EQ(pair.outcome.wrong, 0u) << pair.outcome.first_wrong;
    EXPECT_EQ(pair.outcome.lost, 0u);
  }
}

TEST(Contents, ShowOneBitAnywhere) {
  Pair pair(Transport::kRc);
  Contents client = pair.of(true), server = pair.of(false);
  client.fill_outgoing(0, 0, pair.outcome);
  pair.move(0, 0);
  for (std::uint64_t at = 0; at < kSize; ++at) {
    pair.incoming(0, 0)[at] ^= std::byte{0x10};
    server.verify_incoming(0, 0, pair.outcome);
    ASSERT_EQ(pair.outcome.wrong, at + 1);
    pair.incoming(0, 0)[at] ^= std::byte{0x10};
  }
  EXPECT_EQ(pair.outcome.first_wrong.find("message 0 of queue pair 0: "), 0u)
      << pair.outcome.first_wrong;
  EXPECT_NE(pair.outcome.first_wrong.find("bit 4 of byte 0"), std::string::npos)
      << pair.outcome.first_wrong;
}

TEST(Contents, ShowABlockThatIsDisplaced) {
  Pair pair(Transport::kUc);
  Contents client = pair.of(true), server = pair.of(false);
  client.fill_outgoing(0, 0, pair.outcome);
  std::copy_n(pair.outgoing(0, 0), kSize - 64, pair.incoming(0, 0) + 64);
  server.verify_incoming(0, 0, pair.outcome);
  EXPECT_EQ(pair.outcome.wrong, 1u);
  EXPECT_NE(pair.outcome.first_wrong.find("displaced"), std::string::npos)
      << pair.outcome.first_wrong;
}

TEST(Contents, ShowAPartThatIsStale) {
  for (const Transport transport : {Transport::kRc, Transport::kUc, Transport::kUd}) {
    Pair pair(transport);
    Contents client = pair.of(true), server = pair.of(false);
    for (const std::uint64_t message : {0, 4}) {  // in the same place
      client.fill_outgoing(0, message, pair.outcome);
      if (message == 0) pair.move(0, 0);
    }
    std::copy_n(pair.outgoing(0, 4), kSize / 2, pair.incoming(0, 4));
    server.verify_incoming(0, 4, pair.outcome);
    EXPECT_EQ(pair.outcome.wrong, 1u);
    EXPECT_EQ(pair.outcome.lost, 0u);
  }
}

TEST(Contents, OfAMessageThatNeverCameAreWrongUnlessItMayBeLost) {
  for (const Transport transport : {Transport::kRc, Transport::kUc, Transport::kUd}) {
    Pair pair(transport);
    Contents client = pair.of(true), server = pair.of(false);
    client.clear(pair.outcome);
    server.clear(pair.outcome);
    client.fill_outgoing(0, 0, pair.outcome);
    server.verify_incoming(0, 0, pair.outcome);  // zeros still
    client.fill_outgoing(0, 0, pair.outcome);
    pair.move(0, 0);
    server.verify_incoming(0, 4, pair.outcome);  // message 0 still
    const bool may_be_lost = transport == Transport::kUc;
    EXPECT_EQ(pair.outcome.lost, may_be_lost ? 2u : 0u);
    EXPECT_EQ(pair.outcome.wrong, may_be_lost ? 0u : 2u);
  }
}

TEST(Contents, OfMessagesLostTwiceInOnePlaceAreLostTwice) {
  Pair pair(Transport::kUc);
  Contents client = pair.of(true), server = pair.of(false);
  server.clear(pair.outcome);
  for (const std::uint64_t message : {0, 4, 8, 12}) {
    client.fill_outgoing(0, message, pair.outcome);
    if (message == 8) pair.move(0, message);
    server.verify_incoming(0, message, pair.outcome);
  }
  EXPECT_EQ(pair.outcome.lost, 3u);
  EXPECT_EQ(pair.outcome.checked, 1u);
  EXPECT_EQ(pair.outcome.wrong, 0u) << pair.outcome.first_wrong;
}

// A completion has said that it came.
TEST(Contents, OfAMessageWithACompletionAreNeverTakenForLost) {
  for (const Transport transport : {Transport::kUc, Transport::kUd}) {
    Pair pair(transport);
    Contents client = pair.of(true), server = pair.of(false);
    server.clear(pair.outcome);
    server.verify_at(reinterpret_cast<std::uint64_t>(pair.incoming(0, 0)), 0, 0, pair.outcome);
    EXPECT_EQ(pair.outcome.wrong, 1u);
    EXPECT_EQ(pair.outcome.lost, 0u);
  }
}

TEST(Contents, DifferByQueuePairNumberThreadAndDirection) {
  Pair pair(Transport::kRc);
  Contents client = pair.of(true), server = pair.of(false), other_thread = pair.of(false, 1);
  client.fill_outgoing(0, 1, pair.outcome);
  pair.move(0, 1);
  const auto address = reinterpret_cast<std::uint64_t>(pair.incoming(0, 1));
  server.verify_at(address, 0, 1, pair.outcome);
  ASSERT_EQ(pair.outcome.wrong, 0u);
  server.verify_at(address, 1, 1, pair.outcome);
  server.verify_at(address, 0, 2, pair.outcome);
  other_thread.verify_at(address, 0, 1, pair.outcome);
  EXPECT_EQ(pair.outcome.wrong, 3u);
  // What the server itself would send: an echo of another one's.
  server.fill_incoming(0, 1, pair.outcome);
  server.verify_at(address, 0, 1, pair.outcome);
  EXPECT_EQ(pair.outcome.wrong, 4u);
}

// Both ways: each side reads what the other one has filled.
TEST(Contents, ThatAreReadAreTheOtherSides) {
  Pair pair(Transport::kRc);
  Contents client = pair.of(true), server = pair.of(false);
  server.fill_incoming(0, 3, pair.outcome);
  std::copy_n(pair.incoming(0, 3), kSize, pair.outgoing(0, 3));
  client.verify_outgoing(0, 3, pair.outcome);
  EXPECT_EQ(pair.outcome.wrong, 0u) << pair.outcome.first_wrong;
  client.fill_incoming(0, 3, pair.outcome);
  std::copy_n(pair.at(0, false, 0, 3), kSize, pair.at(1, true, 0, 3));
  server.verify_outgoing(0, 3, pair.outcome);
  EXPECT_EQ(pair.outcome.wrong, 0u) << pair.outcome.first_wrong;
  // Its own, echoed.
  std::copy_n(pair.incoming(0, 3), kSize, pair.at(1, true, 0, 3));
  server.verify_outgoing(0, 3, pair.outcome);
  EXPECT_EQ(pair.outcome.wrong, 1u);
}

TEST(Contents, OfAnAtomicAreTheNumbersInTheirOrder) {
  Pair pair(Transport::kRc);
  Contents client = pair.of(true);
  *reinterpret_cast<std::uint64_t*>(pair.outgoing(0, 5)) = 5;
  client.verify_fetched(0, 5, pair.outcome);
  EXPECT_EQ(pair.outcome.wrong, 0u);
  *reinterpret_cast<std::uint64_t*>(pair.outgoing(0, 6)) = 5;
  client.verify_fetched(0, 6, pair.outcome);
  EXPECT_EQ(pair.outcome.wrong, 1u);
  EXPECT_EQ(pair.outcome.first_wrong, "atomic 6 of queue pair 0 brought back 5, not 6");
}

}  // namespace
}  // namespace gdr::perf
