#include "process/codec.h"

#include <gtest/gtest.h>

#include "proof/messages.h"

namespace gdr::proof {
namespace {

Survey::Reply survey() {
  Survey::Reply reply;
  reply.verbs_path = "/lib/libibverbs.so.1";
  reply.nics.push_back(
      {"mlx5_0",
       "",
       {{1, true, true, 4096, 100000, "::ffff:10.0.0.1", "10.0.0.1", "02:00:00:00:00:01", ""}}});
  reply.gpus.push_back({3, "GPU", "0000:41:00.0", "GPU-1", 1ull << 40, true, false});
  return reply;
}

TEST(Codec, BringsANestedMessageBackAsItWas) {
  Result<Survey::Reply> back = decode<Survey::Reply>(encode(survey()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->verbs_path, "/lib/libibverbs.so.1");
  ASSERT_EQ(back->nics.size(), 1u);
  ASSERT_EQ(back->nics[0].ports.size(), 1u);
  EXPECT_TRUE(back->nics[0].ports[0].active);
  EXPECT_EQ(back->nics[0].ports[0].speed, 100000u);
  EXPECT_EQ(back->gpus[0].memory, 1ull << 40);
  EXPECT_FALSE(back->gpus[0].gpu_direct);
}

TEST(Codec, RefusesAMessageCutShortAnywhere) {
  const Bytes whole = encode(survey());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode<Survey::Reply>(std::span(whole).first(size))) << size;
  }
}

TEST(Codec, RefusesBytesLeftOver) {
  Bytes message = encode(survey());
  message.push_back(std::byte{0});
  EXPECT_FALSE(decode<Survey::Reply>(message));
}

TEST(Codec, RefusesACountLargerThanTheMessage) {
  Bytes message = encode(Store{1, 2, Bytes(3)});
  ASSERT_TRUE(decode<Store>(message));
  // Buffer and offset take twelve bytes, then comes the count.
  for (std::size_t i = 12; i < 16; ++i) message[i] = std::byte{0xff};
  EXPECT_FALSE(decode<Store>(message));
}

TEST(Codec, SurvivesEveryByteOverwritten) {
  const Bytes whole = encode(survey());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int value : {0, 1, 0x7f, 0xff}) {
      Bytes broken = whole;
      broken[i] = static_cast<std::byte>(value);
      (void)static_cast<bool>(decode<Survey::Reply>(broken));  // no crash is the claim
    }
  }
}

}  // namespace
}  // namespace gdr::proof
