#include "perf/limits/pcie.h"

#include <gtest/gtest.h>

namespace gdr::perf {
namespace {

TEST(Pcie, CarriesWhatEncodingAndPacketsLeave) {
  // 8 GT/s × 16 × 128/130 ÷ 8 × 256/280
  EXPECT_NEAR(pcie_bytes_per_second(8, 16, 256, PcieTraffic::kWrites), 14.4e9, 0.01e9);
  EXPECT_NEAR(pcie_bytes_per_second(16, 16, 256, PcieTraffic::kWrites), 28.81e9, 0.01e9);
  EXPECT_NEAR(pcie_bytes_per_second(32, 16, 512, PcieTraffic::kWrites), 60.19e9, 0.01e9);
  EXPECT_NEAR(pcie_bytes_per_second(16, 16, 256, PcieTraffic::kReads), 29.22e9, 0.01e9);
}

TEST(Pcie, LosesAFifthToTheEncodingOfItsFirstTwoGenerations) {
  // 5 GT/s × 8 × 8/10 ÷ 8 × 128/152
  EXPECT_NEAR(pcie_bytes_per_second(5, 8, 128, PcieTraffic::kWrites), 3.368e9, 0.001e9);
}

TEST(Pcie, CarriesPacketsInFlitsFromTheSixthGenerationOn) {
  // 64 GT/s × 16 ÷ 8 × 236/256 × 512/536
  EXPECT_NEAR(pcie_bytes_per_second(64, 16, 512, PcieTraffic::kWrites), 112.72e9, 0.01e9);
}

TEST(Pcie, IsTakenToUseTheLargestPayloadWhereThatIsNotKnown) {
  EXPECT_EQ(pcie_bytes_per_second(16, 16, 0, PcieTraffic::kWrites),
            pcie_bytes_per_second(16, 16, 512, PcieTraffic::kWrites));
}

TEST(Pcie, HasNoRateWhereItsLinkIsNotKnown) {
  EXPECT_EQ(pcie_bytes_per_second(0, 16, 256, PcieTraffic::kWrites), 0);
  EXPECT_EQ(pcie_bytes_per_second(16, 0, 256, PcieTraffic::kWrites), 0);
  EXPECT_EQ(pcie_bytes_per_second(17, 16, 256, PcieTraffic::kWrites), 0);
}

TEST(Pcie, IsNamedByGenerationAndWidth) {
  EXPECT_EQ(pcie_text(2.5, 1), "gen 1 x1");
  EXPECT_EQ(pcie_text(32, 16), "gen 5 x16");
}

}  // namespace
}  // namespace gdr::perf
