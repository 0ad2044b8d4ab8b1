// Bytes of GPU memory that are about to be sent: net/read_ahead.h.
#include "net/read_ahead.h"

#include <unistd.h>

#include "late_memory.h"

namespace gdr::net::test {
namespace {

using Found = ReadAhead::Found;

class ReadAheadTest : public testing::Test {
 protected:
  ReadAheadTest() {
    wait_for(pool(), client);
    for (std::size_t i = 0; i < gpu.bytes.size(); ++i) gpu.bytes[i] = std::byte(i / 4096);
  }
  ~ReadAheadTest() override {
    client.may_end = ~0ull;
    ahead.finish();
    ahead.clear();
  }
  static PinnedPool& pool() {
    static auto* one = new PinnedPool;
    return *one;
  }
  Found find(std::uint64_t message, std::uint64_t offset, std::size_t wanted = 4096) {
    bytes = wanted;
    return ahead.find({message, offset}, &at, &bytes);
  }
  void read_message(std::uint64_t message, std::size_t length) {
    ahead.end() = {message, 0};
    while (ahead.has_room() && ahead.end().offset < length) {
      ahead.read(gpu.at(ahead.end().offset), length - ahead.end().offset);
    }
  }

  LateClient client;
  LateMemory gpu{client, 2 << 20};
  ReadAhead ahead{pool()};
  const std::byte* at = nullptr;
  std::size_t bytes = 0;
};

TEST_F(ReadAheadTest, ReadsAMessageInLongPiecesAndNoFurtherThanItsLimit) {
  read_message(7, 2 << 20);
  ASSERT_EQ(client.started.size(), 2u);
  EXPECT_EQ(client.started[0].length, PinnedPool::kBlock);
  EXPECT_EQ(find(7, 0), Found::kLater);
  client.may_end = 1;
  ASSERT_EQ(find(7, 8192), Found::kHere);
  EXPECT_EQ(*at, std::byte{2});
  EXPECT_EQ(find(7, PinnedPool::kBlock), Found::kLater);
}

TEST_F(ReadAheadTest, FindsAPacketInTwoPieces) {
  read_message(7, 512 << 10);
  client.may_end = 2;
  ASSERT_EQ(find(7, PinnedPool::kBlock - 96), Found::kHere);
  EXPECT_EQ(bytes, 96u);
}

TEST_F(ReadAheadTest, KeepsNothingOfOneMessageForAnother) {
  read_message(7, 4096);
  client.may_end = 1;
  EXPECT_EQ(find(8, 0), Found::kNot);
  EXPECT_EQ(find(6, 0), Found::kNot);
}

TEST_F(ReadAheadTest, KeepsBytesThatPacketsHaveUntilTheyHaveLeft) {
  read_message(7, 4096);
  client.may_end = 1;
  ASSERT_EQ(find(7, 0), Found::kHere);
  const std::byte* packet = at;
  ahead.begin({3, 0});  // one is sent again in the same burst
  client.may_end = 2;
  ASSERT_GT(ahead.read(gpu.at(64 << 10), 4096), 0u);
  ASSERT_EQ(find(3, 0), Found::kHere);
  EXPECT_NE(at, packet);
  EXPECT_EQ(*packet, std::byte{0});
  EXPECT_EQ(*at, std::byte{16});
}

TEST_F(ReadAheadTest, GivesMemoryBackOnlyWhenItsCopyHasEnded) {
  read_message(7, PinnedPool::kBlock);
  ahead.begin({3, 0});
  ahead.sent();
  EXPECT_TRUE(ahead.is_copying());
  EXPECT_FALSE(ahead.is_empty());
  client.may_end = 1;
  ahead.sent();
  EXPECT_TRUE(ahead.is_empty());
}

TEST_F(ReadAheadTest, SaysThatMemoryIsGone) {
  client.valid = false;
  read_message(7, 4096);
  EXPECT_EQ(find(7, 0), Found::kFailed);
}

}  // namespace
}  // namespace gdr::net::test
