// Every operation in every mode that perftest knows, by packets, with every byte compared by the
// owner of the memory: within one host, between two, and between two over a link that spoils what
// passes. The same within a host without packets: tests/two_process/matrix_test.cc.
#include <gtest/gtest.h>

#include "base/environment.h"
#include "link.h"
#include "matrix_player.h"
#include "xrc_side.h"

namespace gdr::test {
namespace {

// Both sides are children: what a side opens is its own.
void play_over(const LinkSettings& settings, const Mode& mode) {
  auto link = Link::make(settings);
  if (!link) GTEST_SKIP() << link.error().message;
  const SharedFile domain;
  Child host([&](Wire&) {
    Child other([&](Wire& wire) {
      (*link)->enter(1);
      play(mode, 1, wire, domain.get());
    });
    (*link)->enter(0);
    play(mode, 0, other.wire(), domain.get());
    other.finish();
    require(!testing::Test::HasFailure(), "the other side ends well");
  });
  host.finish();
  EXPECT_GT((*link)->counted(0, "packets_sent"), 0u);
  EXPECT_GT((*link)->counted(1, "packets_received"), 0u);
}

class ByPackets : public testing::TestWithParam<Mode> {};
class BetweenHosts : public testing::TestWithParam<Mode> {};
class OverABadLink : public testing::TestWithParam<Mode> {};

TEST_P(ByPackets, OfOneHostEveryByteMovesToItsPlaceAndNoOther) {
  play_over({.kind = LinkKind::kLoopback}, GetParam());
}

TEST_P(BetweenHosts, EveryByteMovesToItsPlaceAndNoOther) {
  play_over({.kind = LinkKind::kVeth, .mtu = 4200}, GetParam());
}

TEST_P(BetweenHosts, WithPacketsOfEthernetEveryByteMovesToItsPlaceAndNoOther) {
  play_over({.kind = LinkKind::kVeth, .mtu = 1500}, GetParam());
}

TEST_P(OverABadLink, EveryByteMovesToItsPlaceAndNoOther) {
  const std::string seed = environment("GDR_TEST_SEED").value_or("1");
  SCOPED_TRACE("GDR_TEST_SEED=" + seed);
  play_over({.kind = LinkKind::kBadWire,
             .mtu = 1500,
             .faults = "loss=0.01,duplicate=0.01,reorder=0.02,corrupt=0.005,delay=50us,mark=0.01,"
                       "seed=" +
                       seed},
            GetParam());
}

std::vector<Mode> reliable_modes() {
  std::vector<Mode> modes = every_mode();
  std::erase_if(modes, [](const Mode& mode) {
    return mode.transport == IBV_QPT_UC || mode.transport == IBV_QPT_UD;
  });
  return modes;
}

const auto kName = [](const testing::TestParamInfo<Mode>& tested) { return name_of(tested.param); };
INSTANTIATE_TEST_SUITE_P(EveryMode, ByPackets, testing::ValuesIn(every_mode()), kName);
INSTANTIATE_TEST_SUITE_P(EveryMode, BetweenHosts, testing::ValuesIn(every_mode()), kName);
INSTANTIATE_TEST_SUITE_P(EveryMode, OverABadLink, testing::ValuesIn(reliable_modes()), kName);

}  // namespace
}  // namespace gdr::test
