#include "fabric/hub/token.h"

#include <gtest/gtest.h>

namespace gdr::fabric {
namespace {

TEST(FabricToken, ProofServesForItsSideRankPlaceNumbersAndTokenOnly) {
  const process::Share server = share_of("a token"), member = share_of("a token");
  const Endpoint here{1};
  const auto proof_of = [&](const process::Share& own, std::uint32_t rank, const Endpoint& place) {
    return agree_on(own, server.point(), Side::kClient, rank, place)->proof(Side::kClient);
  };
  const auto there = *agree_on(server, member.point(), Side::kServer, 7, here);
  const Proof proof = there.proof(Side::kClient);
  EXPECT_EQ(proof_of(member, 7, here), proof);
  EXPECT_NE(there.proof(Side::kServer), proof);
  EXPECT_NE(there.frame_key(Side::kClient), proof);
  EXPECT_NE(proof_of(member, 8, here), proof);
  EXPECT_NE(proof_of(member, 7, Endpoint{2}), proof);
  EXPECT_NE(proof_of(share_of("a token"), 7, here), proof);
  EXPECT_NE(proof_of(share_of("another"), 7, here), proof);
}

}  // namespace
}  // namespace gdr::fabric
