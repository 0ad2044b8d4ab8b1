#include "perf/limits/pcie_room.h"

#include <gtest/gtest.h>

#include "facts_samples.h"

namespace gdr::perf {
namespace {

// A function below the ports named, its own first; each link carries what its width says.
Pcie function(const std::vector<std::pair<std::string, std::uint32_t>>& ports) {
  Pcie pcie;
  for (const auto& [above, width] : ports) pcie.links.push_back({above, "", 16, 16, width, width});
  return pcie;
}

// Its link points into what was last given.
PcieRoom room_of(std::vector<Pcie> functions) {
  static std::vector<Pcie> kept;
  kept = std::move(functions);
  std::vector<PcieWay> ways;
  for (const Pcie& pcie : kept) ways.push_back({&pcie, pcie.links.size()});
  return pcie_room(ways, [](const Pcie&, const PcieLink& link) {
    return PcieRates{static_cast<double>(link.width), 2.0 * link.most_width};
  });
}

TEST(PcieRoom, OfOneFunctionIsItsNarrowestLink) {
  PcieRoom room = room_of({function({{"port", 8}, {"root", 16}})});
  EXPECT_EQ(room.rates.now, 8);
  EXPECT_EQ(room.rates.most, 16);
  EXPECT_EQ(room.link->above, "port");
  EXPECT_FALSE(room.is_above);
  room = room_of({function({{"port", 8}, {"root", 4}})});
  EXPECT_EQ(room.rates.now, 4);
  EXPECT_EQ(room.link->above, "root");
  EXPECT_TRUE(room.is_above);
}

TEST(PcieRoom, OfFunctionsWithLinksOfTheirOwnIsTheSum) {
  const PcieRoom room = room_of({function({{"a", 16}}), function({{"b", 8}})});
  EXPECT_EQ(room.rates.now, 24);
  EXPECT_EQ(room.rates.most, 48);
  EXPECT_EQ(room.link, nullptr);
}

TEST(PcieRoom, OfTwoFunctionsOfOneDeviceIsTheOneLinkThatTheyShare) {
  const PcieRoom room = room_of({function({{"slot", 16}}), function({{"slot", 16}})});
  EXPECT_EQ(room.rates.now, 16);
  ASSERT_NE(room.link, nullptr);
  EXPECT_EQ(room.link->above, "slot");
  EXPECT_FALSE(room.is_above);
}

TEST(PcieRoom, OfDevicesBehindOneSwitchIsTheLinkAboveItWhereThatIsNarrower) {
  PcieRoom room = room_of({function({{"a", 16}, {"up", 16}}), function({{"b", 16}, {"up", 16}})});
  EXPECT_EQ(room.rates.now, 16);
  ASSERT_NE(room.link, nullptr);
  EXPECT_EQ(room.link->above, "up");
  EXPECT_TRUE(room.is_above);
  room = room_of({function({{"a", 4}, {"up", 16}}), function({{"b", 8}, {"up", 16}})});
  EXPECT_EQ(room.rates.now, 12) << "the link above has room for both";
  EXPECT_EQ(room.link, nullptr);
}

// Two switches with two devices each.
TEST(PcieRoom, AddsUpWhatSharesNothingWithEachOther) {
  const PcieRoom room =
      room_of({function({{"a", 16}, {"left", 16}}), function({{"b", 16}, {"left", 16}}),
               function({{"c", 4}, {"right", 16}}), function({{"d", 8}, {"right", 16}})});
  EXPECT_EQ(room.rates.now, 16 + 12);
  EXPECT_EQ(room.link, nullptr);
}

TEST(PcieRoom, IsNotKnownWhereALinkOfOneFunctionIsNot) {
  EXPECT_EQ(room_of({function({{"a", 16}}), function({})}).rates.now, 0);
  EXPECT_EQ(room_of({function({{"a", 0}})}).rates.now, 0);
  EXPECT_EQ(room_of({}).rates.now, 0);
  EXPECT_EQ(room_of({function({{"a", 0}, {"up", 8}})}).rates.now, 8) << "no more than that";
}

// From the other side comes anything.
TEST(PcieRoom, LooksAtNoMoreLinksThanAMachineHas) {
  const std::vector<std::pair<std::string, std::uint32_t>> many(100'000, {"port", 8});
  const Pcie absurd = function(many);
  EXPECT_EQ(room_of({absurd, absurd}).rates.now, 8);
}

}  // namespace
}  // namespace gdr::perf
