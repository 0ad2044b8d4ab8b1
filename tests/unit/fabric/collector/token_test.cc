#include "fabric/hub/token.h"

#include <gtest/gtest.h>

namespace gdr::fabric {
namespace {

TEST(FabricToken, ProofServesForItsSideRankPlaceNumbersAndTokenOnly) {
  const std::string token = "a token";
  const process::Nonces nonces{{1}, {2}};
  const Endpoint here{1};
  const Proof proof = agree_on(token, 7, here, nonces).proof(Side::kClient);
  EXPECT_EQ(agree_on(token, 7, here, nonces).proof(Side::kClient), proof);
  EXPECT_NE(agree_on(token, 7, here, nonces).proof(Side::kServer), proof);
  EXPECT_NE(agree_on(token, 8, here, nonces).proof(Side::kClient), proof);
  EXPECT_NE(agree_on(token, 7, Endpoint{2}, nonces).proof(Side::kClient), proof);
  EXPECT_NE(agree_on(token, 7, here, {{1}, {3}}).proof(Side::kClient), proof);
  EXPECT_NE(agree_on(token, 7, here, {{3}, {2}}).proof(Side::kClient), proof);
  EXPECT_NE(agree_on("another", 7, here, nonces).proof(Side::kClient), proof);
  EXPECT_NE(agree_on(token, 7, here, nonces).frame_key(Side::kClient), proof);
}

}  // namespace
}  // namespace gdr::fabric
