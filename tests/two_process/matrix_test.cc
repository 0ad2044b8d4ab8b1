// Every operation in every mode that perftest knows, between two processes, with every byte
// compared by the owner of the memory: perftest looks at none. The same modes without the bytes:
// tests/programs/perftest; the same between hosts: tests/packets.
#include <gtest/gtest.h>

#include "matrix_player.h"
#include "xrc_side.h"

namespace gdr::test {
namespace {

class Matrix : public testing::TestWithParam<Mode> {};

TEST_P(Matrix, MovesEveryByteToItsPlaceAndNoOther) {
  const Mode mode = GetParam();
  const SharedFile domain;
  Child child([&](Wire& wire) { play(mode, 1, wire, domain.get()); });
  play(mode, 0, child.wire(), domain.get());
  child.finish();
}

const auto kName = [](const testing::TestParamInfo<Mode>& tested) { return name_of(tested.param); };
INSTANTIATE_TEST_SUITE_P(EveryMode, Matrix, testing::ValuesIn(every_mode()), kName);

}  // namespace
}  // namespace gdr::test
