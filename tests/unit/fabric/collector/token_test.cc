#include "fabric/hub/token.h"

#include <gtest/gtest.h>

namespace gdr::fabric {
namespace {

TEST(FabricToken, ProofServesForItsRankNonceAndTokenOnly) {
  const Nonce nonce = random_nonce();
  const std::string token = "a token";
  const Proof proof = prove_token(token, nonce, 7);
  EXPECT_TRUE(is_right(proof, token, nonce, 7));
  EXPECT_FALSE(is_right(proof, token, nonce, 8));
  EXPECT_FALSE(is_right(proof, token, random_nonce(), 7));
  EXPECT_FALSE(is_right(proof, std::string("another"), nonce, 7));
}

}  // namespace
}  // namespace gdr::fabric
